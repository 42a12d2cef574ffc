"""Small pictures side by side, cell by cell, with their numbers where there is room.

Axes: H rows (downwards, the first on top), W columns of a picture.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import TEXT_PX, as_array, canvas, escaped, px
from gptlab.figures._panels import GREYS, SIGNED, TWO_DIGITS, cell_axes, panel_title

PAGE_PX = 940  # how wide a figure is at a desk
HIGHEST_PX = 280
CELL_PX = 34  # holds a number of three characters
TITLE_PX = 34
GAP = 0.04  # between pictures, of the page's width


def small_pictures(
    pictures: Mapping[str, Any],
    *,
    name: str = "brightness",
    signed: bool = False,
    shared: bool = True,
    columns: int = 4,
) -> go.Figure:
    """Draw pictures in rows of `columns`, each under its title; `name` says what the numbers are.

    pictures: title → (H,W) numbers, NaN for an empty cell. signed: blue and orange part negative from positive
    numbers; else from dark to bright. shared: one scale for all of them, else each from its own lowest number to its
    highest. ValueError, naming it, for no picture, for another shape and for less than one column.
    """
    drawn = {title: as_array(picture, np.float32) for title, picture in pictures.items()}
    _check(drawn, columns)
    columns = min(columns, len(drawn))
    n_rows = ceil(len(drawn) / columns)
    panel = (1 - (columns - 1) * GAP) / columns
    heights = [min(panel * PAGE_PX * len(one) / one.shape[1], HIGHEST_PX) for one in drawn.values()]
    height = n_rows * (max(heights) + TITLE_PX)
    written = max(one.shape[1] for one in drawn.values()) * CELL_PX <= panel * PAGE_PX
    numbers = {"texttemplate": TWO_DIGITS, "textfont": {"size": px(TEXT_PX)}} if written else {}
    traces, layout, titles = [], {}, []
    for number, (title, picture) in enumerate(drawn.items()):
        row, column = divmod(number, columns)
        left, top = column * (panel + GAP), 1 - (row + TITLE_PX / (max(heights) + TITLE_PX)) / n_rows
        domain = [max(1 - (row + 1) / n_rows, 0), top]
        axes = {"x": f"x{number + 1}", "y": f"y{number + 1}"}
        trace = _cells(picture, title, name, axes).update(numbers)
        if not shared:
            trace.update(zip(("zmin", "zmax"), _ends([picture], signed), strict=True))
            trace.update(coloraxis=None, colorscale=SIGNED if signed else GREYS, showscale=False)
        traces.append(trace)
        layout |= cell_axes(number + 1, picture.shape, [left, left + panel], domain)
        titles.append(panel_title(title, left + panel / 2, top))
    low, high = _ends(list(drawn.values()), signed)
    bar = {"thickness": px(16), "title": {"text": escaped(name), "side": "right"}}
    colours = {"colorscale": SIGNED if signed else GREYS, "cmin": low, "cmax": high, "colorbar": bar}
    return canvas(
        traces,
        description=_description(drawn, name),
        height=height + 32,
        coloraxis=colours | {"showscale": shared and not written},
        annotations=titles,
        showlegend=False,
        **layout,
    )


def _check(pictures: Mapping[str, np.ndarray], columns: int) -> None:
    if not pictures:
        raise refuse("pictures", {}, "at least one picture by its title")
    for title, picture in pictures.items():
        if picture.ndim != 2 or 0 in picture.shape:
            raise refuse(f"the shape of {title!r}", picture.shape, "(rows, columns), with at least one of each")
    if columns < 1:
        raise refuse("columns", columns, "a whole number of at least 1")


def _cells(picture: np.ndarray, title: str, name: str, axes: dict[str, str]) -> go.Heatmap:
    hover = f"{escaped(title)}<br>row %{{y}}, column %{{x}}: {escaped(name)} %{{z:.3~g}}<extra></extra>"
    return go.Heatmap(
        z=picture,
        xaxis=axes["x"],
        yaxis=axes["y"],
        coloraxis="coloraxis",
        hoverongaps=False,
        hovertemplate=hover,
        xgap=1,
        ygap=1,
    )


def _ends(pictures: list[np.ndarray], signed: bool) -> tuple[float, float]:
    """The numbers at the ends of the scale."""
    finite = np.concatenate([one[np.isfinite(one)] for one in pictures])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if signed:
        high = max(abs(low), abs(high)) or 1.0
        return -high, high
    return low, high if high > low else low + 1.0


def _description(pictures: Mapping[str, np.ndarray], name: str) -> str:
    said = []
    for title, picture in pictures.items():
        finite = picture[np.isfinite(picture)]
        ends = f"from {finite.min():.2f} to {finite.max():.2f}, mean {finite.mean():.2f}" if finite.size else "empty"
        said.append(f"‘{title}’ of {picture.shape[0]} × {picture.shape[1]} {ends}")
    return f"{len(said)} picture{'s' * (len(said) > 1)} of {name}: {'; '.join(said)}."
