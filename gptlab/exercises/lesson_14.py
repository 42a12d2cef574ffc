"""Exercises of lesson 14: the size of GPT-2's weights, bits a byte, a minimal pair, what an induction head would say.

Axes: L layers, H heads, T tokens.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.config import GPTConfig
from gptlab.exercises._check import Exercise, Mistake

N_PARAMETERS = GPTConfig.preset("gpt2").parameter_count()["total"]


def bits_per_byte(losses: Tensor, text: str) -> float:
    """The sum of the losses (nats, one a token) in bits, over the number of the text's bytes."""
    return sum(losses.tolist()) / math.log(2) / len(text.encode())


def log_odds(logits: Tensor, one: int, other: int) -> float:
    """ln P(one) − ln P(other) with P = softmax(logits)."""
    powers = [math.exp(z) for z in logits.double().tolist()]
    return math.log(powers[one] / sum(powers)) - math.log(powers[other] / sum(powers))


def copied(ids: list[int]) -> int | None:
    """The token that followed the last earlier occurrence of the last token; None where there is none."""
    for place in range(len(ids) - 2, -1, -1):
        if ids[place] == ids[-1]:
            return ids[place + 1]
    return None


def at_first(attention: Tensor) -> list[list[float]]:
    """(L,H): the mean weight on token 0, over the queries that may look elsewhere too."""
    return [[sum(row[0] for row in head[1:]) / (len(head) - 1) for head in layer] for layer in attention.tolist()]


def _texts() -> Iterator[tuple[Tensor, str]]:
    yield torch.tensor([math.log(2.0)]), "a"
    yield torch.tensor([1.0, 3.0]), "á b"
    generator = torch.Generator().manual_seed(0)
    for text in ("the cat", "dort schläft die Katze", "猫が眠る", "🐈 sleeps", "It was red."):
        for n_tokens in (2, 5):
            yield torch.rand(n_tokens, generator=generator) * 8, text


def _pairs() -> Iterator[tuple[Tensor, int, int]]:
    yield torch.tensor([0.0, 1.0, 3.0]), 1, 0
    yield torch.tensor([2.0, 2.0]), 0, 1
    generator = torch.Generator().manual_seed(1)
    for size in range(3, 15):
        one, other = torch.randperm(size, generator=generator)[:2].tolist()
        yield torch.randn(size, generator=generator) * 3, one, other


def _sequences() -> Iterator[tuple[list[int]]]:
    yield ([5, 6, 5],)
    yield ([5, 6, 7],)
    yield ([5, 6, 5, 7, 5],)
    yield ([5, 5],)
    yield ([8],)
    generator = torch.Generator().manual_seed(2)
    for length in range(4, 24):
        yield (torch.randint(6, (length,), generator=generator).tolist(),)


def _patterns() -> Iterator[tuple[Tensor]]:
    generator = torch.Generator().manual_seed(3)
    for n_layers, n_heads, n_tokens in ((1, 1, 2), (1, 1, 3), (1, 2, 4), (2, 3, 5), (3, 2, 8)):
        scores = torch.randn(n_layers, n_heads, n_tokens, n_tokens, generator=generator) * 2
        yield (scores.masked_fill(torch.ones(n_tokens, n_tokens).triu(1).bool(), float("-inf")).softmax(-1),)


def _first_copy(ids: list[int]) -> int | None:
    return ids[ids.index(ids[-1]) + 1] if ids[-1] in ids[:-1] else None


def _before(ids: list[int]) -> int | None:
    places = [place for place in range(len(ids) - 1) if ids[place] == ids[-1]]
    return ids[places[-1] - 1] if places and places[-1] else None


EXERCISES = (
    Exercise(
        "14.bytes",
        4 * N_PARAMETERS,
        mistakes=(
            Mistake(N_PARAMETERS, "This is how many numbers there are. Each takes four bytes in float32."),
            Mistake(32 * N_PARAMETERS, "These are bits; a byte has eight of them."),
            Mistake(2 * N_PARAMETERS, "So it would be in 16 bits a number; float32 has 32."),
            Mistake(8 * N_PARAMETERS, "So it would be in float64; float32 has 32 bits a number."),
        ),
        hints=("GPTConfig.preset('gpt2').parameter_count()['total'] is the number of numbers.", "32 bits are 4 bytes."),
    ),
    Exercise(
        "14.log_odds",
        log_odds,
        _pairs,
        mistakes=(
            Mistake(
                lambda z, a, b: z[b] - z[a], "The signs are exchanged: it is positive where the first is likelier."
            ),
            Mistake(lambda z, a, b: z.softmax(-1)[a] - z.softmax(-1)[b], "This is a difference of probabilities."),
            Mistake(
                lambda z, a, b: z[a] / z[b], "Logits are subtracted, not divided: their powers are what is divided."
            ),
            Mistake(lambda z, a, b: (z[a] - z[b]).exp(), "These are the odds; take their logarithm."),
        ),
        hints=("ln P(a) = z_a − ln Σ exp(z). What is left of the sum in the difference?", "One subtraction is enough."),
    ),
    Exercise(
        "14.first",
        at_first,
        _patterns,
        mistakes=(
            Mistake(
                lambda A: A[:, :, :, 0].mean(-1), "Query 0 can only look at itself: its 1 says nothing. Leave it out."
            ),
            Mistake(lambda A: A[:, :, 0, :].mean(-1), "This is the first row: where token 0 looks. Take the column."),
            Mistake(lambda A: A[:, :, 1:, 0].sum(-1), "This is a sum; the mean over the queries is asked for."),
            Mistake(
                lambda A: A[:, :, 1:, 0].mean((0, 1)), "This is a mean over heads; keep those, and go over queries."
            ),
        ),
        hints=("attention[layer, head, query, key]: the key is 0.", "The queries are 1 … T−1."),
    ),
    Exercise(
        "14.copy",
        copied,
        _sequences,
        mistakes=(
            Mistake(_first_copy, "This follows the first occurrence; the last one before the end is asked for."),
            Mistake(_before, "This is the token before the earlier occurrence; the one after it is what comes next."),
            Mistake(
                lambda ids: ids[-1] if ids[-1] in ids[:-1] else None,
                "This is the token itself again. An induction head looks one place further.",
            ),
        ),
        hints=(
            "Go backwards from the token before the last, until you meet the last one's id.",
            "The token itself, at the end, is no earlier occurrence.",
        ),
    ),
    Exercise(
        "14.bits_per_byte",
        bits_per_byte,
        _texts,
        mistakes=(
            Mistake(lambda losses, text: losses.sum() / len(text.encode()), "These are nats; a bit is ln 2 of them."),
            Mistake(
                lambda losses, text: losses.sum() / math.log(2) / len(text),
                "Divide by bytes, not by characters: text.encode() has them.",
            ),
            Mistake(
                lambda losses, text: losses.mean() / math.log(2),
                "This is a mean over tokens, which another tokenizer cuts otherwise. Sum first.",
            ),
            Mistake(
                lambda losses, text: losses.sum() * math.log(2) / len(text.encode()),
                "A nat is more than a bit: divide by ln 2.",
            ),
        ),
        hints=("Add the losses up, turn nats into bits, divide by the bytes.", "1 bit is ln 2 = 0.693… nats."),
    ),
)
