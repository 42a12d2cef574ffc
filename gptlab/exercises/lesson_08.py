"""Exercises of lesson 08: a temperature for probabilities, the nucleus, a step of beam search, the cache."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def reshape(probabilities: Tensor, temperature: float) -> list[float]:
    """softmax(logits / temperature) from softmax(logits) alone: each to the power 1 / temperature, over their sum."""
    powers = [p ** (1 / temperature) for p in probabilities.tolist()]
    return [power / sum(powers) for power in powers]


def nucleus(probabilities: Tensor, mass: float) -> list[float]:
    """The smallest set of likeliest tokens whose mass reaches `mass`, made to sum to 1 again; 0 elsewhere."""
    p = probabilities.tolist()
    kept, reached = [], 0.0
    for i in sorted(range(len(p)), key=lambda i: -p[i]):
        kept.append(i)
        reached += p[i]
        if reached >= mass:
            break
    return [p[i] / reached if i in kept else 0.0 for i in range(len(p))]


def beam_step(log_probs: Tensor, next_probabilities: Tensor, width: int) -> list[tuple[int, int, float]]:
    """(hypothesis, token, log-probability) of the `width` likeliest continuations of all hypotheses, best first."""
    continued = [
        (hypothesis, token, float(log_probs[hypothesis]) + math.log(p))
        for hypothesis, row in enumerate(next_probabilities.tolist())
        for token, p in enumerate(row)
    ]
    return sorted(continued, key=lambda one: -one[2])[:width]


def positions(n_cached: int, n_new: int) -> list[int]:
    """The positions, counted from 0, of new tokens behind those that the cache holds."""
    return [n_cached + i for i in range(n_new)]


def _best(scores: Tensor, width: int) -> list[tuple[int, int, float]]:
    values, places = scores.flatten().topk(width)
    n_tokens = scores.shape[1]
    places = places.tolist()
    return [(at // n_tokens, at % n_tokens, value) for at, value in zip(places, values.tolist(), strict=True)]


def _one_child_each(log_probs: Tensor, next_probabilities: Tensor, width: int) -> list[tuple[int, int, float]]:
    scores, tokens = (log_probs[:, None] + next_probabilities.log()).max(dim=1)
    best = scores.argsort(descending=True)[:width].tolist()
    return [(i, int(tokens[i]), float(scores[i])) for i in best]


def _cut_in_order_of_ids(p: Tensor, mass: float) -> Tensor:
    kept = torch.where(p.cumsum(0) - p < mass, p, 0.0)
    return kept / kept.sum()


def _sorted_nucleus(p: Tensor, mass: float, *, cross: bool = True, again: bool = True, back: bool = True) -> Tensor:
    values, ids = p.sort(descending=True)
    before = values.cumsum(0) - values if cross else values.cumsum(0)
    values = torch.where(before < mass, values, 0.0)
    if again and values.sum() > 0:
        values = values / values.sum()
    return torch.zeros_like(p).scatter(0, ids, values) if back else values


def _tempered() -> Iterator[tuple[Tensor, float]]:
    yield torch.tensor([0.8, 0.2]), 2.0
    yield torch.tensor([0.8, 0.2]), 0.5
    generator = torch.Generator().manual_seed(2)
    for size in range(2, 30):
        yield torch.rand(size, generator=generator).softmax(0), float(torch.rand(1, generator=generator) * 2 + 0.3)


def _nuclei() -> Iterator[tuple[Tensor, float]]:
    yield torch.tensor([0.5, 0.41, 0.09]), 0.9
    yield torch.tensor([0.15, 0.5, 0.05, 0.3]), 0.6
    yield torch.tensor([0.2, 0.7, 0.1]), 0.05
    generator = torch.Generator().manual_seed(3)
    for size in range(2, 30):
        # No sum of these comes so near to a mass of 0.05 … 0.95 that rounding would decide.
        yield (torch.randn(size, generator=generator) * 2).softmax(0), 0.05 + 0.9 * (size - 2) / 27


def _beams() -> Iterator[tuple[Tensor, Tensor, int]]:
    yield torch.tensor([0.6, 0.4]).log(), torch.tensor([[0.34, 0.33, 0.33], [0.05, 0.05, 0.9]]), 2
    yield torch.tensor([0.9, 0.1]).log(), torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.2, 0.6]]), 2
    generator = torch.Generator().manual_seed(4)
    for width in range(1, 8):
        log_probs = torch.randn(width, generator=generator).log_softmax(0) - 3
        yield log_probs, (torch.randn(width, 12, generator=generator) * 2).softmax(1), width


EXERCISES = (
    Exercise(
        "08.reshape",
        reshape,
        _tempered,
        mistakes=(
            Mistake(
                lambda p, t: (p / t) / (p / t).sum(),
                "Dividing all probabilities by the same number and by their sum changes nothing; the temperature "
                "divides logits.",
            ),
            Mistake(lambda p, t: (p / t).softmax(-1), "Probabilities are no logits: a softmax of them flattens all."),
            Mistake(lambda p, t: p ** (1 / t), "The powers must still be divided by their sum."),
            Mistake(lambda p, t: p**t / (p**t).sum(), "A high temperature must flatten: the power is 1 / temperature."),
        ),
        hints=("log p is a vector of logits: softmax(log p) = p.", "Divide log p by the temperature, then softmax."),
    ),
    Exercise(
        "08.top_p",
        nucleus,
        _nuclei,
        mistakes=(
            Mistake(
                lambda p, mass: _sorted_nucleus(p, mass, cross=False),
                "The token that crosses the threshold belongs to the set: without it the mass is not reached.",
            ),
            Mistake(lambda p, mass: _sorted_nucleus(p, mass, again=False), "What is left must sum to 1 again."),
            Mistake(
                lambda p, mass: _sorted_nucleus(p, mass, back=False),
                "Put each probability back to its own token: this is in the order of the ranks.",
            ),
            Mistake(_cut_in_order_of_ids, "Add up in the order of the probabilities, not of the ids."),
        ),
        hints=(
            "p.sort(descending=True) gives values and ids; values.cumsum(0) is the mass so far.",
            "A token stays if the mass before it, cumsum − value, is still below the threshold.",
        ),
    ),
    Exercise(
        "08.beam_step",
        beam_step,
        _beams,
        mistakes=(
            Mistake(
                lambda s, p, width: _best(s[:, None].exp() * p, width),
                "The score is a log-probability, as it came in: add logs. The product of many is soon 0 in float32.",
            ),
            Mistake(
                lambda s, p, width: _best(s[:, None] + p, width),
                "Add the logarithm of the next token's probability, not the probability.",
            ),
            Mistake(
                lambda s, p, width: _best(p.log(), width),
                "The score of the hypothesis so far counts too: a likely word may end an unlikely text.",
            ),
            Mistake(_one_child_each, "All continuations compete: one hypothesis may leave two, and another none."),
        ),
        hints=(
            "log_probs[:, None] + next_probabilities.log() holds every continuation's score, (width, vocabulary).",
            "flatten().topk(width) finds the best; // and % by the size of the vocabulary tell which they are.",
        ),
    ),
    Exercise(
        "08.positions",
        positions,
        lambda: [(0, 3), (3, 1), (5, 2), (17, 4), (100, 1)],
        mistakes=(
            Mistake(
                lambda n_cached, n_new: list(range(n_new)),
                "With a cache counting must not begin at 0 again: the new tokens would be taken for the first ones.",
            ),
            Mistake(
                lambda n_cached, n_new: list(range(n_cached + 1, n_cached + n_new + 1)),
                "Off by one: behind n cached tokens, at positions 0 … n − 1, comes position n.",
            ),
            Mistake(
                lambda n_cached, n_new: [i + n_cached - 1 for i in range(n_new)],
                "Off by one: position n − 1 belongs to the last token that is cached already.",
            ),
        ),
        hints=("Of an empty cache, the first new token is at position 0.", "torch.arange(n_new) + …"),
    ),
    Exercise(
        "08.cache_bytes",
        2 * 12 * 1024 * 768 * 4,
        mistakes=(
            Mistake(12 * 1024 * 768 * 4, "Values are kept as well as keys."),
            Mistake(2 * 1024 * 768 * 4, "Each of the 12 layers has keys and values of its own."),
            Mistake(2 * 12 * 1024 * 768, "These are the numbers; one of float32 takes 4 bytes."),
            Mistake(2 * 12 * 12 * 1024 * 768 * 4, "The 12 heads share the 768 numbers of a token, 64 each."),
        ),
        hints=("2 · L · T · d · bytes.", "GPT-2's smallest has 12 layers of width 768."),
    ),
)
