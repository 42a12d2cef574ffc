"""A choice between words, and how a word is written where it stands.

The process of ``gptlab.world.story`` speaks in lemmas ("garden"). On the page the lemma becomes a *word*: one piece of
GPT-2's splitting pattern, with its leading blank and its capital (" garden", "Garden", " Garden").
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from gptlab._refuse import refuse
from gptlab.world.lexicon import END, QUOTES

_GLUED = frozenset((".", ",", ":", "?", END, *(mark + quote for quote in QUOTES.values() for mark in ".,!")))
_SENTENCE_ENDS = frozenset((".", "?", *(mark + quote for quote in QUOTES.values() for mark in ".!")))


class Link(NamedTuple):
    """What a choice looks back to: the index of the source word, and the kind of the dependency."""

    source: int
    kind: str


class Choice:
    """A distribution over lemmas: `probabilities[i]` belongs to `lemmas[i]` and sums to 1 with the others.

    `category` says what a homonym is here; None leaves it to the lexicon.
    """

    __slots__ = ("lemmas", "probabilities", "category", "_cumulative", "_written")

    def __init__(self, weights: Iterable[tuple[str, float]], category: str | None = None):
        pairs = tuple(weights)
        if not pairs:
            raise refuse("weights", pairs, "at least one lemma, which this lexicon lacks for the plan")
        total = sum(weight for _, weight in pairs)
        self.lemmas = tuple(lemma for lemma, _ in pairs)
        self.probabilities = tuple(weight / total for _, weight in pairs)
        self.category = category
        self._cumulative = tuple(accumulate(self.probabilities[:-1]))
        self._written: dict[str, dict[str, int]] = {}

    @property
    def entropy(self) -> float:
        """In nats."""
        return -math.fsum(p * math.log(p) for p in self.probabilities if p > 0)

    def draw(self, uniform: float) -> int:
        """The index that a number from [0, 1) falls on."""
        return bisect_right(self._cumulative, uniform)

    def written(self, after: str | None) -> dict[str, int]:
        """The words as they are written after the lemma `after` (None: at the start), each with its index."""
        shape = _shape(after)
        if shape not in self._written:
            self._written[shape] = {_write(lemma, shape): index for index, lemma in enumerate(self.lemmas)}
        return self._written[shape]


@cache
def one_of(lemmas: tuple[str, ...], category: str | None = None) -> Choice:
    """All lemmas equally likely; the same tuple gives the same object, so that nothing is built twice."""
    return Choice(((lemma, 1.0) for lemma in lemmas), category)


@cache
def with_article(lemmas: tuple[str, ...], category: str | None = None) -> tuple[Choice, dict[str, Choice]]:
    """Choose "a" or "an" first, then a lemma that goes with it, so that each lemma is as likely as any other."""
    by_article = {
        "a": tuple(w for w in lemmas if w[0] not in "aeiou"),
        "an": tuple(w for w in lemmas if w[0] in "aeiou"),
    }
    by_article = {article: words for article, words in by_article.items() if words}
    return (
        Choice((article, len(words)) for article, words in by_article.items()),
        {article: one_of(words, category) for article, words in by_article.items()},
    )


def written(lemma: str, after: str | None) -> str:
    """The word for a lemma that stands after the lemma `after` (None: at the start of the story)."""
    return _write(lemma, _shape(after))


def _shape(after: str | None) -> str:
    if after is None or after in QUOTES:
        return "start"
    return "capital" if after in _SENTENCE_ENDS else "inside"


@cache
def _write(lemma: str, shape: str) -> str:
    if lemma in _GLUED or lemma in QUOTES:
        return lemma
    if shape == "inside":
        return " " + lemma
    capitalised = lemma[0].upper() + lemma[1:]
    return capitalised if shape == "start" else " " + capitalised
