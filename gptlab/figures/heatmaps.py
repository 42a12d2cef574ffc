"""Attention as a heatmap: who looks at whom.

Axes: L layers, H heads, T queries (downwards, the first on top) and S keys (to the right); the same tokens, T = S,
unless the keys are those of another text.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._attentions import attention_of
from gptlab.figures._canvas import (
    MOST_TICKS,
    ROOTED,
    canvas,
    percents,
    px,
    slider,
    token_axis,
    token_labels,
    turned_px,
)

HOVER = "query ‘%{y}’ (%{y:d}) → key ‘%{x}’ (%{x:d}): "
ROW_PX = 20  # of rows that each have a label, the least
HEATMAP = 0  # which of the figure's traces holds the weights of a single head
CAUSAL = "masked: a token does not look at later ones"
MASKED = "masked: not looked at"


def attention_heatmap(
    weights: Any,
    tokens: Sequence[Any],
    *,
    keys: Sequence[Any] | None = None,
    part: str | None = None,
    values: str = "weights",
    marks: Collection[tuple[int, int]] | None = None,
    layer: int = 0,
    head: int = 0,
) -> go.Figure:
    """Draw how much each query looks at each key: one head, or all with a layer and a head slider.

    weights: (T,S), or (L,H,T,S), of which `layer` and `head` are shown first; or a trace, or the output of a model of
    `transformers` that read one text with output_attentions=True. Numbers from 0 to 1, or whole per cents in uint8, as
    `percents` makes them: many heads are drawn so, which keeps pages small.
    tokens: T labels, or pieces of a tokenizer. keys: S of them where others are looked at, as in cross-attention.
    part: of an output that holds several: "self", "encoder", "decoder" or "cross".
    values: "weights", or "scores" for (T,S) of any size, what softmax takes.
    marks: (query, key) of cells to ring, such as those of words that are known to belong together.

    NaN and -inf are drawn as masked, and so are the weights above the diagonal if all are 0 and there are no other
    keys. ValueError, naming it, for another shape, for labels that do not fit it, for +inf and for weights outside
    0 … 1.
    """
    weights, labels = attention_of(weights, part), token_labels(tokens)
    key_labels = labels if keys is None else _key_labels(keys)
    _check(weights, labels, None if keys is None else key_labels, values, layer, head)
    rings = [] if marks is None else [_rings(_inside(marks, weights.shape[-2:]))]
    masked = _masked(weights, values, causal=keys is None)
    if weights.ndim == 4:
        weights = percents(weights)
    heads = weights.reshape(-1, *weights.shape[-2:])
    here = layer * weights.shape[1] + head if weights.ndim == 4 else 0
    hover, colours = _unit(heads[here], values)
    traces = [_heatmap(matrix, masked, hover) for matrix in heads]
    sliders = _sliders(*weights.shape[:2], layer, head) if weights.ndim == 4 else []
    for index, trace in enumerate(traces):
        trace.update(visible=index // weights.shape[1] == layer if weights.ndim == 4 else True)
        if weights.ndim == 4 and index % weights.shape[1] != head:
            trace.update(opacity=0, hoverinfo="skip")
    side = min(max(30 * len(labels), 280), 440 if sliders else 520)
    side = max(side, ROW_PX * min(len(labels), MOST_TICKS)) + turned_px(key_labels)
    return canvas(
        [*traces, _mask(masked), *rings],
        description=_description(weights, heads[here], (labels, key_labels), values, layer, head)
        + _hits(heads[here], marks),
        height=side + 80 + 90 * len(sliders),
        xaxis=token_axis(key_labels, side="top", title={"text": "key: looked at"}),
        yaxis=token_axis(labels, title={"text": "query: looks"}) | {"range": [len(labels) - 0.5, -0.5]},
        coloraxis=colours,
        sliders=sliders,
        showlegend=False,
    )


def _unit(matrix: np.ndarray, values: str) -> tuple[str, dict[str, Any]]:
    """How a hover says a cell, and what the colours mean."""
    bar = {"thickness": px(16)}
    if values == "scores":
        finite = matrix[np.isfinite(matrix)] if np.isfinite(matrix).any() else np.zeros(1)
        ends = {"cmin": float(finite.min()), "cmax": float(finite.max())}
        return "%{z:.2f}", {"colorscale": "Viridis", **ends, "colorbar": bar | {"tickformat": ".1f"}}
    if matrix.dtype == np.uint8:
        bar |= {"tickformat": "d", "ticksuffix": " %"}
        return "%{z} %", {"colorscale": ROOTED, "cmin": 0, "cmax": 100, "colorbar": bar}
    return "%{z:.0%}", {"colorscale": ROOTED, "cmin": 0, "cmax": 1, "colorbar": bar | {"tickformat": ".0%"}}


def _heatmap(matrix: np.ndarray, masked: np.ndarray, unit_hover: str) -> go.Heatmap:
    if matrix.dtype != np.uint8:
        matrix = np.where(masked, np.nan, matrix).astype(np.float32)
    queries, keys = (np.arange(length, dtype=np.int16) for length in matrix.shape)
    gap = 1 if max(matrix.shape) <= MOST_TICKS else 0
    return go.Heatmap(
        z=matrix,
        x=keys,
        y=queries,
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=f"{HOVER}{unit_hover}<extra></extra>",
        xgap=gap,
        ygap=gap,
    )


def _mask(masked: np.ndarray) -> go.Scatter:
    """A hatched sheet over the masked cells: bytes know no NaN that could leave them empty."""
    x, y = [], []
    for row, cells in enumerate(masked):
        edges = np.flatnonzero(np.diff(cells.astype(np.int8), prepend=0, append=0)).tolist()
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            x += [start - 0.5, end - 0.5, end - 0.5, start - 0.5, None]
            y += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillpattern={"shape": "/", "fgcolor": "#989898", "bgcolor": "#acacac", "size": px(8), "solidity": 0.2},
        hoveron="fills",
        hoverinfo="text",
        text=CAUSAL if np.array_equal(masked, _above_diagonal(masked.shape)) else MASKED,
    )


def _rings(marks: Collection[tuple[int, int]]) -> go.Scatter:
    """A white ring on a wider black one, each mark twice: to be seen on every colour."""
    n = len(marks)
    return go.Scatter(
        x=[key for _, key in marks] * 2,
        y=[query for query, _ in marks] * 2,
        mode="markers",
        marker={
            "size": px(16),
            "color": "rgba(0, 0, 0, 0)",
            "line": {"width": [px(5)] * n + [px(2)] * n, "color": ["#000"] * n + ["#fff"] * n},
        },
        hoverinfo="skip",
    )


def _sliders(n_layers: int, n_heads: int, layer: int, head: int) -> list[dict]:
    """Two sliders that know nothing of each other: the layer's decides what is visible, the head's what is opaque.

    Of one layer, or of one head, there is nothing to choose, and no slider.
    """
    pairs = [(la, he) for la in range(n_layers) for he in range(n_heads)]
    every = list(range(len(pairs)))
    layers = [(str(n), [{"visible": [la == n for la, _ in pairs]}, every]) for n in range(n_layers)]
    heads = []
    for n in range(n_heads):
        opacity = [float(he == n) for _, he in pairs]
        hover = ["all" if he == n else "skip" for _, he in pairs]
        heads.append((str(n), [{"opacity": opacity, "hoverinfo": hover}, every]))
    choices = [("layer", layers, layer), ("head", heads, head)]
    choices = [choice for choice in choices if len(choice[1]) > 1]
    return [slider(*choice, top=20 + 90 * place) for place, choice in enumerate(choices)]


def _masked(weights: np.ndarray, values: str, causal: bool) -> np.ndarray:
    """(T,S), True where nothing can be looked at, in any head; `causal`: a triangle of zeros is taken for a mask."""
    above = _above_diagonal(weights.shape[-2:])
    flat = weights.reshape(-1, *above.shape)
    masked = ~np.isfinite(flat).all(0)
    if causal and values == "weights" and not flat[:, above & ~masked].any():
        masked |= above
    return masked


def _above_diagonal(shape: tuple[int, ...]) -> np.ndarray:
    return np.triu(np.ones(shape, bool), 1)


def _key_labels(keys: Sequence[Any]) -> list[str]:
    if isinstance(keys, str):
        raise refuse("keys", keys, "a list of token labels, not one string")
    return token_labels(keys)


def _inside(marks: Collection[tuple[int, int]], shape: tuple[int, ...]) -> Collection[tuple[int, int]]:
    for query, key in marks:
        if not (0 <= query < shape[0] and 0 <= key < shape[1]):
            raise refuse("a mark", (query, key), f"(query, key), from (0, 0) to {(shape[0] - 1, shape[1] - 1)}")
    return marks


def _hits(matrix: np.ndarray, marks: Collection[tuple[int, int]] | None) -> str:
    """How many rows that have a ring have their largest weight in one."""
    if not marks:
        return ""
    queries = sorted({query for query, _ in marks})
    hits = sum((query, int(np.nanargmax(matrix[query]))) in set(marks) for query in queries)
    return f" The largest weight of {hits} of {len(queries)} rows is ringed."


def _check(
    weights: np.ndarray, labels: list[str], key_labels: list[str] | None, values: str, layer: int, head: int
) -> None:
    shape = weights.shape
    if values not in ("weights", "scores"):
        raise refuse("values", values, "'weights' or 'scores'")
    if weights.ndim in (2, 4) and shape[-1] != shape[-2] and key_labels is None:
        what = "as many keys as queries; where other tokens are looked at, name them: keys=[…]"
        raise refuse("the shape of weights", shape, what)
    if weights.ndim not in (2, 4) or 0 in shape:
        first = {3: "; of a batch, or of heads, draw one: weights[0]", 5: "; of a batch draw one: weights[:, 0]"}
        what = "(tokens, tokens) of one sequence, or (layers, heads, tokens, tokens)"
        raise refuse("the shape of weights", shape, what + first.get(weights.ndim, ""))
    for name, found, needed in (("tokens", labels, shape[-2]), ("keys", key_labels, shape[-1])):
        if found is not None and len(found) != needed:
            raise refuse(f"the number of {name}", len(found), f"{needed}, as weights are {shape[-2]} × {shape[-1]}")
    if values == "scores" and weights.ndim == 4:
        raise refuse("the shape of scores", shape, "(tokens, tokens): one head at a time")
    if weights.ndim == 4 and not (0 <= layer < shape[0] and 0 <= head < shape[1]):
        raise refuse("(layer, head)", (layer, head), f"from (0, 0) to {(shape[0] - 1, shape[1] - 1)}")
    high = 100 if weights.dtype == np.uint8 else 1 + 1e-3
    beyond = np.isposinf(weights)
    if values == "weights":
        beyond |= np.isfinite(weights) & ((weights < 0) | (weights > high))
    if beyond.any():
        place = tuple(np.argwhere(beyond)[0].tolist())
        what = "finite"
        if values == "weights":
            what = "a weight from 0 to 1 (of a model with dropout on, after eval()); or values='scores', before softmax"
        raise refuse(f"weights{list(place)}", float(weights[place]), what)


def _description(
    weights: np.ndarray, matrix: np.ndarray, labels: tuple[list[str], list[str]], values: str, layer: int, head: int
) -> str:
    what, (queries, keys) = "Attention scores" if values == "scores" else "Attention", labels
    which = ""
    if weights.ndim == 4:
        which = f", layer {layer} head {head} of {weights.shape[0]} layers with {weights.shape[1]} heads"
    last = np.where(np.isfinite(matrix[-1]), matrix[-1], -np.inf)
    share = 100 if matrix.dtype == np.uint8 else 1
    first, *others = np.argsort(-last, kind="stable")[:2]
    looks = f"the last token ‘{queries[-1]}’ looks most at ‘{keys[first]}’ ({first}): {last[first] / share:.2f}"
    if others and np.isfinite(last[others[0]]):
        looks += f", then at ‘{keys[others[0]]}’ ({others[0]}): {last[others[0]] / share:.2f}"
    among = "" if keys is queries else f" to {len(keys)} key{'s' * (len(keys) > 1)}"
    return f"{what} of {len(queries)} token{'s' * (len(queries) > 1)}{among}{which}: {looks}."
