"""Exercises of lesson 13: a filter over a signal, receptive fields, max-unpooling, parameters."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from gptlab.exercises._check import Exercise, Mistake

Layers = list[tuple[int, int]]


def filtered(w: Tensor, x: Tensor) -> list[float]:
    """At each place where the filter fits whole, the sum of its weights times what lies below."""
    weights, signal = w.tolist(), x.tolist()
    places = range(len(signal) - len(weights) + 1)
    return [sum(weights[k] * signal[i + k] for k in range(len(weights))) for i in places]


def receptive_field(layers: Layers) -> int:
    """From the first input to the last that a unit on top depends on."""
    seen = {0}
    for K, stride in reversed(layers):
        seen = {unit * stride + k for unit in seen for k in range(K)}
    return max(seen) - min(seen) + 1


def max_unpooling(X: Tensor) -> list[list[float]]:
    """The largest number of each 2 × 2 patch where it stands, 0 elsewhere."""
    rows = X.tolist()
    out = [[0.0] * len(row) for row in rows]
    for i in range(0, len(rows), 2):
        for j in range(0, len(rows[0]), 2):
            largest, a, b = max((rows[a][b], a, b) for a in (i, i + 1) for b in (j, j + 1))
            out[a][b] = largest
    return out


def _signals() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0, 0.0])
    generator = torch.Generator().manual_seed(0)
    for size in range(3, 20):
        yield torch.randn(1 + size // 3, generator=generator), torch.randn(size, generator=generator)


def _stacks() -> Iterator[tuple[Layers]]:
    yield ([(3, 1)],)
    yield ([(3, 2)],)
    yield ([(3, 1), (3, 1)],)
    yield ([(3, 2), (3, 1)],)
    yield ([(3, 2), (5, 3), (2, 2)],)
    yield ([(7, 2), (3, 2), (3, 1), (3, 1), (2, 2)],)


def _pictures() -> Iterator[tuple[Tensor]]:
    yield (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)
    yield (torch.tensor([[4.0, 2.0], [3.0, 1.0]]),)
    generator = torch.Generator().manual_seed(1)
    for size in range(1, 6):
        # Above 0, for a largest number below it could not be told from the zeros by an unpooling that adds.
        yield (torch.rand(2 * size, 6, generator=generator) + 0.1,)


def _fields(layers: Layers, *, own: bool = False, start: int = 1, whole: bool = False) -> int:
    """The formula, with one of its parts wrong."""
    size, jump = start, 1
    for K, stride in layers:
        jump *= stride if own else 1
        size += (K if whole else K - 1) * jump
        jump *= 1 if own else stride
    return size


def _pooled(X: Tensor) -> tuple[Tensor, Tensor]:
    return F.max_pool2d(X[None], 2, return_indices=True)


EXERCISES = (
    Exercise(
        "13.filter",
        filtered,
        _signals,
        mistakes=(
            Mistake(
                lambda w, x: x.unfold(0, len(w), 1) @ w.flip(0),
                "You turned the filter around: that is the mathematicians' convolution.",
            ),
            Mistake(
                lambda w, x: F.pad(x, (len(w) - 1, len(w) - 1)).unfold(0, len(w), 1) @ w,
                "There are zeros at the ends (full). Only whole windows are asked for.",
            ),
            Mistake(
                lambda w, x: F.pad(x, ((len(w) - 1) // 2, len(w) // 2)).unfold(0, len(w), 1) @ w,
                "The output is as long as the signal (same). Only whole windows are asked for.",
            ),
            Mistake(
                lambda w, x: (x.unfold(0, len(w), 1) @ w)[:-1],
                "The last place is missing: n − K + 1 windows fit.",
            ),
            Mistake(
                lambda w, x: x.unfold(0, len(w), 1) @ w / len(w),
                "The products are added up, not averaged.",
            ),
        ),
        hints=("x.unfold(0, K, 1) has a row for each window.", "Each row times w: a matrix times a vector."),
    ),
    Exercise(
        "13.receptive_field",
        receptive_field,
        _stacks,
        mistakes=(
            Mistake(
                lambda layers: 1 + sum(K - 1 for K, _ in layers),
                "That is the note's form, for stride 1. After a stride each further unit is a jump away.",
            ),
            Mistake(
                lambda layers: _fields(layers, own=True),
                "A layer's own stride spreads its neighbours, not what it sees: take the strides below it.",
            ),
            Mistake(
                lambda layers: _fields(layers, whole=True),
                "A window of K reaches K − 1 further than a single unit.",
            ),
            Mistake(
                lambda layers: _fields(layers, start=0),
                "Without any layer a unit sees itself: begin at 1.",
            ),
            Mistake(
                lambda layers: _fields(layers[::-1]),
                "You went through the layers from the top. The jump is made of the strides below.",
            ),
        ),
        hints=(
            "Keep two numbers: the size and the jump, both 1 at first.",
            "size += (K − 1)·jump; then jump *= stride.",
        ),
    ),
    Exercise(
        "13.max_unpooling",
        max_unpooling,
        _pictures,
        mistakes=(
            Mistake(
                lambda X: F.interpolate(_pooled(X)[0][None], scale_factor=2, mode="nearest")[0, 0],
                "You copied it into the whole patch: that is nearest neighbour.",
            ),
            Mistake(
                lambda X: F.conv_transpose2d(_pooled(X)[0], X.new_tensor([[[[1, 0], [0, 0]]]]), stride=2)[0],
                "You put it at the upper left: that is the bed of nails.",
            ),
            Mistake(lambda X: _pooled(X)[0][0], "That is the pooled picture; give it back its size."),
            Mistake(
                lambda X: X * (X.max() == X),
                "You kept the largest number of the picture; each patch has one of its own.",
            ),
        ),
        hints=(
            "F.max_pool2d(X[None], 2, return_indices=True) also says where each maximum stood.",
            "F.max_unpool2d takes both.",
        ),
    ),
    Exercise(
        "13.parameters",
        73_856,
        mistakes=(
            Mistake(73_728, "The biases are missing, one for each output channel."),
            Mistake(1_280, "A kernel runs through all 64 input channels."),
            Mistake(73_792, "There is a bias for each output channel, not for each input channel."),
            Mistake(8_320, "This is 1 × 1. A kernel has 3 × 3 weights for each input channel."),
        ),
        hints=("One output channel: 3 · 3 · 64 weights and a bias.", "There are 128 of them."),
    ),
)
