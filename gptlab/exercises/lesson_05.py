"""Exercises of lesson 05: the width of a head, heads split and joined, a head's score, attention rollout.

Axes: T tokens, d model width, H heads, dk = d / H, L layers.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake


def split(x: Tensor, n_heads: int) -> list:
    """(T,d) to (H,T,dk): head r gets the entries r·dk … (r+1)·dk − 1 of each token."""
    rows = x.tolist()
    dk = len(rows[0]) // n_heads
    return [[row[r * dk : (r + 1) * dk] for row in rows] for r in range(n_heads)]


def join(heads: Tensor, W_O: Tensor) -> list:
    """(H,T,dk) side by side to (T,d), times W_O (d,d)."""
    pieces, weights = heads.tolist(), W_O.tolist()
    joined = [[entry for head in pieces for entry in head[t]] for t in range(len(pieces[0]))]
    return [[sum(row[i] * weights[i][j] for i in range(len(row))) for j in range(len(weights[0]))] for row in joined]


def score(attention: Tensor, links: list[tuple[int, int]]) -> list:
    """Mean weight (L,H), over links (word, source word), from the token before the word to the source."""
    weights = attention.tolist()
    return [[sum(head[word][source + 1] for word, source in links) / len(links) for head in layer] for layer in weights]


def rollout(attention: Tensor) -> list:
    """The product of all layers, the first rightmost; each layer half its heads' mean, half the identity."""
    n_heads, n = attention.shape[1:3]
    product = torch.eye(n).tolist()
    for layer in attention.tolist():
        A = [[sum(head[i][j] for head in layer) / n_heads / 2 + (i == j) / 2 for j in range(n)] for i in range(n)]
        product = [[sum(A[i][k] * product[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    return product


def _splittable() -> Iterator[tuple[Tensor, int]]:
    yield torch.arange(4.0).view(1, 4), 2
    yield torch.arange(8.0).view(2, 4), 2
    generator = torch.Generator().manual_seed(0)
    for n_heads in (1, 2, 3, 4):
        for n_tokens in (3, 5):
            yield torch.randn(n_tokens, 6 * n_heads, generator=generator), n_heads


def _joinable() -> Iterator[tuple[Tensor, Tensor]]:
    yield torch.arange(4.0).view(2, 1, 2), torch.eye(4)
    yield torch.arange(8.0).view(2, 2, 2), torch.eye(4)
    generator = torch.Generator().manual_seed(1)
    for n_heads in (2, 3, 4):
        for n_tokens in (2, 5):
            d = 3 * n_heads
            yield torch.randn(n_heads, n_tokens, 3, generator=generator), torch.randn(d, d, generator=generator)


def _patterns(*shape: int, seed: int) -> Tensor:
    """Causal weights (L,H,T,T)."""
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * 2
    return scores.masked_fill(torch.ones(shape[-2:]).triu(1).bool(), float("-inf")).softmax(-1)


def _linked() -> Iterator[tuple[Tensor, list[tuple[int, int]]]]:
    yield _patterns(1, 1, 4, 4, seed=0), [(2, 0)]
    yield _patterns(1, 2, 4, 4, seed=1), [(2, 0), (2, 1)]
    for seed in range(2, 10):
        yield _patterns(2, 3, 8, 8, seed=seed), [(6, seed % 5), (4, 3), (5, 1)]


def _stacks() -> Iterator[tuple[Tensor]]:
    yield (_patterns(1, 1, 2, 2, seed=0),)
    yield (_patterns(2, 1, 2, 2, seed=1),)
    for seed in range(2, 8):
        yield (_patterns(1 + seed % 4, 3, 6, 6, seed=seed),)


def _product(layers: Tensor) -> Tensor:
    product = layers[0]
    for layer in layers[1:]:
        product = layer @ product
    return product


def _halved(attention: Tensor) -> Tensor:
    return attention.mean(1) / 2 + torch.eye(attention.shape[-1]) / 2


EXERCISES = (
    Exercise(
        "05.width",
        64,
        mistakes=(
            Mistake(768, "That is the width of the model, which all heads share."),
            Mistake(12, "That is how many heads there are in a layer."),
            Mistake(9216, "A head narrows: divide by the number of heads, do not multiply."),
            Mistake(192, "Queries, keys and values are each that wide by themselves; one third of this."),
        ),
        hints=("d_k = d / H.", "gptlab.GPTConfig.preset('gpt2') has d_model and n_heads."),
    ),
    Exercise(
        "05.split",
        split,
        _splittable,
        mistakes=(
            Mistake(
                lambda x, H: x.reshape(H, len(x), -1),
                "This cuts the list of numbers anew, across tokens: first (T, H, d_k), then swap the first two axes.",
            ),
            Mistake(
                lambda x, H: x.reshape(len(x), H, -1), "Nearly: the heads are still the second axis, not the first."
            ),
            Mistake(
                lambda x, H: x.reshape(len(x), -1, H).permute(2, 0, 1),
                "A head's entries stand next to one another in the vector; this deals them out in turn, like cards.",
            ),
            Mistake(
                lambda x, H: x.reshape(len(x), H, -1).permute(1, 2, 0),
                "Each head came out as (d_k, T): swap only the first two axes.",
            ),
        ),
        hints=(
            "Which axis of x is cut into H pieces: the tokens or the entries of a vector?",
            "x.view(T, H, d_k), then .transpose(0, 1).",
        ),
    ),
    Exercise(
        "05.join",
        join,
        _joinable,
        mistakes=(
            Mistake(
                lambda heads, W: heads.reshape(heads.shape[1], -1) @ W,
                "A reshape alone mixes tokens with heads: swap the first two axes back before it.",
            ),
            Mistake(
                lambda heads, W: heads.transpose(0, 1).flatten(1) @ W.T,
                "With row vectors it is Z W_O, without a transpose.",
            ),
            Mistake(
                lambda heads, W: heads.flip(0).transpose(0, 1).flatten(1) @ W,
                "The heads stand in the wrong order: head 0 comes first, and W_O's first rows are for it.",
            ),
            Mistake(
                lambda heads, W: heads.permute(1, 2, 0).flatten(1) @ W,
                "The heads are interleaved; each head's d_k entries stay together.",
            ),
            Mistake(lambda heads, W: heads.transpose(0, 1).flatten(1), "Now multiply by W_O."),
        ),
        hints=(
            "First undo the split: (H, T, d_k) to (T, H, d_k) to (T, d).",
            "heads.transpose(0, 1).reshape(T, d) @ W_O.",
        ),
    ),
    Exercise(
        "05.score",
        score,
        _linked,
        mistakes=(
            Mistake(
                lambda A, links: torch.stack([A[:, :, word + 1, source + 1] for word, source in links]).mean(0),
                "This is the row of the word itself, which predicts the word after it. Who predicts the word?",
            ),
            Mistake(
                lambda A, links: torch.stack([A[:, :, word, source] for word, source in links]).mean(0),
                "The query is right. But word j stands at token j + 1, behind end-of-text.",
            ),
            Mistake(
                lambda A, links: torch.stack([A[:, :, word - 1, source] for word, source in links]).mean(0),
                "Word i stands at token i + 1, since end-of-text comes first; the token before it is token i.",
            ),
            Mistake(
                lambda A, links: torch.stack([A[:, :, source + 1, word] for word, source in links]).mean(0),
                "Rows are queries, columns are keys: the later token looks at the earlier one.",
            ),
            Mistake(
                lambda A, links: torch.stack([A[:, :, word, source + 1] for word, source in links]).sum(0),
                "The places are right; take the mean over them, not the sum.",
            ),
        ),
        hints=(
            "Write down the tokens: 0 is end-of-text, word i is token i + 1.",
            "The prediction of word i is made at token i; there is your row. The source is column j + 1.",
        ),
    ),
    Exercise(
        "05.rollout",
        rollout,
        _stacks,
        mistakes=(
            Mistake(
                lambda A: _product(A.mean(1)),
                "The residual connection is missing: a token also keeps what it was. Mix in the identity.",
            ),
            Mistake(
                lambda A: _product(A.mean(1) + torch.eye(A.shape[-1])),
                "With the identity added, rows sum to 2: halve, so that they sum to 1 again.",
            ),
            Mistake(
                lambda A: _product(_halved(A).flip(0)),
                "The order is reversed: the last layer stands on the left, for it looks at what the earlier ones made.",
            ),
            Mistake(lambda A: _halved(A)[-1], "That is the last layer alone; multiply by those below it."),
            Mistake(
                lambda A: _product(A.sum(1) / 2 + torch.eye(A.shape[-1]) / 2),
                "Take the mean over the heads, not the sum.",
            ),
        ),
        hints=(
            "One layer: the mean over its heads, half of it, and half of the identity.",
            "product = layer @ product, beginning with the first layer.",
        ),
    ),
)
