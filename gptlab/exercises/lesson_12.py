"""Exercises of lesson 12: a residual layer, the way back through a reversible block, tokens as particles, neurons.

Axes: N particles, d components, n neurons.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def residual_layer(x: Tensor, U: Tensor, V: Tensor, b: Tensor, L: int) -> list[float]:
    """x + Uᵀ tanh(V x + b) / L, one neuron after the other."""
    new = [float(one) for one in x]
    for k in range(len(b)):
        inside = float(b[k])
        for i in range(len(x)):
            inside += float(V[k, i] * x[i])
        for i in range(len(x)):
            new[i] += float(U[k, i]) * math.tanh(inside) / L
    return new


def way_back(y1: Tensor, y2: Tensor) -> list[list[float]]:
    """x1 and x2 of y1 = x1 + tanh(x2), y2 = x2 + sin(y1), number by number."""
    x1, x2 = [], []
    for i in range(len(y1)):
        x2.append(float(y2[i]) - math.sin(float(y1[i])))
        x1.append(float(y1[i]) - math.tanh(x2[i]))
    return [x1, x2]


def velocity(x: Tensor, beta: float) -> list[list[float]]:
    """The velocity of each particle on the sphere, with Q = K = V = 1."""
    velocities = []
    for i in range(len(x)):
        total, pull = 0.0, [0.0] * x.shape[1]
        for j in range(len(x)):
            weight = math.exp(beta * sum(float(x[i, c] * x[j, c]) for c in range(x.shape[1])))
            total += weight
            for c in range(x.shape[1]):
                pull[c] += weight * float(x[j, c])
        pull = [one / total for one in pull]
        along = sum(float(x[i, c]) * pull[c] for c in range(x.shape[1]))
        velocities.append([pull[c] - along * float(x[i, c]) for c in range(x.shape[1])])
    return velocities


def _attend(x: Tensor, beta: float, dim: int = -1) -> Tensor:
    return (beta * x @ x.mT).softmax(dim) @ x


def _project(x: Tensor, y: Tensor) -> Tensor:
    return y - (x * y).sum(-1, keepdim=True) * x


def _layers() -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor, int]]:
    """As many neurons as components, so that a transposed matrix gives a wrong answer and not an error."""
    yield torch.tensor([1.0]), torch.tensor([[2.0]]), torch.tensor([[3.0]]), torch.tensor([-1.0]), 2
    generator = torch.Generator().manual_seed(0)
    for d in range(2, 12):
        x, b = torch.randn(2, d, generator=generator, dtype=torch.float64)
        U, V = torch.randn(2, d, d, generator=generator, dtype=torch.float64)
        yield x, U, V, b, d + 1


def _outputs() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([1.0]), torch.tensor([0.5])
    generator = torch.Generator().manual_seed(1)
    for size in range(2, 12):
        y1, y2 = torch.randn(2, size, generator=generator, dtype=torch.float64)
        yield y1, y2


def _particles() -> Iterator[tuple[Tensor, float]]:
    yield torch.tensor([[1.0, 0.0], [0.0, 1.0]]), 1.0
    generator = torch.Generator().manual_seed(2)
    for n in range(2, 12):
        x = torch.randn(n, 3, generator=generator, dtype=torch.float64)
        yield x / x.norm(dim=-1, keepdim=True), n / 2


EXERCISES = (
    Exercise(
        "12.neurons",
        6400,
        mistakes=(
            Mistake(640, "That would be slope −1. The error falls as 1/√n."),
            Mistake(round(64 * math.sqrt(10)), "The other way round: n grows with the square of what is gained."),
            Mistake(64 * math.sqrt(10), "The other way round: n grows with the square of what is gained."),
            Mistake(100, "A hundred times as many, yes: of 64."),
        ),
        hints=("The error is C/√n. By what must n be multiplied for √n to become ten times as large?",),
    ),
    Exercise(
        "12.layer",
        residual_layer,
        _layers,
        mistakes=(
            Mistake(
                lambda x, U, V, b, L: x + U.T @ torch.tanh(V @ x + b),
                "The step 1/L is missing: with more layers the network would move farther, not more smoothly.",
            ),
            Mistake(
                lambda x, U, V, b, L: U.T @ torch.tanh(V @ x + b) / L,
                "This is what the layer adds; the layer gives x plus that.",
            ),
            Mistake(
                lambda x, U, V, b, L: x + U @ torch.tanh(V @ x + b) / L,
                "Uᵀ, not U: neuron k writes row k of U, whichever component it is.",
            ),
            Mistake(
                lambda x, U, V, b, L: x + U.T @ (torch.tanh(V @ x) + b) / L,
                "The bias belongs inside the bend σ.",
            ),
            Mistake(lambda x, U, V, b, L: x + U.T @ (V @ x + b) / L, "Without σ the layer is linear."),
        ),
        hints=("torch.tanh(V @ x + b) has a number for each neuron.", "Then x + U.T @ … / L."),
    ),
    Exercise(
        "12.back",
        way_back,
        _outputs,
        mistakes=(
            Mistake(
                lambda y1, y2: torch.stack([y1 - torch.tanh(y2), y2 - torch.sin(y1)]),
                "F was given x2, and you give it y2. Find x2 first.",
            ),
            Mistake(
                lambda y1, y2: torch.stack([y1 - torch.tanh(y2 - torch.sin(y1)), y2 - torch.sin(y1)]).flip(0),
                "Both are right and in the wrong order: first x1, then x2.",
            ),
            Mistake(
                lambda y1, y2: torch.stack([y1 + torch.tanh(y2 + torch.sin(y1)), y2 + torch.sin(y1)]),
                "The way forward adds, so the way back subtracts.",
            ),
            Mistake(
                lambda y1, y2: torch.stack([y1 - torch.tanh(y2), y2 - torch.sin(y1 - torch.tanh(y2))]),
                "G was given y1, the new half, and you give it what you take for x1. Go back in reverse order.",
            ),
        ),
        hints=("The last line of the way forward is undone first: x2 = y2 − G(y1).", "Then x1 = y1 − F(x2)."),
    ),
    Exercise(
        "12.velocity",
        velocity,
        _particles,
        mistakes=(
            Mistake(_attend, "The projection is missing: this leaves the sphere."),
            Mistake(
                lambda x, beta: _project(x, (beta * x @ x.mT).exp() @ x),
                "Divide by Z_i, the sum of row i's weights; softmax does both.",
            ),
            Mistake(
                lambda x, beta: _project(x, _attend(x, 1.0)),
                "β is missing: it multiplies the inner products inside the exponential.",
            ),
            Mistake(
                lambda x, beta: _project(x, _attend(x, beta, dim=0)),
                "The wrong axis: each particle i shares its attention among all j, so rows sum to 1.",
            ),
            Mistake(
                lambda x, beta: _attend(x, beta) - x,
                "This takes away all of x; the projection takes away ⟨x, y⟩ x, the part of y along x.",
            ),
        ),
        hints=(
            "y = (beta * x @ x.T).softmax(-1) @ x has the pull on each particle in a row.",
            "Take away (x * y).sum(-1, keepdim=True) * x.",
        ),
    ),
)
