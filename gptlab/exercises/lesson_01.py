"""Exercises of lesson 01: windows of the last k words, a smoothed bigram table, perplexity, divergence."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def windows(ids: list[int], k: int) -> list[tuple[list[int], int]]:
    """Each word that has k words before it, with those k words: (context, target)."""
    pairs = []
    for t in range(k, len(ids)):
        context = []
        for place in range(t - k, t):
            context.append(ids[place])
        pairs.append((context, ids[t]))
    return pairs


def bigram(ids: list[int], vocab_size: int) -> list[list[float]]:
    """P(column | row): how often the column's word came after the row's, each count one larger than it was."""
    counts = [[1.0] * vocab_size for _ in range(vocab_size)]
    for t in range(1, len(ids)):
        counts[ids[t - 1]][ids[t]] += 1
    return [[count / sum(row) for count in row] for row in counts]


def perplexity(log_probs: Tensor) -> float:
    """exp of the mean surprise −ln P."""
    total = 0.0
    for log_p in log_probs.tolist():
        total -= log_p
    return math.exp(total / len(log_probs))


def divergence(p: Tensor, q: Tensor) -> float:
    """KL(p‖q) in nats; what p holds impossible adds nothing."""
    total = 0.0
    for true, believed in zip(p.tolist(), q.tolist(), strict=True):
        if true > 0:
            total += true * (math.log(true) - math.log(believed))
    return total


def _texts() -> Iterator[tuple[list[int], int]]:
    yield [5, 6, 7, 8], 1
    yield [5, 6, 7, 8], 2
    generator = torch.Generator().manual_seed(2)
    for size in range(3, 20):
        yield torch.randint(9, (size,), generator=generator).tolist(), 1 + size // 4


def _small_texts() -> Iterator[tuple[list[int], int]]:
    yield [0, 1, 0], 2
    yield [0, 0, 1], 3
    generator = torch.Generator().manual_seed(3)
    for size in range(2, 12):
        yield torch.randint(size, (3 * size,), generator=generator).tolist(), size


def _log_probs() -> Iterator[tuple[Tensor]]:
    yield (torch.tensor([0.5, 0.5]).log(),)
    yield (torch.tensor([0.5, 0.125]).log(),)
    generator = torch.Generator().manual_seed(4)
    for size in range(1, 20):
        yield (torch.rand(size, generator=generator).clamp_min(0.05).log(),)


def _pairs() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])
    yield torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.5])
    generator = torch.Generator().manual_seed(5)
    for size in range(2, 20):
        p, q = torch.randn(2, size, generator=generator).softmax(-1)
        p[0] = 0.0
        yield p / p.sum(), q


def _counted(ids: list[int], vocab_size: int, start: float = 1.0, step: int = 1) -> Tensor:
    counts = torch.full((vocab_size, vocab_size), start)
    for t in range(step, len(ids)):
        counts[ids[t - step], ids[t]] += 1
    return counts


EXERCISES = (
    Exercise(
        "01.windows",
        windows,
        _texts,
        mistakes=(
            Mistake(
                lambda ids, k: [(ids[t - k + 1 : t + 1], ids[t]) for t in range(k, len(ids))],
                "The target stands in its own context: the model would only have to read it off.",
            ),
            Mistake(
                lambda ids, k: [(ids[t - k : t], ids[t]) for t in range(k, len(ids) - 1)],
                "The last word of the text is a target as well: one pair is missing.",
            ),
            Mistake(
                lambda ids, k: [(ids[t - k : t], ids[t - 1]) for t in range(k, len(ids))],
                "The target is the word after the context, not its last word.",
            ),
            Mistake(
                lambda ids, k: [(ids[max(0, t - k) : t], ids[t]) for t in range(1, len(ids))],
                "Begin with the first word that has all k words before it.",
            ),
        ),
        hints=("The first target is ids[k].", "ids[t - k : t] are the k words before word t."),
    ),
    Exercise(
        "01.bigram",
        bigram,
        _small_texts,
        mistakes=(
            Mistake(
                lambda ids, n: _counted(ids, n) / _counted(ids, n).sum(0, keepdim=True),
                "These columns sum to 1. Given the word of a row, it is the row that must.",
            ),
            Mistake(
                lambda ids, n: (_counted(ids, n) / _counted(ids, n).sum(1, keepdim=True)).T,
                "Rows and columns are exchanged: the row is the word before, the column the word after.",
            ),
            Mistake(
                lambda ids, n: _counted(ids, n) / _counted(ids, n).sum(),
                "All entries together sum to 1: that is the joint P(before, after). Each row must.",
            ),
            Mistake(
                lambda ids, n: (
                    _counted(ids, n, start=0.0) / _counted(ids, n, start=0.0).sum(1, keepdim=True).clamp_min(1)
                ),
                "Begin to count at 1, so that nothing is impossible.",
            ),
            Mistake(
                lambda ids, n: _counted(ids[::-1], n) / _counted(ids[::-1], n).sum(1, keepdim=True),
                "This looks into the future: it counts the word before, given the word after.",
            ),
        ),
        hints=(
            "counts[before, after] += 1, for each pair of neighbours, in a table that began with ones.",
            "Divide by counts.sum(1, keepdim=True), the sum of each row.",
        ),
    ),
    Exercise(
        "01.perplexity",
        perplexity,
        _log_probs,
        mistakes=(
            Mistake(lambda log_p: (-log_p.sum()).exp(), "Take the mean before exp; this grows with the text's length."),
            Mistake(lambda log_p: log_p.mean().exp(), "The minus is missing: a perplexity is at least 1."),
            Mistake(
                lambda log_p: (-log_p).exp().mean(), "First the mean, then exp: the mean of 1/P is another number."
            ),
            Mistake(lambda log_p: -log_p.mean(), "That is the cross-entropy, in nats. Its exp is the perplexity."),
            Mistake(lambda log_p: 2 ** (-log_p.mean()), "The logarithms are natural ones: exp, not a power of 2."),
        ),
        hints=("Mean surprise first, exp last.", "Two words of probability 1/2 each: the perplexity is 2."),
    ),
    Exercise(
        "01.divergence",
        divergence,
        _pairs,
        mistakes=(
            Mistake(
                lambda p, q: divergence(q, p.clamp_min(1e-30)), "Truth and model are exchanged: the weights are p's."
            ),
            Mistake(lambda p, q: -(p * q.log()).sum(), "That is the cross-entropy; the entropy of p is still in it."),
            Mistake(lambda p, q: (p * (p / q).log()).sum(), "0 · ln 0 is NaN in torch: leave out where p is 0."),
            Mistake(lambda p, q: divergence(p, q) / len(p), "A sum, not a mean: p already weighs the words."),
            Mistake(lambda p, q: -divergence(p, q), "The sign: it is never below 0."),
        ),
        hints=(
            "Σ p ln(p / q), over the words that p holds possible.",
            "possible = p > 0, then p[possible] and q[possible].",
        ),
    ),
)
