"""Exercises of lesson 04: the spread of q·k, the mask, the weights, a whole head."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake

INFINITY = float("inf")


def causal_mask(n: int) -> list[list[float]]:
    """What is added to the scores: 0 where query i may look at key j, -inf where j comes later."""
    return [[0.0 if j <= i else -INFINITY for j in range(n)] for i in range(n)]


def causal_weights(scores: Tensor) -> list[list[float]]:
    """Softmax of each row over the keys that are not later; 0 for those that are."""
    rows = scores.tolist()
    weights = []
    for i, row in enumerate(rows):
        powers = [math.exp(row[j] - max(row[: i + 1])) if j <= i else 0.0 for j in range(len(row))]
        weights.append([power / sum(powers) for power in powers])
    return weights


def head(q: Tensor, k: Tensor, v: Tensor) -> list[list[float]]:
    """One causal head: products, scaled, masked, softmaxed, and the values added up by these weights."""
    queries, keys, values = q.tolist(), k.tolist(), v.tolist()
    scores = [[sum(map(_product, a, b)) / math.sqrt(len(a)) for b in keys] for a in queries]
    weights = causal_weights(torch.tensor(scores, dtype=torch.float64))
    return [
        [sum(weights[i][j] * values[j][c] for j in range(len(values))) for c in range(len(values[0]))]
        for i in range(len(queries))
    ]


def _product(a: float, b: float) -> float:
    return a * b


def _sizes() -> Iterator[tuple[int]]:
    yield from ((n,) for n in (2, 1, 3, 4, 7))


def _scores() -> Iterator[tuple[Tensor]]:
    yield (torch.tensor([[1.0, 2.0], [0.0, 1.0]]),)
    generator = torch.Generator().manual_seed(0)
    for n in (1, 2, 3, 4, 5, 8):
        yield (torch.randn(n, n, generator=generator),)


def _heads() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    yield torch.eye(2), torch.eye(2), torch.tensor([[1.0], [0.0]])
    generator = torch.Generator().manual_seed(0)
    for n, dk, dv in ((1, 4, 2), (3, 2, 2), (3, 9, 4), (6, 4, 3)):
        yield tuple(torch.randn(n, width, generator=generator) for width in (dk, dk, dv))


def _hidden(scores: Tensor, diagonal: int = 1) -> Tensor:
    """The scores with -inf from that diagonal on."""
    return scores + torch.full_like(scores, -INFINITY).triu(diagonal)


def _head(q: Tensor, k: Tensor, v: Tensor, *, scale: float, diagonal: int = 1) -> Tensor:
    return _hidden(q @ k.T / scale, diagonal).softmax(-1) @ v


EXERCISES = (
    Exercise(
        "04.deviation",
        8,
        mistakes=(
            Mistake(64, "That is the variance; the deviation is its square root."),
            Mistake(1, "That is what is left after the division by √dk."),
            Mistake(4096, "The variances of the 64 products add up; they are not multiplied."),
        ),
        hints=("Each product of two unit entries has variance 1; how many are added?", "√64 = …"),
    ),
    Exercise(
        "04.mask",
        causal_mask,
        _sizes,
        mistakes=(
            Mistake(
                lambda n: torch.full((n, n), -INFINITY).triu(0),
                "Off by one: a token may look at itself, so the diagonal stays 0. The first row would have nothing.",
            ),
            Mistake(
                lambda n: torch.full((n, n), -INFINITY).triu(2),
                "Off by one: each token still sees the next one, the very one it is to predict.",
            ),
            Mistake(
                lambda n: torch.full((n, n), -INFINITY).tril(-1),
                "The wrong triangle: rows are queries, and this hides their past.",
            ),
            Mistake(
                lambda n: torch.ones(n, n).triu(1) * -INFINITY,
                "0 · -inf is NaN, and one NaN spoils the whole row. Fill with -inf, do not multiply.",
            ),
            Mistake(
                lambda n: torch.ones(n, n).tril(),
                "This is which cells are kept. What is added must be 0 there, and -inf elsewhere.",
            ),
        ),
        hints=("torch.full((n, n), float('-inf')) hides everything.", ".triu(1) keeps what is above the diagonal."),
    ),
    Exercise(
        "04.weights",
        causal_weights,
        _scores,
        mistakes=(
            Mistake(lambda s: s.softmax(-1), "The future leaks: nothing is masked."),
            Mistake(
                lambda s: _hidden(s).softmax(0), "The softmax went down the columns: it is each row that must sum to 1."
            ),
            Mistake(
                lambda s: s.softmax(-1).tril(),
                "Zeroing after the softmax leaves rows that do not sum to 1, and the future has already "
                "counted in the denominator. Mask first.",
            ),
            Mistake(
                lambda s: s.tril().softmax(-1),
                "A score of 0 is a score like any other: exp(0) = 1. What is hidden needs -inf.",
            ),
            Mistake(lambda s: _hidden(s, 2).softmax(-1), "Off by one: the next token can still be seen."),
        ),
        hints=("Put -inf where j > i, then take the softmax.", "scores.masked_fill(hidden, float('-inf')).softmax(-1)"),
    ),
    Exercise(
        "04.head",
        head,
        _heads,
        mistakes=(
            Mistake(
                lambda q, k, v: _head(q, k, v, scale=1.0), "The scale is missing: divide q·k by √dk before the softmax."
            ),
            Mistake(lambda q, k, v: _head(q, k, v, scale=float(q.shape[1])), "Divide by √dk, not by dk."),
            Mistake(
                lambda q, k, v: _head(q, k, v, scale=len(q) ** 0.5),
                "That is the root of the number of tokens; dk is the number of components of a query.",
            ),
            Mistake(
                lambda q, k, v: (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v, "The future leaks: nothing is masked."
            ),
            Mistake(
                lambda q, k, v: _hidden(q @ k.T / q.shape[1] ** 0.5).softmax(-1).T @ v,
                "The weights are transposed: row i of the result needs row i of the weights.",
            ),
            Mistake(
                lambda q, k, v: _head(k, q, v, scale=q.shape[1] ** 0.5),
                "Queries and keys have changed places: row i of the scores belongs to query i.",
            ),
        ),
        hints=("scores = q @ k.T / q.shape[-1] ** 0.5", "Mask, softmax over the last axis, then weights @ v."),
    ),
)
