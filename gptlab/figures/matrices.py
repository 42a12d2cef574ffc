"""A matrix of numbers as a heatmap: similarities, differences, weights.

Axes: R rows (downwards, the first on top), C columns.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import MOST_TICKS, as_array, canvas, escaped, px, token_axis, token_labels, turned_px

# Blue, white in both themes' middle grey, orange: told apart by colour-blind readers, and in grey by the sign's side.
DIVERGING = [[0.0, "#0072B2"], [0.5, "#f2f2f2"], [1.0, "#D55E00"]]

ONE = [[0.0, "#21918c"], [1.0, "#21918c"]]  # where all values are equal
MOST_WHOLE = 8  # numbers beside a bar


def matrix_heatmap(
    values: Any,
    rows: Sequence[Any],
    columns: Sequence[Any],
    *,
    name: str,
    row_name: str = "",
    column_name: str = "",
    diverging: bool = False,
) -> go.Figure:
    """Draw a matrix of any numbers; `name` says what they are.

    values: (R,C), NaN for an empty cell. rows, columns: R and C labels, or pieces of a tokenizer. diverging: colours
    that part negative from positive numbers, with 0 in the middle; else from the smallest to the largest.
    ValueError, naming it, for another shape and for labels that do not fit it.
    """
    values = as_array(values, np.float32)
    labels = token_labels(rows), token_labels(columns)
    if values.ndim != 2 or 0 in values.shape:
        raise refuse("the shape of values", values.shape, "(rows, columns), with at least one of each")
    if values.shape != tuple(map(len, labels)):
        raise refuse("the number of labels", tuple(map(len, labels)), f"{values.shape}, as values")
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    whole = bool(finite.size) and bool((finite == np.rint(finite)).all())
    if diverging:
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    gap = 1 if max(values.shape) <= MOST_TICKS else 0
    trace = go.Heatmap(
        z=values,
        coloraxis="coloraxis",
        hoverongaps=False,
        xgap=gap,
        ygap=gap,
        hovertemplate=f"%{{y}} (%{{y:d}}), %{{x}} (%{{x:d}}): {escaped(name)} %{{z:.3~g}}<extra></extra>",
    )
    colours = DIVERGING if diverging else "Viridis" if low < high else ONE
    bar = {"thickness": px(16), "title": {"text": escaped(name), "side": "right"}} | _ticks(low, high, whole)
    return canvas(
        [trace],
        description=_description(values, *labels, name),
        height=min(max(30 * values.shape[0], 240), 520) + 80 + turned_px(labels[1]),
        xaxis=token_axis(labels[1], side="top", title={"text": escaped(column_name)}),
        yaxis=token_axis(labels[0], title={"text": escaped(row_name)}) | {"range": [values.shape[0] - 0.5, -0.5]},
        coloraxis={"colorscale": colours, "cmin": low, "cmax": high, "colorbar": bar},
        showlegend=False,
    )


def _ticks(low: float, high: float, whole: bool) -> dict[str, Any]:
    """What a colour bar names: of one value only that, of few whole numbers these, else what Plotly chooses."""
    if low == high:
        return {"tickmode": "array", "tickvals": [low], "ticktext": [f"{low:g}"]}
    if whole and high - low <= MOST_WHOLE:
        return {"tickmode": "linear", "tick0": low, "dtick": 1}
    return {}


def _description(values: np.ndarray, rows: list[str], columns: list[str], name: str) -> str:
    said = f"{name} of {len(rows)} × {len(columns)}"
    if not np.isfinite(values).any():
        return f"{said}: no numbers."
    ends = []
    for what, place in (("largest", np.nanargmax(values)), ("smallest", np.nanargmin(values))):
        row, column = np.unravel_index(place, values.shape)
        ends.append(f"{what} {values[row, column]:.2f} at ‘{rows[row]}’ ({row}), ‘{columns[column]}’ ({column})")
    return f"{said}: " + "; ".join(ends) + "."
