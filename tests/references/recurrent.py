"""Recurrent cells and attention over a window in plain loops and float64. Shares no code with the package.

A matrix is a list of rows; weights are torch's: for a GRU the blocks of reset, update and new state one above the
other, for an LSTM input, forget, new and output. Text t is a list of numbers, one token after the other.
"""

import math


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def affine(W, x, b):
    return [sum(w * number for w, number in zip(row, x, strict=True)) + shift for row, shift in zip(W, b, strict=True)]


def rnn(text, W_x, W_h, b_x, b_h):
    h, states = [0.0] * len(W_h[0]), []
    for x in text:
        h = [math.tanh(one + other) for one, other in zip(affine(W_x, x, b_x), affine(W_h, h, b_h), strict=True)]
        states.append(h)
    return states


def gru(text, W_x, W_h, b_x, b_h):
    n = len(W_h[0])
    h, states = [0.0] * n, []
    for x in text:
        from_x, from_h = affine(W_x, x, b_x), affine(W_h, h, b_h)
        new = []
        for i in range(n):
            r = sigmoid(from_x[i] + from_h[i])
            z = sigmoid(from_x[n + i] + from_h[n + i])
            candidate = math.tanh(from_x[2 * n + i] + r * from_h[2 * n + i])
            new.append((1 - z) * candidate + z * h[i])
        h = new
        states.append(h)
    return states


def lstm(text, W_x, W_h, b_x, b_h):
    n = len(W_h[0])
    h, c, states = [0.0] * n, [0.0] * n, []
    for x in text:
        total = [one + other for one, other in zip(affine(W_x, x, b_x), affine(W_h, h, b_h), strict=True)]
        for i in range(n):
            c[i] = sigmoid(total[n + i]) * c[i] + sigmoid(total[i]) * math.tanh(total[2 * n + i])
        h = [sigmoid(total[3 * n + i]) * math.tanh(c[i]) for i in range(n)]
        states.append(h)
    return states


def window_attention(q, k, v, window):
    """One head: each query over its own key and the `window` − 1 before it."""
    rows = []
    for i, query in enumerate(q):
        seen = range(max(0, i - window + 1), i + 1)
        scores = [sum(a * b for a, b in zip(query, k[j], strict=True)) / math.sqrt(len(query)) for j in seen]
        powers = [math.exp(score - max(scores)) for score in scores]
        rows.append(
            [sum(p * v[j][d] for p, j in zip(powers, seen, strict=True)) / sum(powers) for d in range(len(v[0]))]
        )
    return rows
