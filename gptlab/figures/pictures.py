"""Small pictures side by side, cell by cell, with their numbers where there is room.

Axes: H rows (downwards, the first on top), W columns of a picture.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import as_array, canvas, escaped, px
from gptlab.figures._panels import GREYS, PAGE_PX, SIGNED, cell_axes, fits, panel_title, written_numbers

HIGHEST_PX = 280
GAP_FROM_PX = 20  # smaller cells touch, for lines between them would be all one sees
MOST_DESCRIBED = 8
TITLE_PX = 34
GAP = 0.04  # between pictures, of the page's width


def small_pictures(
    pictures: Mapping[str, Any],
    *,
    name: str = "brightness",
    signed: bool = False,
    columns: int = 4,
) -> go.Figure:
    """Draw pictures in rows of `columns`, each under its title; `name` says what the numbers are.

    pictures: title → (H,W) numbers, NaN for an empty cell. signed: blue and orange part negative from positive
    numbers; else from dark to bright. All share one scale. ValueError, naming it, for no picture, for another shape and
    for less than one column.
    """
    drawn = {title: as_array(picture, np.float32) for title, picture in pictures.items()}
    _check(drawn, columns)
    columns = min(columns, len(drawn))
    n_rows = ceil(len(drawn) / columns)
    panel = (1 - (columns - 1) * GAP) / columns
    heights = [min(panel * PAGE_PX * len(one) / one.shape[1], HIGHEST_PX) for one in drawn.values()]
    height = n_rows * (max(heights) + TITLE_PX)
    cell = min(min(panel * PAGE_PX / one.shape[1], HIGHEST_PX / one.shape[0]) for one in drawn.values())
    written = all(fits(one, cell) for one in drawn.values())
    settings = {"xgap": 1, "ygap": 1} if cell >= GAP_FROM_PX else {}
    if written:
        settings |= written_numbers()
    traces, layout, titles = [], {}, []
    for number, (title, picture) in enumerate(drawn.items()):
        row, column = divmod(number, columns)
        left, top = column * (panel + GAP), 1 - (row + TITLE_PX / (max(heights) + TITLE_PX)) / n_rows
        domain = [max(1 - (row + 1) / n_rows, 0), top]
        axes = {"x": f"x{number + 1}", "y": f"y{number + 1}"}
        trace = _cells(picture, title, name, axes).update(settings)
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
        coloraxis=colours | {"showscale": not written},
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
    """Each picture by its numbers' range and mean; of many pictures the range of all, and which is the brightest."""
    titles = list(pictures)
    count = f"{len(pictures)} picture{'s' * (len(pictures) > 1)} of {name}"
    means = {title: float(np.nanmean(one)) for title, one in pictures.items() if np.isfinite(one).any()}
    if len(pictures) > MOST_DESCRIBED and means:
        low, high = _ends(list(pictures.values()), signed=False)
        most = max(means, key=means.get)
        ends = f"from {low:.2f} to {high:.2f}; the largest mean is that of ‘{most}’: {means[most]:.2f}"
        return f"{count}, ‘{titles[0]}’ to ‘{titles[-1]}’: {ends}."
    said = []
    for title, one in pictures.items():
        ends = "empty"
        if title in means:
            ends = f"from {np.nanmin(one):.2f} to {np.nanmax(one):.2f}, mean {means[title]:.2f}"
        said.append(f"‘{title}’ of {one.shape[0]} × {one.shape[1]} {ends}")
    return f"{count}: {'; '.join(said)}."
