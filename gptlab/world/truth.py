"""What is true of the small world: samples, probabilities, distributions, links.

All of it is one process (``gptlab.world.story``) used in different ways: drawing its choices samples a story, feeding
it a text scores the text, stopping in the middle shows what may come next, and how likely.
"""

import math
import random
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gptlab import bpe
from gptlab._refuse import refuse
from gptlab.world.choice import Link, written
from gptlab.world.lexicon import END, ENGLISH, Lexicon
from gptlab.world.narrator import Turn, Words
from gptlab.world.story import USUAL_PLAN, Plan, tell


class ImpossiblePrefix(ValueError):
    """A text that no story of the world begins with.

    `position` is the index of the first word that cannot stand where it stands (an end-of-text mark at the beginning
    not counted), and `word` is that word.
    """

    def __init__(self, position: int, word: str, expected: list[str]):
        self.position, self.word = position, word
        some = ", ".join(repr(w) for w in expected[:3]) + (" …" if len(expected) > 3 else "")
        instead = f"it would say {some}" if expected else "the story has ended"
        super().__init__(f"the world cannot tell the word {word!r} at position {position}; {instead}")


class Reading(NamedTuple):
    """A word of a text as the world tells it."""

    word: str  # as written, " garden"
    lemma: str  # "garden"
    category: str  # what it is here: one category, also for a homonym
    turn: Turn  # the distribution that it was chosen from, and its links
    index: int  # which of that distribution's lemmas it is

    @property
    def probability(self) -> float:
        return self.turn.choice.probabilities[self.index]

    @property
    def links(self) -> tuple[Link, ...]:
        return self.turn.links


def split_words(text: str) -> list[str]:
    """The pieces of GPT-2's splitting pattern, which are the words of the world. Joined they give the text again."""
    return bpe.split(text)


class World:
    """A small world: a lexicon and a plan. Everything that can be asked of its truth is a method.

    Texts are stories or beginnings of stories. They are given without the end-of-text marks; a mark at the beginning or
    after the last word is allowed and changes nothing but, at the end, that the text is complete.
    """

    def __init__(self, lexicon: Lexicon = ENGLISH, plan: Plan = USUAL_PLAN):
        self.lexicon, self.plan = lexicon, plan

    def tell(self) -> Words:
        """The process itself: a coroutine of turns that is sent lemmas."""
        return tell(self.lexicon, self.plan)

    # Sampling -------------------------------------------------------------------------------------------------------

    def sample_words(self, rng: random.Random) -> list[str]:
        """The words of a story, each as it is written."""
        story = self.tell()
        turn = next(story)
        words, last = [], None
        while True:
            lemma = turn.choice.lemmas[turn.choice.draw(rng.random())]
            if lemma == END:
                return words
            words.append(written(lemma, last))
            turn, last = story.send(lemma), lemma

    def sample(self, seed: int) -> str:
        """A story. The same seed gives the same story."""
        return "".join(self.sample_words(random.Random(seed)))

    # Reading --------------------------------------------------------------------------------------------------------

    def analyse(self, text: str, *, complete: bool = False) -> list[Reading]:
        """How the world tells a text, word by word.

        Args:
            text: a story or the beginning of one.
            complete: whether the text ends there; the end of text is then the last reading.
        Raises:
            ImpossiblePrefix: at the first word that the world cannot tell.
        """
        words = _marked_words(text)
        if complete and words[-1:] != [END]:
            words.append(END)
        return self._follow(words)[0]

    def next_word_distribution(self, prefix: str) -> dict[str, float]:
        """The exact distribution of the word after a prefix; words as they are written, so `prefix + word` goes on.

        The end of text is the word ``<|endoftext|>``.

        Raises:
            ImpossiblePrefix: at the first word that the world cannot tell.
            ValueError: if the prefix is a whole story with its end, which nothing follows.
        """
        readings, turn = self._follow(_marked_words(prefix))
        if turn is None:
            raise refuse("prefix", prefix, "the beginning of a story: nothing follows the end of one")
        options = turn.choice.written(readings[-1].lemma if readings else None)
        return {word: turn.choice.probabilities[index] for word, index in options.items()}

    def next_token_distribution(self, prefix: str, tok) -> Float[np.ndarray, " V"]:
        """The exact distribution of the next token, in float64, for a tokenizer with one token for each word."""
        distribution = np.zeros(tok.vocab_size)
        for word, probability in self.next_word_distribution(prefix).items():
            distribution[_token(tok, word)] = probability
        return distribution

    def token_distributions(self, text: str, tok) -> Float[np.ndarray, "T V"]:
        """The true distribution of each token of a whole story in float64: T is its words and the end of text."""
        readings = self.analyse(text, complete=True)
        distributions = np.zeros((len(readings), tok.vocab_size))
        last = None
        for row, reading in zip(distributions, readings, strict=True):
            for word, index in reading.turn.choice.written(last).items():
                row[_token(tok, word)] = reading.turn.choice.probabilities[index]
            last = reading.lemma
        return distributions

    def log_probs(self, text: str) -> list[float]:
        """The natural logarithm of each word's probability in a whole story, the end of text last."""
        return [math.log(reading.probability) for reading in self.analyse(text, complete=True)]

    def log_prob(self, text: str) -> float:
        """The natural logarithm of a whole story's probability, its first word and its end included."""
        return math.fsum(self.log_probs(text))

    def links(self, text: str) -> list[tuple[int, int, str]]:
        """What each word of a text looks back to: (word index, source word index, kind), see ``gptlab.world.story``."""
        return [(i, *link) for i, reading in enumerate(self.analyse(text)) for link in reading.links]

    def unknown_words(self, text: str) -> list[tuple[int, str]]:
        """The words of a text that the lexicon lacks, with their indices; a capital makes no difference."""
        known = {
            shape for lemma in self.lexicon.words for shape in (lemma, *(written(lemma, q) for q in (None, "a", ".")))
        }
        return [(index, word) for index, word in enumerate(_marked_words(text)) if word not in known]

    def entropy_rate(self, stories: int = 1000, seed: int = 0) -> float:
        """The floor under any model's loss: mean nats per word (each story's end is one), over sampled stories.

        At each word the entropy of its distribution is taken, which scatters less than the surprise of the word drawn.
        """
        total = words = 0
        for index in range(stories):
            readings = self.analyse(self.sample(seed + index), complete=True)
            total += math.fsum(reading.turn.choice.entropy for reading in readings)
            words += len(readings)
        return total / words

    def _follow(self, words: list[str]) -> tuple[list[Reading], Turn | None]:
        """Feed words to the process: their readings, and the turn after them (None after the end of text)."""
        story, readings, last = self.tell(), [], None
        turn = next(story)
        for position, word in enumerate(words):
            options = turn.choice.written(last)
            if word not in options:
                raise ImpossiblePrefix(position, word, list(options))
            index = options[word]
            last = turn.choice.lemmas[index]
            category = turn.choice.category or self.lexicon.categories(last)[0]
            readings.append(Reading(word, last, category, turn, index))
            try:
                turn = story.send(last)
            except StopIteration:
                if position + 1 < len(words):
                    raise ImpossiblePrefix(position + 1, words[position + 1], []) from None
                return readings, None
        return readings, turn


def _marked_words(text: str) -> list[str]:
    """The words of a text; an end-of-text mark at its beginning is left out, any other one is a word."""
    first, *others = text.removeprefix(END).split(END)
    words = split_words(first)
    for other in others:
        words += [END, *split_words(other)]
    return words


@lru_cache(maxsize=100_000)
def _token(tok, word: str) -> int:
    if word == END:
        return tok.end_of_text
    ids = tok.encode(word)
    if len(ids) != 1:
        raise refuse(
            "tok", tok, f"a tokenizer with one token for each word of the world; it cuts {word!r} into {len(ids)}"
        )
    return ids[0]
