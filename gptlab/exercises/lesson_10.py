"""Exercises of lesson 10: a step of an RNN, the cell of an LSTM, how far a gate reaches, what a window looks at.

Axes: T tokens, d width of what comes in, n width of the state.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake

LEFT = 0.001  # of a gradient, below which it counts as gone


def last_state(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> list[float]:
    """h_t = tanh(W_x x_t + W_h h_{t−1} + b) from h_0 = 0: the state behind the last of x (T,d)."""
    n = len(b)
    h = [0.0] * n
    for t in range(len(x)):
        new = []
        for i in range(n):
            total = float(b[i])
            for j in range(x.shape[1]):
                total += float(W_x[i, j] * x[t, j])
            for j in range(n):
                total += float(W_h[i, j]) * h[j]
            new.append(math.tanh(total))
        h = new
    return h


def lstm_cell(i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> list[list[float]]:
    """The new h and c from what stands before the gates' sigmoids, and from the old c; each (n,)."""
    new_h, new_c = [], []
    for k in range(len(c)):
        kept = _sigmoid(f[k]) * float(c[k]) + _sigmoid(i[k]) * math.tanh(g[k])
        new_c.append(kept)
        new_h.append(_sigmoid(o[k]) * math.tanh(kept))
    return [new_h, new_c]


def reach(gate: float) -> int:
    """After how many steps less than a thousandth is left, if each step multiplies by the gate."""
    left, steps = 1.0, 0
    while left >= LEFT:
        left *= gate
        steps += 1
    return steps


def looks(n: int, window: int) -> int:
    """How many pairs of a query and a key not after it lie within the window."""
    pairs = 0
    for query in range(n):
        for key in range(query + 1):
            if query - key < window:
                pairs += 1
    return pairs


def _sigmoid(z: Tensor) -> float:
    return 1 / (1 + math.exp(-float(z)))


def _run(step, x: Tensor, W_h: Tensor) -> Tensor:
    h = x.new_zeros(len(W_h))
    for x_t in x:
        h = step(x_t, h)
    return h


def _cell(i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor, squash_g=torch.tanh, squash_c=torch.tanh) -> Tensor:
    c = f.sigmoid() * c + i.sigmoid() * squash_g(g)
    return torch.stack([o.sigmoid() * squash_c(c), c])


def _unchanged(x: Tensor) -> Tensor:
    return x


def _texts() -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    for length in range(1, 13):
        draw = [torch.randn(*shape, generator=generator) for shape in ((length, 3), (2, 3), (2, 2), (2,))]
        yield tuple(0.7 * part.double() for part in draw)


def _gates() -> Iterator[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for width in range(1, 13):
        yield tuple(2 * torch.randn(5, width, generator=generator).double())


def _keeping() -> Iterator[tuple[float]]:
    for gate in (0.5, 0.3, 0.25, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995):
        yield (gate,)


def _windows() -> Iterator[tuple[int, int]]:
    yield from ((1, 1), (4, 2), (5, 3), (6, 6), (8, 1), (12, 5), (20, 8), (31, 9), (64, 16), (100, 30))


EXERCISES = (
    Exercise(
        "10.rnn",
        last_state,
        _texts,
        mistakes=(
            Mistake(
                lambda x, W_x, W_h, b: _run(lambda x_t, h: W_x @ x_t + W_h @ h + b, x, W_h),
                "The tanh is missing: without it the state is a linear function of the text, and may grow without end.",
            ),
            Mistake(
                lambda x, W_x, W_h, b: _run(lambda x_t, h: torch.tanh(W_x @ x_t + h @ W_h + b), x, W_h),
                "W_h is transposed here: it takes the old state from the left, W_h @ h.",
            ),
            Mistake(
                lambda x, W_x, W_h, b: _run(lambda x_t, h: torch.tanh(W_x @ x_t + W_h @ h), x, W_h),
                "The bias b is missing.",
            ),
            Mistake(
                lambda x, W_x, W_h, b: torch.tanh(W_x @ x[-1] + b),
                "Only the last token was read: the state has to go along from the first one.",
            ),
            Mistake(
                lambda x, W_x, W_h, b: _run(lambda x_t, h: torch.tanh(W_x @ x_t + W_h @ h + b), x.flip(0), W_h),
                "The text is read from its end; the first token comes first.",
            ),
        ),
        hints=("Begin with h = torch.zeros(len(b)), and go through x token by token.", "h = torch.tanh(W_x @ x_t + …)"),
    ),
    Exercise(
        "10.lstm",
        lstm_cell,
        _gates,
        mistakes=(
            Mistake(
                lambda i, f, g, o, c: _cell(f, i, g, o, c),
                "Input and forget gate have changed places: f keeps what is in c, i lets in what is new.",
            ),
            Mistake(
                lambda i, f, g, o, c: _cell(i, f, g, o, c, squash_g=torch.sigmoid),
                "g is no gate but what is to be added: it goes through tanh, so that it can also be negative.",
            ),
            Mistake(
                lambda i, f, g, o, c: _cell(i, f, g, o, c, squash_c=_unchanged),
                "h is the output gate times tanh(c); the tanh is missing.",
            ),
            Mistake(
                lambda i, f, g, o, c: torch.stack([o.sigmoid() * c.tanh(), _cell(i, f, g, o, c)[1]]),
                "h is made of the old c here; take the new one.",
            ),
            Mistake(
                lambda i, f, g, o, c: _cell(i, f, g, o, c).flip(0),
                "c and h have changed places: h comes first.",
            ),
        ),
        hints=(
            "Three of the four go through a sigmoid, g through tanh.",
            "new_c = f.sigmoid() * c + i.sigmoid() * g.tanh(), and h from it.",
        ),
    ),
    Exercise(
        "10.reach",
        reach,
        _keeping,
        mistakes=(
            Mistake(
                lambda gate: math.floor(math.log(LEFT) / math.log(gate)),
                "Off by one: after so many steps a thousandth or more is still left.",
            ),
            Mistake(
                lambda gate: math.log(LEFT) / math.log(gate),
                "A number of steps is whole: it is the first one after which less than a thousandth is left.",
            ),
            Mistake(
                lambda gate: math.ceil((1 - LEFT) / (1 - gate)),
                "Each step multiplies, it does not subtract 1 − gate.",
            ),
            Mistake(
                lambda gate: math.ceil(math.log(LEFT) / math.log(1 - gate)),
                "The gate says how much is kept, not how much is lost.",
            ),
        ),
        hints=("After k steps gate ** k is left.", "gate ** k < 0.001 exactly if k > log(0.001) / log(gate)."),
    ),
    Exercise(
        "10.looks",
        looks,
        _windows,
        mistakes=(
            Mistake(
                lambda n, window: n * window,
                "The first tokens have less than a window before them.",
            ),
            Mistake(
                lambda n, window: n * (n + 1) // 2,
                "This counts all pairs, as without a window.",
            ),
            Mistake(
                lambda n, window: looks(n, window + 1),
                "Off by one: the window holds the token itself and window − 1 before it.",
            ),
            Mistake(
                lambda n, window: sum(min(window, n - start) * (min(window, n - start) + 1) // 2
                                      for start in range(0, n, window)),
                "These are chunks, end to end; a window moves on with each query.",
            ),
            Mistake(
                lambda n, window: sum(min(n, query + window) - max(0, query - window + 1) for query in range(n)),
                "This window looks ahead as well: keys after the query do not count.",
            ),
        ),
        hints=("Query q, counted from 0, has min(q + 1, window) keys.", "sum(min(q + 1, window) for q in range(n))"),
    ),
)  # fmt: skip
