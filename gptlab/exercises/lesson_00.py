"""Exercises of lesson 00: tokens counted, the causal triangle, temperature, top-k."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def softmax_at(logits: Tensor, temperature: float) -> list[float]:
    """Divide each logit by the temperature, then softmax."""
    powers = [math.exp((z - max(logits.tolist())) / temperature) for z in logits.tolist()]
    return [power / sum(powers) for power in powers]


def keep_top(probabilities: Tensor, k: int) -> list[float]:
    """The k largest probabilities, made to sum to 1 again; 0 elsewhere."""
    p = probabilities.tolist()
    best = sorted(range(len(p)), key=lambda i: -p[i])[:k]
    mass = sum(p[i] for i in best)
    return [p[i] / mass if i in best else 0.0 for i in range(len(p))]


def _temperatures() -> Iterator[tuple[Tensor, float]]:
    yield torch.tensor([0.0, 1.0]), 1.0
    yield torch.tensor([0.0, 1.0]), 0.5
    generator = torch.Generator().manual_seed(0)
    for size in range(2, 30):
        yield torch.randn(size, generator=generator) * 3, float(torch.rand(1, generator=generator) * 3 + 0.1)


def _distributions() -> Iterator[tuple[Tensor, int]]:
    yield torch.tensor([0.5, 0.3, 0.2]), 1
    yield torch.tensor([0.2, 0.5, 0.3]), 2
    generator = torch.Generator().manual_seed(1)
    for size in range(2, 30):
        yield torch.rand(size, generator=generator).softmax(0), 1 + size // 3


EXERCISES = (
    Exercise(
        "00.tokens",
        8,
        mistakes=(
            Mistake(7, "You counted the words. The full stop is a token as well."),
            Mistake(34, "You counted the letters. In the small world each word is one token."),
            Mistake(9, "The mark that the model puts before the text is not part of the text."),
        ),
        hints=("Try len(tok.encode(…)), or count the coloured boxes.",),
    ),
    Exercise(
        "00.triangle",
        36,
        mistakes=(
            Mistake(64, "These are all cells. Those to the right of the diagonal lie in the future, and are masked."),
            Mistake(28, "A token may look at itself too: the diagonal belongs to the triangle."),
            Mistake(32, "Half of the square cuts through the diagonal, and all of its cells are looked at."),
        ),
        hints=("Row 1 has one cell, row 2 has two, and so on.", "1 + 2 + … + n = n (n + 1) / 2."),
    ),
    Exercise(
        "00.temperature",
        softmax_at,
        _temperatures,
        mistakes=(
            Mistake(lambda z, t: z.softmax(-1), "The temperature is not used."),
            Mistake(lambda z, t: (z * t).softmax(-1), "A high temperature must flatten: divide, do not multiply."),
            Mistake(lambda z, t: z.softmax(-1) / t, "Divide the logits, before the softmax; this no longer sums to 1."),
            Mistake(lambda z, t: (z / t).exp(), "The powers must still be divided by their sum."),
        ),
        hints=("softmax(z)ᵢ = exp(zᵢ) / Σⱼ exp(zⱼ).", "Put z / temperature where z stood."),
    ),
    Exercise(
        "00.top_k",
        keep_top,
        _distributions,
        mistakes=(
            Mistake(
                lambda p, k: torch.where(p >= p.topk(k).values[-1], p, torch.zeros(())),
                "What is left must sum to 1 again.",
            ),
            Mistake(
                lambda p, k: (
                    torch.where(p <= (-p).topk(k).values.neg()[-1], p, torch.zeros(()))
                    / (-p).topk(k).values.neg().sum()
                ),
                "These are the k least likely tokens; keep the most likely ones.",
            ),
            Mistake(lambda p, k: p.topk(k).values / p.topk(k).values.sum(), "Keep every place: tokens left out get 0."),
        ),
        hints=("p.topk(k).values[-1] is the smallest probability that stays.", "Then divide by the sum."),
    ),
)
