"""Exercises of lesson 07: the shift by one, the loss of a text, padding, Adam.

Axes: N tokens of a text, V vocabulary, B rows of a batch.
"""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake

IGNORE = -100
RATE, BETAS, EPSILON = 0.1, (0.9, 0.95), 1e-8


def pairs(ids: Tensor) -> list[list[int]]:
    """Each token that is read with the token that is asked for after it."""
    found = []
    for i in range(len(ids) - 1):
        found.append([int(ids[i]), int(ids[i + 1])])
    return found


def text_loss(P: Tensor, ids: Tensor) -> float:
    """L_p = −Σ_{i=0}^{N−2} log P_{i, y_{i+1}}: a sum."""
    total = 0.0
    for i in range(len(ids) - 1):
        total -= math.log(P[i, ids[i + 1]])
    return total


def batch_mean(losses: Tensor, targets: Tensor) -> float:
    """The mean of the losses whose target is not −100; each counts the same, in whatever row it stands."""
    total, count = 0.0, 0
    for row in range(len(targets)):
        for place in range(len(targets[row])):
            if targets[row, place] != IGNORE:
                total += float(losses[row, place])
                count += 1
    return total / count


def adam(theta: float, gradients: list[float]) -> float:
    """Where Adam comes to from θ, if these are the gradients on the way; η = 0.1, β = 0.9 and 0.95, ε = 1e-8."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m = BETAS[0] * m + (1 - BETAS[0]) * g
        v = BETAS[1] * v + (1 - BETAS[1]) * g * g
        m_hat, v_hat = m / (1 - BETAS[0] ** t), v / (1 - BETAS[1] ** t)
        theta = theta - RATE * m_hat / (math.sqrt(v_hat) + EPSILON)
    return theta


def _adam_but(theta: float, gradients: list[float], *, corrected: bool = True, sign: int = -1, root: float = 0.5):
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m = BETAS[0] * m + (1 - BETAS[0]) * g
        v = BETAS[1] * v + (1 - BETAS[1]) * g * g
        unbias = (1 - BETAS[0] ** t, 1 - BETAS[1] ** t) if corrected else (1.0, 1.0)
        theta = theta + sign * RATE * (m / unbias[0]) / ((v / unbias[1]) ** root + EPSILON)
    return theta


def _descended(theta: float, gradients: list[float]) -> float:
    return theta - RATE * sum(gradients)


def _texts() -> Iterator[tuple[Tensor]]:
    yield (torch.tensor([5, 7]),)
    yield (torch.tensor([5, 7, 9]),)
    generator = torch.Generator().manual_seed(0)
    for size in range(4, 20):
        yield (torch.randint(0, 50, (size,), generator=generator),)


def _predictions() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]), torch.tensor([0, 1])
    generator = torch.Generator().manual_seed(1)
    for size in range(3, 20):
        logits = torch.randn(size, 6, generator=generator, dtype=torch.float64)
        yield logits.softmax(-1), torch.randint(0, 6, (size,), generator=generator)


def _padded_batches() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([[1.0, 2.0], [6.0, 0.5]]), torch.tensor([[3, 4], [5, IGNORE]])
    generator = torch.Generator().manual_seed(2)
    for rows in range(2, 12):
        losses = torch.rand(rows, 8, generator=generator, dtype=torch.float64) * 5 + 0.1
        targets = torch.randint(0, 50, (rows, 8), generator=generator)
        for row in range(rows):
            targets[row, 1 + row % 7 :] = IGNORE
        yield losses, targets


def _gradients() -> Iterator[tuple[float, list[float]]]:
    yield 0.0, [2.0]
    yield 1.0, [2.0, 2.0]
    generator = torch.Generator().manual_seed(3)
    for length in range(2, 20):
        yield 0.5, (torch.randn(length, generator=generator, dtype=torch.float64) * 3).tolist()


EXERCISES = (
    Exercise(
        "07.shift",
        pairs,
        _texts,
        mistakes=(
            Mistake(
                lambda ids: torch.stack([ids, ids], 1),
                "No shift: here each token is asked for where it has just been read. Copying it would be enough.",
            ),
            Mistake(
                lambda ids: torch.stack([ids[1:], ids[:-1]], 1),
                "Shifted the wrong way: the model would be asked for the word before, which it has read.",
            ),
            Mistake(
                lambda ids: torch.stack([ids, ids.roll(-1)], 1),
                "The last token has nothing after it; with `roll` it is asked for the first token of the text.",
            ),
            Mistake(
                lambda ids: torch.stack([ids[:-2], ids[2:]], 1),
                "Off by one: this asks for the token after the next.",
            ),
        ),
        hints=("Inputs are all ids but the last, targets all ids but the first.", "torch.stack([…, …], dim=1)."),
    ),
    Exercise(
        "07.loss",
        text_loss,
        _predictions,
        mistakes=(
            Mistake(
                lambda P, ids: -P[range(len(ids) - 1), ids[1:]].log().mean(),
                "This is the mean over the positions. GPT-1's formula is the sum; PyTorch's default is the mean.",
            ),
            Mistake(
                lambda P, ids: -P[range(len(ids) - 1), ids[:-1]].log().sum(),
                "No shift: row i of P is held against token i, which the model has read.",
            ),
            Mistake(
                lambda P, ids: -P[range(1, len(ids)), ids[:-1]].log().sum(),
                "Shifted the wrong way: row i of P is for token i + 1, not for token i − 1.",
            ),
            Mistake(
                lambda P, ids: P[range(len(ids) - 1), ids[1:]].log().sum(),
                "The sign: log-probabilities are negative, a loss is not.",
            ),
            Mistake(
                lambda P, ids: -P[range(len(ids)), ids.roll(-1)].log().sum(),
                "The last row of P predicts a token that the text does not have; leave it out.",
            ),
        ),
        hints=("Row i of P is held against ids[i + 1].", "P[range(N - 1), ids[1:]] picks one number a row."),
    ),
    Exercise(
        "07.padding",
        batch_mean,
        _padded_batches,
        mistakes=(
            Mistake(
                lambda losses, targets: losses.mean(),
                "Padding is counted here, as if the model had been asked for something there.",
            ),
            Mistake(
                lambda losses, targets: (losses * (targets != IGNORE)).mean(),
                "The padding is left out of the sum and still counted in the number you divide by.",
            ),
            Mistake(
                lambda losses, targets: losses[targets != IGNORE].sum(),
                "A sum: it grows with the batch. Divide by the number of targets that count.",
            ),
            Mistake(
                lambda losses, targets: (
                    (losses * (targets != IGNORE)).sum(1) / (targets != IGNORE).sum(1).clamp(min=1)
                ).mean(),
                "A mean of each row's mean: a token of a short row would weigh more than one of a long row.",
            ),
        ),
        hints=("counts = targets != -100 is True where a loss counts.", "losses[counts] are those losses, in a row."),
    ),
    Exercise(
        "07.adam",
        adam,
        _gradients,
        mistakes=(
            Mistake(
                partial(_adam_but, corrected=False),
                "The bias correction is missing: m and v begin at 0, so divide them by 1 − βᵗ, t counted from 1.",
            ),
            Mistake(partial(_adam_but, sign=1), "The sign: this climbs. Go against the gradient."),
            Mistake(partial(_adam_but, root=1.0), "Divide by the root of v̂, else the step is not a step in θ's unit."),
            Mistake(_descended, "This is gradient descent: it takes neither the running mean m nor the root of v."),
        ),
        hints=(
            "m ← 0.9 m + 0.1 g and v ← 0.95 v + 0.05 g², both 0 at first.",
            "After the t-th gradient: θ ← θ − 0.1 · m̂ / (√v̂ + 1e-8), with m̂ = m / (1 − 0.9ᵗ), v̂ = v / (1 − 0.95ᵗ).",
        ),
    ),
)
