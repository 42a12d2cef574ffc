"""Attention over a long text: the whole in blocks, and any part of it token by token.

Of 512 tokens a query gives most of them less than one per cent, which no colour shows. What a block of keys gets
together can be seen.
Axes: T queries (downwards) and T keys (to the right), b tokens a block.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    MASKED,
    area,
    as_array,
    canvas,
    escaped,
    per_cent_colours,
    percents,
    slider,
    staircase,
    token_axis,
    token_labels,
)

BLOCK = 8


def long_attention(
    weights: Any, tokens: Sequence[Any], parts: Mapping[str, tuple[int, int]], *, block: int = BLOCK
) -> go.Figure:
    """Draw one head's attention over a long text, with a slider that goes from the whole to its parts.

    The whole is drawn in blocks of b × b: what a query of the block gives all keys of the other together, on average.
    Everything else is token by token; drag over a place to zoom in further, double-click to come back.

    weights: (T,T) causal weights from 0 to 1. tokens: T labels, or pieces of a tokenizer. parts: name → the positions
    from its first token to behind its last. ValueError, naming it, for another shape, for weights above the diagonal or
    outside 0 … 1, for labels that do not fit, and for a part or a block that is empty or goes beyond the text.
    """
    weights, labels = as_array(weights, np.float32), token_labels(tokens)
    _check(weights, labels, parts, block)
    n = len(labels)
    blocks = _blocks(weights, block)
    views = {f"blocks of {block}": (0, n), "all": (0, n), **parts}
    steps = [
        (escaped(name), [{"visible": [place == 0, place > 0]}, _ranges(*ends), [0, 1]])
        for place, (name, ends) in enumerate(views.items())
    ]
    return canvas(
        [_block_map(blocks, block), _token_map(weights), area(*staircase(n), MASKED, shape="vh")],
        description=_description(weights, blocks, n, block, parts),
        height=700,
        xaxis=token_axis(labels, side="top", title={"text": "key: looked at"}),
        yaxis=token_axis(labels, title={"text": "query: looks"}) | {"range": [n - 0.5, -0.5]},
        coloraxis=per_cent_colours(),
        sliders=[slider("show:", steps, 0, top=20) | {"steps": [_update(*step) for step in steps]}],
        showlegend=False,
    )


def _update(label: str, args: list) -> dict[str, Any]:
    return {"label": label, "method": "update", "args": args}


def _ranges(start: int, stop: int) -> dict[str, list[float]]:
    return {"xaxis.range": [start - 0.5, stop - 0.5], "yaxis.range": [stop - 0.5, start - 0.5]}


def _blocks(weights: np.ndarray, block: int) -> np.ndarray:
    """(T/b, T/b): summed over the keys of a block, averaged over its queries; the last block may be a short one."""
    starts = np.arange(0, len(weights), block)
    by_key = np.add.reduceat(weights, starts, axis=1)
    n_queries = np.diff(np.append(starts, len(weights)))
    return np.add.reduceat(by_key, starts, axis=0) / n_queries[:, None]


def _block_map(blocks: np.ndarray, block: int) -> go.Heatmap:
    edges = np.arange(len(blocks) + 1) * block - 0.5
    return go.Heatmap(
        z=percents(blocks),
        x=edges.astype(np.float32),
        y=edges.astype(np.float32),
        coloraxis="coloraxis",
        hovertemplate="queries around %{y:.0f} → keys around %{x:.0f}: %{z} %<extra></extra>",
    )


def _token_map(weights: np.ndarray) -> go.Heatmap:
    positions = np.arange(len(weights), dtype=np.int16)
    return go.Heatmap(
        z=percents(weights),
        x=positions,
        y=positions,
        visible=False,
        coloraxis="coloraxis",
        hovertemplate="query ‘%{y}’ (%{y:d}) → key ‘%{x}’ (%{x:d}): %{z} %<extra></extra>",
    )


def _check(weights: np.ndarray, labels: list[str], parts: Mapping[str, tuple[int, int]], block: int) -> None:
    n = len(labels)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or 0 in weights.shape:
        raise refuse("the shape of weights", weights.shape, "(tokens, tokens) of one head: attention[layer, head]")
    if n != len(weights):
        raise refuse("the number of tokens", n, f"{len(weights)}, as weights are {len(weights)} × {len(weights)}")
    if not ((weights >= 0) & (weights <= 1 + 1e-3)).all() or np.triu(weights, 1).any():
        raise refuse("weights", weights.tolist(), "from 0 to 1, with nothing above the diagonal")
    if isinstance(block, bool) or not isinstance(block, int) or not 1 <= block <= n:
        raise refuse("block", block, f"a whole number of tokens, from 1 to {n}")
    for name, (start, stop) in parts.items():
        if not 0 <= start < stop <= n:
            raise refuse(f"parts[{name!r}]", (start, stop), f"(first, behind the last) of positions within {n} tokens")


def _description(
    weights: np.ndarray, blocks: np.ndarray, n: int, block: int, parts: Mapping[str, tuple[int, int]]
) -> str:
    """How near the looks are, and how much of them stays in each query's own part."""
    near = float(np.mean([weights[query, max(0, query - block + 1) :].sum() for query in range(n)]))
    said = f"Attention of one head to {n} tokens: {near:.2f} of it goes to the nearest {block}"
    if parts:
        inside = [weights[start:stop, start:stop].sum(1) for start, stop in parts.values()]
        said += f"; {float(np.concatenate(inside).mean()):.2f} stays within its own of {len(parts)} parts"
    return f"{said}; largest block {float(blocks.max()):.2f}."
