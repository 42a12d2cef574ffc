"""N-grams: the next token foretold by counting what came after the same n − 1 tokens before.

A context c that was met seldom is believed little: beside the counts stand `strength` imagined ones, spread as the
context without its first token would spread them, down to no context at all and equal shares.

    P_n(w | c) = (#(c w) + strength · P_{n−1}(w | c′)) / (#(c) + strength),    P_0(w) = 1 / V

This is the form that MacKay and Peto (1995, "A hierarchical Dirichlet language model") derive for two levels. Near the
beginning of a text contexts are shorter, in counting as in foretelling.

Axes: T tokens of a text, V vocabulary.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy

import numpy as np
from jaxtyping import Float

from gptlab._refuse import refuse

Number = int | float


class NGrams:
    """Counts of what followed each context of up to n − 1 tokens, and the probabilities that they give.

    rows: texts as ids, each from its beginning. The first id of a row (end-of-text, say) is given and never foretold.
    vocab_size: V, ids are 0 … V−1. strength: how many imagined counts stand beside the real ones; 0 believes counts
    alone, and then what never came after a known context has probability 0.
    ValueError, naming it, for n or V below 1, a strength below 0, and an id outside the vocabulary.
    """

    def __init__(self, rows: Iterable[Sequence[int]], n: int, vocab_size: int, *, strength: Number = 1.0) -> None:
        for name, size in (("n", n), ("vocab_size", vocab_size)):
            if size < 1:
                raise refuse(name, size, "a whole number of at least 1")
        if not 0 <= strength < math.inf:
            raise refuse("strength", strength, "a number of at least 0")
        self.n, self.vocab_size, self.strength = n, vocab_size, strength
        self._followers: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        for row in rows:
            self._count(tuple(row))
        self._totals = {context: sum(counts.values()) for context, counts in self._followers.items()}

    def up_to(self, n: int) -> "NGrams":
        """The same counts read with shorter contexts, of at most n − 1 tokens; nothing is counted again."""
        if not 1 <= n <= self.n:
            raise refuse("n", n, f"from 1 to {self.n}, which was counted")
        shorter = copy(self)
        shorter.n = n
        return shorter

    def probability(self, token: int, context: Sequence[int]) -> float:
        """P(token | context); of a longer context only the last n − 1 tokens are looked at."""
        p = 1 / self.vocab_size
        for counts, total in self._met(context):
            p = (counts.get(token, 0) + self.strength * p) / (total + self.strength)
        return p

    def distribution(self, context: Sequence[int]) -> Float[np.ndarray, " V"]:
        """P(· | context) over the whole vocabulary, in float64."""
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        for counts, total in self._met(context):
            p *= self.strength
            p[list(counts)] += list(counts.values())
            p /= total + self.strength
        return p

    def distributions(self, row: Sequence[int]) -> Float[np.ndarray, "targets V"]:
        """The distribution of each token of a text after the first: (T − 1, V)."""
        rows = [self.distribution(row[:t]) for t in range(1, len(row))]
        return np.reshape(rows, (len(rows), self.vocab_size))

    def log_probs(self, row: Sequence[int]) -> Float[np.ndarray, " targets"]:
        """ln P of each token of a text after the first, (T − 1,), in nats; −inf where P is 0."""
        p = [self.probability(row[t], row[:t]) for t in range(1, len(row))]
        with np.errstate(divide="ignore"):
            return np.log(p, dtype=float)

    def _count(self, row: tuple[int, ...]) -> None:
        for id in row:
            if not 0 <= id < self.vocab_size:
                raise refuse("an id", id, f"from 0 to {self.vocab_size - 1}, as vocab_size says")
        for t in range(1, len(row)):
            for k in range(min(self.n, t + 1)):
                counts = self._followers[row[t - k : t]]
                counts[row[t]] = counts.get(row[t], 0) + 1

    def _met(self, context: Sequence[int]) -> Iterator[tuple[dict[int, int], int]]:
        """Followers and their number for no context, the last token, the last two …, as far as they were met.

        A context that was never met gives what the next shorter one gives, and so do all that end in it.
        """
        for k in range(min(self.n - 1, len(context)) + 1):
            end = tuple(context[len(context) - k :])
            if end not in self._totals:
                return
            yield self._followers[end], self._totals[end]
