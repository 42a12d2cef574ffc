"""The smallest world: stories of two words, each like the one before with probability 0.8, that end after any with 0.1.

It has what a corpus asks of a world and of a tokenizer, and its floor is known in closed form.
"""

import math

STAY, END = 0.8, 0.1
WORDS = (" heads", " tails")


def entropy(*probabilities):
    return -sum(p * math.log(p) for p in probabilities)


# The first word is a fair coin; then each of the others and the end: on average 1/END words, so as many such choices.
FLOOR = (entropy(0.5, 0.5) + entropy(END, (1 - END) * STAY, (1 - END) * (1 - STAY)) / END) / (1 + 1 / END)


class CoinWorld:
    def sample_words(self, rng):
        words = [rng.choice(WORDS)]
        while rng.random() >= END:
            words.append(words[-1] if rng.random() < STAY else next(w for w in WORDS if w != words[-1]))
        return words

    def log_probs(self, text):
        words = [f" {word}" for word in text.split()]
        after = [STAY if word == before else 1 - STAY for before, word in zip(words, words[1:], strict=False)]
        return [math.log(0.5), *(math.log((1 - END) * p) for p in after), math.log(END)]


class CoinTokenizer:
    end_of_text, vocab_size = 2, 3

    def encode(self, text):
        return [WORDS.index(f" {word}") for word in text.split()]
