"""Attention one step at a time: what becomes of one query's products with the keys, until values are added up.

Axes: T keys (downwards, the first on top; a last row Σ adds up), the steps (to the right), dk components of a value.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    INK,
    MOST_TICKS,
    ORANGE,
    TEXT_PX,
    as_array,
    canvas,
    px,
    slider,
    token_axis,
    token_labels,
)

STEPS = ("q · k", "÷ √dk", "+ mask", "softmax", "sum")
HEADINGS = ("q · k", "÷ √d<sub>k</sub>", "+ mask", "softmax")
# Each trace by the step that makes it appear: four columns of numbers, the weighted values, what is masked, the query.
APPEARS_AT = (1, 2, 3, 4, 5, 3, 4, 1)
# Pale, so that black numbers can be read on them: blue below 0, orange above.
PALE = [[0.0, "#8ec3ea"], [0.5, "#f2f2f2"], [1.0, "#f3b07f"]]
# By the root on either side of 0: the first query, whose only weight is 1, would leave the others' values blank.
ROOTED_PALE = [
    [(1 + side) / 2, sample_colorscale(PALE, (1 + np.sign(side) * abs(side) ** 0.5) / 2)[0]]
    for side in (step / 10 for step in range(-10, 11))
]


class Reckoning(NamedTuple):
    """What one query's attention comes to, step by step."""

    products: np.ndarray  # (T,)   q_i · k_j
    scaled: np.ndarray  # (T,)     divided by √dk
    masked: np.ndarray  # (T,)     -inf where the query may not look
    weights: np.ndarray  # (T,)    softmax of these
    parts: np.ndarray  # (T,dk)    weight × value
    output: np.ndarray  # (dk,)    their sum


def attention_steps(
    q: Any,
    k: Any,
    v: Any,
    tokens: Sequence[Any],
    *,
    query: int | None = None,
    step: int = len(STEPS),
    causal: bool = True,
    slides: bool = True,
) -> go.Figure:
    """Draw how one token's query becomes a weighted sum of values, up to a step from 1 to 5.

    q, k: (T,dk), v: (T,dv) of one head. tokens: T labels, or pieces of a tokenizer. query: the position that looks,
    the last if None. causal: whether keys after the query are masked. slides: whether sliders that work in the browser
    alone choose the query and the step; of more than 24 tokens the step alone.
    ValueError, naming it, for another shape, for labels that do not fit it, and for a query or a step out of range.
    """
    q, k, v, labels = (*(as_array(part, np.float64) for part in (q, k, v)), token_labels(tokens))
    query = len(labels) - 1 if query is None else query
    _check(q, k, v, labels, query, step)
    every = [_reckon(q, k, v, position, causal) for position in range(len(labels))]
    traces = _traces(every, labels)
    for number, trace in enumerate(traces):
        moved = {name: values[number] for name, values in _moved(every[query], query).items()}
        trace.update({name: value for name, value in moved.items() if value is not None})
        trace.update(visible=APPEARS_AT[number] <= step)
    sliders = [_step_slider(step)] if slides else []
    if slides and len(labels) <= MOST_TICKS:
        sliders.append(_query_slider(every, query))
    n_rows = len(labels) + 1
    rows = token_axis([*labels, "Σ"], title={"text": "key"}) | {"range": [n_rows - 0.5, -0.5]}
    top = {"side": "top", "showgrid": False, "zeroline": False, "fixedrange": True}
    columns = {"tickvals": list(range(len(HEADINGS))), "ticktext": list(HEADINGS), "range": [-0.8, 3.5]}
    values = {"showticklabels": False, "ticks": "", "title": {"text": f"weight × value: {v.shape[1]} components"}}
    return canvas(
        traces,
        description=_description(every[query], labels, query, step),
        height=min(max(30 * n_rows, 200), 520) + 100 + 90 * len(sliders),
        xaxis=top | columns | {"domain": [0, 0.5]},
        xaxis2=top | values | {"domain": [0.55, 1]},
        yaxis=rows,
        shapes=[_line_above_the_sum(len(labels), axis) for axis in ("x", "x2")],
        sliders=sliders,
        showlegend=False,
    )


def _reckon(q: np.ndarray, k: np.ndarray, v: np.ndarray, query: int, causal: bool) -> Reckoning:
    products = k @ q[query]
    scaled = products / sqrt(q.shape[1])
    future = np.arange(len(k)) > query
    masked = np.where(future & causal, -np.inf, scaled)
    powers = np.exp(masked - masked.max())
    weights = powers / powers.sum()
    parts = weights[:, None] * v
    return Reckoning(products, scaled, masked, weights, parts, parts.sum(0))


def _traces(every: Sequence[Reckoning], labels: list[str]) -> list[Any]:
    """All traces without what depends on the query; the colours mean the same for every query."""
    key = "key ‘%{y}’ (%{y:d}): "
    numbers = {"texttemplate": "%{z:.2f}", "textfont": {"size": px(TEXT_PX), "color": "#111"}}
    written = numbers if len(labels) <= MOST_TICKS else {}
    ends = [max(np.abs(one.products).max() for one in every), max(np.abs(one.scaled).max() for one in every)]
    ends += [ends[1], 1.0, max(max(np.abs(one.parts).max(), np.abs(one.output).max()) for one in every)]
    columns = [
        go.Heatmap(x=[column], hovertemplate=f"{key}{HEADINGS[column]} = %{{z:.3f}}<extra></extra>", **written)
        for column in range(len(HEADINGS))
    ]
    n_components = every[0].parts.shape[1]
    of_component = f"{key}component %{{x}} of weight × value = %{{z:.3f}}<extra></extra>"
    values = go.Heatmap(x=np.arange(n_components, dtype=np.int16), xaxis="x2", hovertemplate=of_component, ygap=1)
    for trace, end in zip([*columns, values], ends, strict=True):
        end = float(end) or 1.0
        trace.update(colorscale=PALE, zmin=-end, zmax=end, showscale=False, hoverongaps=False)
    values.update(colorscale=ROOTED_PALE)
    for trace in columns:
        trace.update(xgap=3, ygap=1)
    grey = {"size": px(TEXT_PX), "color": INK}
    marks = [go.Scatter(mode="text", text=text, textfont=grey, hoverinfo="skip") for text in ("−∞", "0")]
    arrow = {"symbol": "triangle-right", "size": px(14), "color": ORANGE}
    looks = go.Scatter(mode="markers", marker=arrow, hovertemplate="the query<extra></extra>")
    return [*columns, values, *marks, looks]


def _moved(one: Reckoning, query: int) -> dict[str, list]:
    """What each trace takes for a query: z, x and y, or None for what it does not have or keeps."""
    unmasked = np.where(np.isfinite(one.masked), one.masked, np.nan)
    weights = np.where(np.isfinite(one.masked), one.weights, np.nan)
    columns = [one.products, one.scaled, unmasked, np.append(weights, one.weights.sum())]
    tables = [column[:, None] for column in columns] + [np.vstack([one.parts, one.output])]
    hidden = np.flatnonzero(~np.isfinite(one.masked)).tolist()
    return {
        "z": [*([[_six_digits(cell) for cell in row] for row in table] for table in tables), None, None, None],
        "x": [None] * len(tables) + [[2] * len(hidden), [3] * len(hidden), [-0.65]],
        "y": [list(range(len(table))) for table in tables] + [hidden, hidden, [query]],
    }


def _six_digits(number: float) -> float | None:
    """A number as short as its precision allows, for slides hold it in writing; None where there is none."""
    return float(f"{number:.6g}") if np.isfinite(number) else None


def _query_slider(every: Sequence[Reckoning], query: int) -> dict[str, Any]:
    numbers = list(range(len(APPEARS_AT)))
    steps = []
    for position, one in enumerate(every):
        moved = _moved(one, position)
        # Of x only the marks move; a slider has one list for all traces, so the columns are told theirs again.
        moved["x"][:5] = [[0], [1], [2], [3], list(range(one.parts.shape[1]))]
        steps.append((str(position), [moved, numbers]))
    return slider("query", steps, query, top=110)


def _step_slider(step: int) -> dict[str, Any]:
    numbers = list(range(len(APPEARS_AT)))
    steps = [
        (name, [{"visible": [first <= number for first in APPEARS_AT]}, numbers])
        for number, name in enumerate(STEPS, start=1)
    ]
    return slider("step", steps, step - 1, top=20)


def _line_above_the_sum(n_tokens: int, axis: str) -> dict[str, Any]:
    ends = {"x0": 0, "x1": 1, "xref": f"{axis} domain", "y0": n_tokens - 0.5, "y1": n_tokens - 0.5}
    return ends | {"type": "line", "line": {"color": INK, "width": 2}}


def _check(q: np.ndarray, k: np.ndarray, v: np.ndarray, labels: list[str], query: int, step: int) -> None:
    for name, part in (("q", q), ("k", k), ("v", v)):
        if part.ndim != 2 or 0 in part.shape:
            raise refuse(f"the shape of {name}", part.shape, "(tokens, components) of one head and one sequence")
    if k.shape != q.shape or len(v) != len(q):
        raise refuse("the shapes of k and v", (k.shape, v.shape), f"{q.shape} and {len(q)} rows, as q")
    if len(labels) != len(q):
        raise refuse("the number of tokens", len(labels), f"{len(q)}, as q has rows")
    if not np.isfinite(np.concatenate([q, k, v], axis=None)).all():
        raise refuse("q, k or v", "with NaN or inf in it", "finite")
    if not 0 <= query < len(q):
        raise refuse("query", query, f"a position from 0 to {len(q) - 1}")
    if not 1 <= step <= len(STEPS):
        raise refuse("step", step, f"from 1 to {len(STEPS)}")


def _description(one: Reckoning, labels: list[str], query: int, step: int) -> str:
    best = int(one.weights.argmax())
    said = [
        f"q·k is {one.products[best]:.2f}",
        f"÷ √dk {one.scaled[best]:.2f}",
        f"with the mask {one.masked[best]:.2f}",
        f"the weight {one.weights[best]:.2f}",
        f"the weighted sum has length {np.linalg.norm(one.output):.2f}",
    ]
    return (
        f"Attention of the query ‘{labels[query]}’ ({query}) among {len(labels)} tokens, step {step} of {len(STEPS)}: "
        f"for the key ‘{labels[best]}’ ({best}), which it looks at most, {', '.join(said[:step])}."
    )
