"""Exercises of lesson 06: LayerNorm, where the norm stands, and parameters counted."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from gptlab.exercises._check import Exercise, Mistake

EPSILON = 1e-5


def layer_norm(x: Tensor) -> list[list[float]]:
    """Each row minus its mean, over its deviation √(variance + 1e-5)."""
    rows = []
    for row in x.tolist():
        mean = sum(row) / len(row)
        variance = sum((number - mean) ** 2 for number in row) / len(row)
        rows.append([(number - mean) / math.sqrt(variance + EPSILON) for number in row])
    return rows


def pre_norm_step(x: Tensor, W: Tensor) -> list[list[float]]:
    """x + LayerNorm(x) W, row by row."""
    width, out = x.shape[1], []
    for row, normed in zip(x.tolist(), layer_norm(x), strict=True):
        added = [sum(normed[i] * float(W[i, j]) for i in range(width)) for j in range(width)]
        out.append([number + new for number, new in zip(row, added, strict=True)])
    return out


def mlp_parameters(n_layers: int, d_model: int) -> int:
    """What the MLPs of all layers hold: two matrices each, and a bias for each number that they give."""
    count = 0
    for _ in range(n_layers):
        count += d_model * 4 * d_model + 4 * d_model
        count += 4 * d_model * d_model + d_model
    return count


def _rows() -> Iterator[tuple[Tensor]]:
    yield (torch.tensor([[1.0, 3.0]]),)
    yield (torch.tensor([[1.0, 3.0], [2.0, 2.0]]),)
    generator = torch.Generator().manual_seed(0)
    for size in range(2, 20):
        scale = 0.005 if size % 3 == 0 else 2.0  # ε shows only beside a small variance
        yield (scale * (torch.randn(3, size, generator=generator) + 1),)


def _steps() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([[1.0, 3.0]]), torch.eye(2)
    generator = torch.Generator().manual_seed(1)
    for size in range(2, 12):
        yield torch.randn(3, size, generator=generator) * 2, torch.randn(size, size, generator=generator)


def _sizes() -> Iterator[tuple[int, int]]:
    yield 1, 1
    yield 1, 4
    yield 3, 4
    yield 12, 768


def _normed(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def _over(x: Tensor, deviation: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / deviation


EXERCISES = (
    Exercise(
        "06.layer_norm",
        layer_norm,
        _rows,
        mistakes=(
            Mistake(
                lambda x: _over(x, x.var(-1, keepdim=True, correction=0) + EPSILON),
                "You divided by the variance, as one of the notes says. Divide by its root, the deviation.",
            ),
            Mistake(
                lambda x: (x - x.mean(0)) / (x.var(0, correction=0) + EPSILON).sqrt(),
                "You normed the columns: that mixes tokens. Each row, each token, is normed by itself.",
            ),
            Mistake(
                lambda x: _over(x, (x.var(-1, keepdim=True) + EPSILON).sqrt()),
                "torch.var divides by d − 1; LayerNorm divides by d. Say correction=0.",
            ),
            Mistake(
                lambda x: _over(x, x.var(-1, keepdim=True, correction=0).sqrt()),
                "A row of equal numbers has deviation 0. The small ε keeps it from 0/0.",
            ),
            Mistake(
                lambda x: _over(x, x.var(-1, keepdim=True, correction=0).sqrt() + EPSILON),
                "ε stands under the root: √(variance + ε).",
            ),
            Mistake(
                lambda x: x / (x.var(-1, keepdim=True, correction=0) + EPSILON).sqrt(),
                "The mean is not taken away.",
            ),
        ),
        hints=("x.mean(-1, keepdim=True) is the mean of each row.", "Then the variance, plus 1e-5, then the root."),
    ),
    Exercise(
        "06.pre_norm",
        pre_norm_step,
        _steps,
        mistakes=(
            Mistake(lambda x, W: _normed(x + x @ W), "That is post-norm: the norm of the sum."),
            Mistake(lambda x, W: _normed(x) + _normed(x) @ W, "The stream itself must pass unchanged: x + …"),
            Mistake(lambda x, W: _normed(x) @ W, "The residual connection is missing."),
            Mistake(lambda x, W: x + _normed(x @ W), "The norm stands before the layer, not behind it."),
            Mistake(lambda x, W: x + x @ W, "There is no norm yet: what enters the layer is normed."),
        ),
        hints=("F.layer_norm(x, x.shape[-1:]) norms each row.", "f(x) = LayerNorm(x) W; the step is x + f(x)."),
    ),
    Exercise(
        "06.mlp_parameters",
        mlp_parameters,
        _sizes,
        mistakes=(
            Mistake(lambda n, d: n * 8 * d * d, "The biases are missing: 4d on the way up, d on the way down."),
            Mistake(lambda n, d: n * (2 * d * d + 2 * d), "The MLP is four times as wide inside: d → 4d → d."),
            Mistake(lambda n, d: 8 * d * d + 5 * d, "This is one layer; count all of them."),
            Mistake(lambda n, d: n * (4 * d * d + 4 * d), "There are two matrices: one up and one down."),
            Mistake(lambda n, d: n * (8 * d * d + 8 * d), "On the way down there are d biases, not 4d."),
        ),
        hints=("A linear map from a to b numbers holds a·b weights and b biases.", "Up: d → 4d. Down: 4d → d."),
    ),
    Exercise(
        "06.attention_matrices",
        57_982_058_496,
        mistakes=(
            Mistake(43_486_543_872, "You counted W_q, W_k and W_v; W_o has as many again."),
            Mistake(603_979_776, "This is one layer of 96."),
            Mistake(5_566_277_615_616, "Each of the 96 heads is 128 wide, not 12,288: they share the width."),
            Mistake(14_948_499_456, "In W_q, W_k and W_v you counted one head of 96."),
        ),
        hints=("128 · 96 = 12,288: all heads of W_q together are a square matrix.", "Four squares a layer."),
    ),
)
