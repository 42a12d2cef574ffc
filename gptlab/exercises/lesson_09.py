"""Exercises of lesson 09: a pooled vector, what may be seen, the decoder's targets, cross-attention, an alignment."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def pool(vectors: Tensor, real: Tensor) -> list[float]:
    """The mean of the vectors (T,d) of those tokens that are real (T,), and no padding."""
    rows = [row for row, counts in zip(vectors.tolist(), real.tolist(), strict=True) if counts]
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def shift(translation: list[int], end: int) -> tuple[list[int], list[int]]:
    """What a decoder reads and what it should say, of one translation: the end mark also stands for the start."""
    inputs, targets = [end], []
    for word in translation:
        inputs.append(word)
        targets.append(word)
    targets.append(end)
    return inputs, targets


def cross(q: Tensor, k: Tensor, v: Tensor) -> list[list[float]]:
    """Cross-attention of one head: q (T,dk) from the target, k (S,dk) and v (S,dv) from the source; nothing masked."""
    q, k, v = q.tolist(), k.tolist(), v.tolist()
    out = []
    for query in q:
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query)) for key in k]
        powers = [math.exp(score) for score in scores]
        shares = [power / sum(powers) for power in powers]
        out.append([sum(share * row[c] for share, row in zip(shares, v, strict=True)) for c in range(len(v[0]))])
    return out


def agreement(weights: Tensor, alignment: list[tuple[int, int]]) -> float:
    """The share of target words t, rows of `weights`, whose largest weight is at an s with (t, s) in the alignment."""
    hits = 0
    for t, row in enumerate(weights.tolist()):
        s = max(range(len(row)), key=lambda j: row[j])
        hits += (t, s) in alignment
    return hits / len(weights)


def _masked_cross(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.T / q.shape[-1] ** 0.5
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf")).softmax(-1) @ v


def _texts() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.tensor([[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]), torch.tensor([True, True, False])
    generator = torch.Generator().manual_seed(0)
    for n_real in range(1, 12):
        length = n_real + int(torch.randint(1, 5, (1,), generator=generator))
        yield torch.randn(length, 4, generator=generator), torch.arange(length) < n_real


def _looks() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    yield torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0], [0.0]])
    generator = torch.Generator().manual_seed(1)
    for n in range(2, 14):
        n_source = 2 + int(torch.randint(8, (1,), generator=generator))
        q, k = (torch.randn(length, 6, generator=generator) * 2 for length in (n, n_source))
        yield q, k, torch.randn(n_source, 3, generator=generator)


def _alignments() -> Iterator[tuple[Tensor, list[tuple[int, int]]]]:
    yield torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]]), [(0, 0), (1, 1), (1, 2)]
    yield torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.6, 0.4]]), [(0, 1), (1, 0), (2, 1)]
    generator = torch.Generator().manual_seed(2)
    for n in range(2, 14):
        weights = torch.randn(n, n + 1, generator=generator).softmax(-1)
        partners = torch.randint(n + 1, (n,), generator=generator).tolist()
        right = weights.argmax(-1).tolist()
        yield weights, [(t, right[t] if t % 3 else partners[t]) for t in range(n)] + [(0, n)]


EXERCISES = (
    Exercise(
        "09.cells",
        12 * 12 + 12 * 15 + 15 * 16 // 2,
        mistakes=(
            Mistake(
                12 * 13 // 2 + 12 * 15 + 15 * 16 // 2,
                "That is one text of 27 tokens in a GPT. An encoder has no mask: all of its 12 × 12 cells are open.",
            ),
            Mistake(12 * 12 + 15 * 16 // 2, "The decoder also looks across, from each of its 15 tokens at all 12."),
            Mistake(12 * 12 + 12 * 15 + 15 * 15, "The decoder's look at itself is masked: 1 + 2 + … + 15 cells."),
            Mistake(12 * 12 + 12 * 15 + 14 * 15 // 2, "A token may look at itself: the diagonal counts."),
        ),
        hints=("Three attentions: source to source, target to target, target to source.", "12 · 12 + … + 12 · 15"),
    ),
    Exercise(
        "09.pool",
        pool,
        _texts,
        mistakes=(
            Mistake(lambda x, real: x.mean(0), "Padding is no word: leave its rows out of the sum, and of the count."),
            Mistake(
                lambda x, real: (x * real[:, None]).mean(0),
                "The padding is out of the sum, but still in the count: divide by the number of real tokens.",
            ),
            Mistake(
                lambda x, real: x[real].mean(1), "The mean goes over the tokens, the first axis; one number a width."
            ),
            Mistake(
                lambda x, real: x[real].sum(0), "A long text would get a long vector: divide by the number of tokens."
            ),
            Mistake(lambda x, real: x[real][-1], "That is the last token alone, as a GPT would have it."),
        ),
        hints=("vectors[real] keeps the rows that count.", "Then the mean over the first axis."),
    ),
    Exercise(
        "09.shift",
        shift,
        lambda: [([5], 9), ([4, 7], 9), ([1, 2, 3], 0), (list(range(20, 3, -1)), 99), ([8, 8, 1, 8], 2)],
        mistakes=(
            Mistake(
                lambda words, end: (words, words),
                "Input and target at one position would be the same word: the decoder would copy it.",
            ),
            Mistake(
                lambda words, end: (words, [*words[1:], end]),
                "Nothing says how a translation begins: the first word must be told from the start mark.",
            ),
            Mistake(
                lambda words, end: ([end, *words[:-1]], words),
                "The end must be learned too, or the decoder never stops.",
            ),
            Mistake(
                lambda words, end: ([*words, end], [end, *words]),
                "Inputs and targets are exchanged: the decoder reads the past and says what comes.",
            ),
        ),
        hints=("Both are one longer than the translation.", "One begins with the end mark, the other ends with it."),
    ),
    Exercise(
        "09.cross",
        cross,
        _looks,
        mistakes=(
            Mistake(_masked_cross, "The whole source was there before the first word of the target: no mask across."),
            Mistake(lambda q, k, v: (q @ k.T).softmax(-1) @ v, "The scores are still divided by √dk."),
            Mistake(
                lambda q, k, v: (q @ k.T / q.shape[-1] ** 0.5).softmax(0) @ v,
                "The softmax goes over the source, along each row: each target word has 1 to share out.",
            ),
            Mistake(
                lambda q, k, v: (q @ k.T / len(k) ** 0.5).softmax(-1) @ v,
                "√dk is the width of a query, not the number of source words.",
            ),
        ),
        hints=("The scores are (T, S): q @ k.T / √dk.", "Softmax over the last axis, then @ v."),
    ),
    Exercise(
        "09.agreement",
        agreement,
        _alignments,
        mistakes=(
            Mistake(
                lambda w, pairs: sum((t, s) in pairs for s, t in enumerate(w.argmax(0).tolist())) / w.shape[1],
                "Ask each target word, a row, where it looks; you ask each source word who looks at it.",
            ),
            Mistake(
                lambda w, pairs: sum(float(w[t, s]) for t, s in pairs) / len(w),
                "That is the weight on the partners. Asked is how often the largest weight is on one.",
            ),
            Mistake(
                lambda w, pairs: sum((t, s) in pairs for t, s in enumerate(w.argmax(-1).tolist())) / len(pairs),
                "A word may have several partners: divide by the number of target words.",
            ),
            Mistake(
                lambda w, pairs: sum((s, t) in pairs for t, s in enumerate(w.argmax(-1).tolist())) / len(w),
                "The pairs are (target, source), in this order.",
            ),
        ),
        hints=("weights.argmax(-1) says for each target word where its largest weight is.", "(t, s) in alignment"),
    ),
)
