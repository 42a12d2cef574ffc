"""Attention as arcs between words: from each query back to the keys that it looks at, the broader the more.

Axes: L layers, H heads, T queries and T keys, both on the one line of words. Arcs to earlier words go above it, arcs to
later words below. At the key an arc is broad, at the query narrow.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._attentions import attention_of
from gptlab.figures._canvas import INK, area, canvas, columns, escaped, px, slider, token_axis, token_labels

LEAST = 0.1  # smaller weights would hide the others under threads
MOST_NAMED = 40  # labels that fit side by side when they are turned
LINE_CHARACTERS = 80  # of labels that need no turning
ARC_POINTS = 17
FILL = "rgba(40, 150, 220, 0.85)"
HOVER = "%{text}: %{customdata:.0%}<extra></extra>"
# Of a head that is not shown: what is asked for by a template is said whatever hoverinfo says, so that goes as well.
SILENT, SPEAKING = {"hoverinfo": "skip", "hovertemplate": ""}, {"hoverinfo": "all", "hovertemplate": HOVER}
PER_HEAD = 2  # traces: the arcs, and a point on top of each that says what it is


def attention_arcs(
    weights: Any,
    tokens: Sequence[Any],
    *,
    part: str | None = None,
    layer: int = 0,
    head: int = 0,
    query: int | None = None,
    slides: bool = True,
) -> go.Figure:
    """Draw who looks at whom as arcs over the text, those of weight 10 % and more.

    weights: (T,T) from 0 to 1, or (L,H,T,T), of which `layer` and `head` are shown first; or whole per cents in uint8;
    or whatever else `attention_heatmap` takes, and `part` as there. tokens: T labels, or pieces of a tokenizer. query:
    the one position whose arcs are drawn; None draws all. slides: whether sliders that work in the browser alone choose
    layer and head.
    ValueError, naming it, for another shape, for labels that do not fit it, for weights outside 0 … 1 and for a query,
    layer or head that is not there.
    """
    weights, labels = attention_of(weights, part), token_labels(tokens)
    weights = weights.astype(np.float64) / (100 if weights.dtype == np.uint8 else 1)
    _check(weights, labels, layer, head, query)
    all_heads = weights.reshape(-1, *weights.shape[-2:])
    n_heads = weights.shape[1] if weights.ndim == 4 else 1
    here = layer * n_heads + head if weights.ndim == 4 else 0
    slides = slides and weights.ndim == 4
    traces = []
    for number, matrix in enumerate(all_heads if slides else all_heads[here : here + 1]):
        shown = not slides or number % n_heads == head
        visible = not slides or number // n_heads == layer
        ribbons, tops = _arcs(matrix, labels, query)
        tops.update(SPEAKING if shown else SILENT)
        traces += [trace.update(visible=visible, opacity=float(shown)) for trace in (ribbons, tops)]
    above, beneath = _reach(np.tril(all_heads)) or 1.0, _reach(np.triu(all_heads, 1))
    words, words_px = _words(labels)
    sliders = _sliders(*weights.shape[:2], layer, head, words_px) if slides else []
    return canvas(
        traces,
        description=_description(weights, all_heads[here], labels, layer, head, query),
        height=320 + 120 * bool(beneath) + words_px + 90 * len(sliders),
        xaxis=words,
        yaxis={"visible": False, "fixedrange": True, "range": [-beneath, above]},
        shapes=[{"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": {"color": INK}}],
        margin={"r": px(16 + 7 * len(labels[-1]) * (words["tickangle"] != 0))},  # where the last one, turned, ends
        sliders=sliders,
        showlegend=False,
    )


def _arcs(matrix: np.ndarray, labels: list[str], query: int | None) -> tuple[go.Scatter, go.Scatter]:
    looks = [(i, j) for i, j in np.argwhere(matrix >= LEAST).tolist() if query in (None, i)]
    x, y = [], []
    for i, j in looks:
        arc_x, arc_y = _ribbon(i, j, matrix[i, j], len(labels))
        x += [*arc_x, np.nan]
        y += [*arc_y, np.nan]
    ribbons = area(x, y, FILL, hoveron="points")
    tops = go.Scatter(
        x=[(i + j) / 2 for i, j in looks],
        y=np.array([_side(i, j) * _height(abs(i - j)) for i, j in looks], np.float32),
        customdata=np.array([matrix[i, j] for i, j in looks], np.float32),
        text=[f"query ‘{escaped(labels[i])}’ ({i}) → key ‘{escaped(labels[j])}’ ({j})" for i, j in looks],
        mode="markers",
        marker={"size": px(14), "color": "rgba(0, 0, 0, 0)"},
    )
    return ribbons, tops


def _ribbon(query: int, key: int, weight: float, n_tokens: int) -> tuple[list[float], list[float]]:
    """The outline of an arc, there along its outer side and back along the inner one."""
    angle = np.linspace(0, np.pi, ARC_POINTS)  # from the query to the key
    breadth = weight * np.linspace(0.3, 1, ARC_POINTS)
    across = 0.2 * breadth  # in words: an arc of weight 1 lands on four tenths of a word
    along = 0.04 * _height(n_tokens) * breadth
    half = (query - key) / 2 if query != key else 0.25
    height, side = _height(abs(query - key)), _side(query, key)
    sign = 1 if half > 0 else -1
    x, y = [], []
    for edge in (1, -1):
        x.append((query + key) / 2 + (half + sign * edge * across) * np.cos(angle))
        y.append(side * (height + edge * along) * np.sin(angle))
    return [*x[0], *x[1][::-1]], [*y[0], *y[1][::-1]]


def _height(distance: int) -> float:
    """Of an arc over so many words: far ones are higher, if less than in proportion; a look at oneself is low."""
    return max(distance, 0.4) ** 0.7


def _reach(weights: np.ndarray) -> float:
    """How far from the line the arcs of all heads come; 0 if there are none."""
    _, queries, keys = np.nonzero(weights >= LEAST)
    return 1.1 * _height(int(abs(queries - keys).max())) if len(queries) else 0.0


def _side(query: int, key: int) -> int:
    return 1 if key <= query else -1


def _words(labels: list[str]) -> tuple[dict[str, Any], int]:
    """The axis of words, and the pixels that they take below it."""
    axis = token_axis(labels, fixedrange=True, tickangle=0)
    if len(labels) <= MOST_NAMED:
        named = {"tickmode": "array", "tickvals": list(range(len(labels))), "labelalias": {}}
        axis |= named | {"ticktext": [escaped(label) for label in labels]}
    longest = max(map(len, labels))
    if longest * len(labels) <= columns(LINE_CHARACTERS):
        return axis, 30
    return axis | {"tickangle": 45, "ticklabeloverflow": "allow"}, 30 + 7 * longest


def _sliders(n_layers: int, n_heads: int, layer: int, head: int, words_px: int) -> list[dict]:
    """Two sliders that know nothing of each other: the layer's decides what is visible, the head's what is opaque.

    Of one layer, or of one head, there is nothing to choose, and no slider.
    """
    owners = [(la, he) for la in range(n_layers) for he in range(n_heads) for _ in range(PER_HEAD)]
    every = list(range(len(owners)))
    layers = [(str(n), [{"visible": [la == n for la, _ in owners]}, every]) for n in range(n_layers)]
    heads = []
    for n in range(n_heads):
        said = [SPEAKING if he == n and k % PER_HEAD else SILENT for k, (_, he) in enumerate(owners)]
        shown = {"opacity": [float(he == n) for _, he in owners]}
        heads.append((str(n), [shown | {key: [one[key] for one in said] for key in SILENT}, every]))
    choices = [("layer", layers, layer), ("head", heads, head)]
    choices = [choice for choice in choices if len(choice[1]) > 1]
    return [slider(*choice, top=words_px + 90 * place) for place, choice in enumerate(choices)]


def _check(weights: np.ndarray, labels: list[str], layer: int, head: int, query: int | None) -> None:
    shape = weights.shape
    if weights.ndim not in (2, 4) or shape[-1] != shape[-2] or 0 in shape:
        what = "(tokens, tokens) of one sequence, or (layers, heads, tokens, tokens)"
        raise refuse("the shape of weights", shape, what)
    if len(labels) != shape[-1]:
        raise refuse("the number of tokens", len(labels), f"{shape[-1]}, as weights are {shape[-2]} × {shape[-1]}")
    if weights.ndim == 4 and not (0 <= layer < shape[0] and 0 <= head < shape[1]):
        raise refuse("(layer, head)", (layer, head), f"from (0, 0) to {(shape[0] - 1, shape[1] - 1)}")
    if query is not None and not 0 <= query < shape[-1]:
        raise refuse("query", query, f"None, or a position from 0 to {shape[-1] - 1}")
    wrong = ~((weights >= 0) & (weights <= 1 + 1e-3))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise refuse(f"weights{list(place)}", float(weights[place]), "a weight from 0 to 1")


def _description(
    weights: np.ndarray, matrix: np.ndarray, labels: list[str], layer: int, head: int, query: int | None
) -> str:
    which = f", layer {layer} head {head}" if weights.ndim == 4 else ""
    looking = range(len(labels)) if query is None else [query]
    best = sorted(((i, int(matrix[i].argmax())) for i in looking), key=lambda pair: -matrix[pair])
    few = [f"‘{labels[i]}’ ({i}) looks at ‘{labels[j]}’ ({j}): {matrix[i, j]:.2f}" for i, j in _no_looks_at_0(best)[:3]]
    n_arcs = int((matrix[list(looking)] >= LEAST).sum())
    arcs = f"{n_arcs} arc{'s' * (n_arcs != 1)}"
    said = f": {'; '.join(few)}" if few else ""
    return f"Attention among {len(labels)} tokens{which} as {arcs} of at least {LEAST:.0%}{said}."


def _no_looks_at_0(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without the looks at the first token, which mostly mean nothing, unless there are no others."""
    return [pair for pair in pairs if pair[1] != 0] or pairs
