"""The small world: a language whose truth is known.

Stories in plain English about people, animals, things and places, told by a stochastic process of our own
(``gptlab.world.story`` shows its scenes). Because no choice of the process is hidden, the distribution of the next word
is exact for every beginning of a story, and so are a story's probability, the entropy that no model can get under, and
what each word looks back to.

    >>> from gptlab import world
    >>> world.sample(3)
    >>> world.next_word_distribution("There was")
    {' once': 1.0}
    >>> world.log_prob(world.sample(3))       # in nats, the first word and the end of the story included
    >>> world.links(world.sample(3))          # (word index, source word index, kind)
"""

from gptlab.world.lexicon import END, ENGLISH, Lexicon
from gptlab.world.story import Plan
from gptlab.world.translation import SentencePair, Translation, Translator
from gptlab.world.truth import ImpossiblePrefix, Reading, World, split_words

ENGLISH_WORLD = World()

sample = ENGLISH_WORLD.sample
analyse = ENGLISH_WORLD.analyse
log_prob = ENGLISH_WORLD.log_prob
log_probs = ENGLISH_WORLD.log_probs
next_word_distribution = ENGLISH_WORLD.next_word_distribution
next_token_distribution = ENGLISH_WORLD.next_token_distribution
token_distributions = ENGLISH_WORLD.token_distributions
links = ENGLISH_WORLD.links
unknown_words = ENGLISH_WORLD.unknown_words
entropy_rate = ENGLISH_WORLD.entropy_rate
translate = Translator(ENGLISH_WORLD).translate

__all__ = [
    "END", "ENGLISH", "ENGLISH_WORLD", "ImpossiblePrefix", "Lexicon", "Plan", "Reading", "SentencePair", "Translation",
    "Translator", "World", "analyse", "entropy_rate", "links", "log_prob", "log_probs", "next_token_distribution",
    "next_word_distribution", "sample", "split_words", "token_distributions", "translate", "unknown_words",
]  # fmt: skip
