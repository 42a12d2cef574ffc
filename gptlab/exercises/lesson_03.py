"""Exercises of lesson 03: the size of one-hot, the model's input, cosines, neighbours, sinusoidal positions."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def model_input(ids: Tensor, W_e: Tensor, W_p: Tensor) -> list[list[float]]:
    """Row i is row ids[i] of W_e plus row i of W_p."""
    return [
        [W_e[token, k].item() + W_p[i, k].item() for k in range(W_e.shape[1])] for i, token in enumerate(ids.tolist())
    ]


def cosines(A: Tensor, B: Tensor) -> list[list[float]]:
    """Entry (i, j) is the cosine of row i of A and row j of B."""
    return [[_inner(a, b) / math.sqrt(_inner(a, a) * _inner(b, b)) for b in B.tolist()] for a in A.tolist()]


def nearest(W_e: Tensor, token: int, n: int) -> list[int]:
    """The n other rows with the largest cosine to row `token`, the nearest first."""
    similarity = cosines(W_e, W_e)[token]
    others = [row for row in range(len(W_e)) if row != token]
    return sorted(others, key=lambda row: -similarity[row])[:n]


def sinusoidal(n: int, d: int) -> list[list[float]]:
    """Row t holds sin(t / 10000^(2i/d)) at place 2i and the cosine of the same at place 2i + 1."""
    table = [[0.0] * d for _ in range(n)]
    for t in range(n):
        for i in range(d // 2):
            angle = t / 10_000 ** (2 * i / d)
            table[t][2 * i], table[t][2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def _inner(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _texts() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    yield torch.tensor([2, 0]), torch.eye(3), 10 * torch.ones(4, 3).cumsum(0)
    generator = torch.Generator().manual_seed(0)
    for length in range(1, 20):
        ids = torch.randint(20, (length,), generator=generator)
        yield ids, torch.randn(20, 4, generator=generator), torch.randn(24, 4, generator=generator)


def _pairs() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, 3.0], [-6.0, -8.0]])
    generator = torch.Generator().manual_seed(1)
    for n in range(1, 20):
        yield torch.randn(n, 5, generator=generator), 3 * torch.randn(20 - n, 5, generator=generator)


def _tables() -> Iterator[tuple[Tensor, int, int]]:
    yield torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [9.0, 10.0]]), 0, 1
    generator = torch.Generator().manual_seed(2)
    for size in range(4, 20):
        lengths = torch.rand(size, 1, generator=generator) * 3 + 0.2
        yield torch.randn(size, 4, generator=generator) * lengths, size // 2, size // 3


def _sizes() -> Iterator[tuple[int, int]]:
    yield from ((1, 2), (2, 2), (3, 4), (5, 6), (10, 8), (40, 16))


def _angles(n: int, d: int, pairs: Tensor, first: int = 0) -> Tensor:
    return torch.arange(first, first + n)[:, None] / 10_000 ** (pairs / d)


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    return torch.stack([even, odd], dim=2).flatten(1)


def _from_one(n: int, d: int) -> Tensor:
    angle = _angles(n, d, torch.arange(0, d, 2), first=1)
    return _interleaved(angle.sin(), angle.cos())


def _half_and_half(n: int, d: int) -> Tensor:
    angle = _angles(n, d, torch.arange(0, d, 2))
    return torch.cat([angle.sin(), angle.cos()], dim=1)


def _single_steps(n: int, d: int) -> Tensor:
    angle = _angles(n, d, torch.arange(d // 2))
    return _interleaved(angle.sin(), angle.cos())


def _no_pairs(n: int, d: int) -> Tensor:
    angle = _angles(n, d, torch.arange(d))
    return _interleaved(angle[:, ::2].sin(), angle[:, 1::2].cos())


def _cosine_first(n: int, d: int) -> Tensor:
    angle = _angles(n, d, torch.arange(0, d, 2))
    return _interleaved(angle.cos(), angle.sin())


def _unit(rows: Tensor, dim: int = 1) -> Tensor:
    return rows / rows.norm(dim=dim, keepdim=True)


EXERCISES = (
    Exercise(
        "03.one_hot",
        1024 * 50_257,
        mistakes=(
            Mistake(50_257, "That is a single row. There is one for each token of the text."),
            Mistake(1024, "So many of the numbers are 1. The zeros are numbers too."),
            Mistake(1024 * 768, "That is the size of X W_e, what the look-up gives. X itself is as wide as V."),
            Mistake(50_257 * 768, "That is the size of W_e. X has a row for each token of the text."),
        ),
        hints=("X has a row for each token of the text and a column for each token of the vocabulary.",),
    ),
    Exercise(
        "03.input",
        model_input,
        _texts,
        mistakes=(
            Mistake(
                lambda ids, W_e, W_p: W_e[: len(ids)] + W_p[: len(ids)],
                "This takes row i of W_e, as note 000 has it. The token decides which row: number ids[i].",
            ),
            Mistake(
                lambda ids, W_e, W_p: W_e[ids] + W_p[1 : len(ids) + 1],
                "The positions are one too far: the first token stands at position 0.",
            ),
            Mistake(
                lambda ids, W_e, W_p: W_e[ids] + W_p[ids],
                "W_p is asked by place, not by token: row i for the i-th token, whatever its id.",
            ),
            Mistake(
                lambda ids, W_e, W_p: W_e[ids] + W_p[0],
                "Each place has a row of its own; this adds the first one everywhere.",
            ),
            Mistake(lambda ids, W_e, W_p: W_e[ids], "The positions are missing."),
        ),
        hints=("Indexing a matrix with a tensor of ids picks these rows.", "Of W_p take the first len(ids) rows."),
    ),
    Exercise(
        "03.cosine",
        cosines,
        _pairs,
        mistakes=(
            Mistake(lambda A, B: A @ B.T, "These are inner products. Divide by the lengths of both rows."),
            Mistake(
                lambda A, B: _unit(A, 0) @ _unit(B, 0).T,
                "The lengths were taken down the columns. The vectors are rows: sum over the last axis (dim=1).",
            ),
            Mistake(lambda A, B: _unit(A) @ B.T, "Only the rows of A have length 1; those of B still have their own."),
            Mistake(
                lambda A, B: A @ B.T / (A.square().sum(1)[:, None] * B.square().sum(1)),
                "You divided by the squared lengths: a square root is missing.",
            ),
            Mistake(lambda A, B: _unit(B) @ _unit(A).T, "Rows of the answer belong to A, columns to B: transpose it."),
        ),
        hints=("A.norm(dim=1, keepdim=True) is a column of lengths.", "Make all rows length 1, then A @ B.T."),
    ),
    Exercise(
        "03.nearest",
        nearest,
        _tables,
        mistakes=(
            Mistake(
                lambda W_e, token, n: (_unit(W_e) @ _unit(W_e)[token]).topk(n).indices,
                "The token itself is among them, with its cosine of 1. It is to be left out.",
            ),
            Mistake(
                lambda W_e, token, n: (
                    (W_e @ W_e[token]).index_fill(0, torch.tensor([token]), -torch.inf).topk(n).indices
                ),
                "These have the largest inner products, so long rows win. Divide by the lengths.",
            ),
            Mistake(
                lambda W_e, token, n: (_unit(W_e) @ _unit(W_e)[token]).topk(n, largest=False).indices,
                "These are the farthest: the largest cosine is the nearest.",
            ),
            Mistake(
                lambda W_e, token, n: (
                    (W_e - W_e[token])
                    .norm(dim=1)
                    .index_fill(0, torch.tensor([token]), torch.inf)
                    .topk(n, largest=False)
                    .indices
                ),
                "These are the nearest by distance; asked for are the nearest by angle.",
            ),
        ),
        hints=("Your cosines from exercise 3 do most of it.", "Put -inf where the token itself stands, then topk."),
    ),
    Exercise(
        "03.sinusoidal",
        sinusoidal,
        _sizes,
        mistakes=(
            Mistake(_from_one, "Your positions begin at 1. The first is 0: its sines are 0, its cosines 1."),
            Mistake(_half_and_half, "Sine and cosine take turns; yours are the two halves of the row."),
            Mistake(_single_steps, "The exponent is 2i/d, not i/d: your waves get longer too slowly."),
            Mistake(_no_pairs, "A sine and the cosine beside it share one angle: the exponent is 2i/d for both."),
            Mistake(_cosine_first, "The sine comes first, at the even places."),
        ),
        hints=(
            "torch.arange(n)[:, None] / 10_000 ** (torch.arange(0, d, 2) / d) has all angles.",
            "Make an empty table; table[:, 0::2] are its even places, table[:, 1::2] its odd ones.",
        ),
    ),
)
