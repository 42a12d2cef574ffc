"""Ways down a surface: what rules of descent do from one start, at one learning rate or another.

Axes: R and C points of a grid (upwards, to the right), N steps of a path.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, GREEN, INK, ORANGE, VERMILION, Number, as_array, canvas, escaped, px, slider

STYLES = ((BLUE, "circle", "solid"), (VERMILION, "square", "dash"), (GREEN, "diamond", "dot"), (ORANGE, "x", "dashdot"))
FIRST_PATH = 1  # which of the figure's traces is the first path; before it comes the map
FAR = 20.0  # a path is drawn to this many widths of the map beyond it, where it has long been out of sight


def descent_paths(
    x: Any,
    y: Any,
    heights: Any,
    paths: Mapping[Number, Mapping[str, Any]],
    *,
    learning_rate: Number | None = None,
    names: tuple[str, str] = ("θ₁", "θ₂"),
) -> go.Figure:
    """Draw paths on a contour map; with several learning rates, a slider in the browser alone.

    x: (C,), y: (R,), both rising. heights: (R,C). paths: learning rate → name of the rule → (N,2), the start first; the
    rules are the same at each. learning_rate: the one shown first, or the nearest there is. names: of the two axes.
    ValueError, naming it, for shapes that do not fit and for no path or other rules.
    """
    x, y, heights = as_array(x, float), as_array(y, float), as_array(heights, float)
    if heights.shape != (len(y), len(x)):
        raise refuse("the shape of heights", heights.shape, f"{(len(y), len(x))}: rows as y, columns as x")
    ways = {rate: {name: as_array(path, float) for name, path in rules.items()} for rate, rules in paths.items()}
    _check(ways)
    rates = list(ways)
    wanted = rates[0] if learning_rate is None else learning_rate
    active = min(range(len(rates)), key=lambda index: abs(np.log(rates[index]) - np.log(wanted)))
    drawn = {rate: {name: visible_part(path, x, y) for name, path in ways[rate].items()} for rate in rates}
    traces = [_map(x, y, heights), *map(_path, range(len(STYLES)), drawn[rates[active]].items())]
    steps = [
        (f"{rate:g}", [{axis: [path[:, i].tolist() for path in drawn[rate].values()] for i, axis in enumerate("xy")},
                       list(range(FIRST_PATH, len(traces)))])
        for rate in rates
    ]  # fmt: skip
    return canvas(
        traces,
        description=_description(ways[rates[active]], rates[active], x, y),
        height=460 + 110 * (len(rates) > 1),
        xaxis={"range": [x[0], x[-1]], "title": {"text": escaped(names[0])}, "showgrid": False, "zeroline": False},
        yaxis={"range": [y[0], y[-1]], "title": {"text": escaped(names[1])}, "showgrid": False, "zeroline": False},
        sliders=[slider("learning rate", steps, active, top=60)] if len(rates) > 1 else [],
        showlegend=True,
    )


def visible_part(path: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A path up to where it has left the map for good measure: numbers beyond all bounds cannot be drawn. (N,2)"""
    middle = np.array([(x[0] + x[-1]) / 2, (y[0] + y[-1]) / 2])
    reach = FAR * np.array([x[-1] - x[0], y[-1] - y[0]])
    with np.errstate(invalid="ignore"):
        gone = ~(np.abs(path - middle) <= reach).all(1)
    return path[: int(gone.argmax())] if gone.any() else path


def _check(ways: Mapping[Number, Mapping[str, np.ndarray]]) -> None:
    if not ways or not all(ways.values()):
        raise refuse("paths", {rate: list(rules) for rate, rules in ways.items()}, "at least one path at each rate")
    rules = list(next(iter(ways.values())))
    for rate, at_rate in ways.items():
        if not rate > 0:
            raise refuse("a learning rate", rate, "a number above 0")
        if list(at_rate) != rules or len(rules) > len(STYLES):
            raise refuse(
                f"the rules at learning rate {rate:g}", list(at_rate), f"the same at each, at most {len(STYLES)}"
            )
        for name, path in at_rate.items():
            if path.ndim != 2 or path.shape[1] != 2 or not len(path):
                raise refuse(f"the shape of the path of {name!r}", path.shape, "(N, 2), the start first")


def _map(x: np.ndarray, y: np.ndarray, heights: np.ndarray) -> go.Contour:
    """Lines of equal height; of its root, so that the lines of a bowl are evenly spaced and its middle is not empty."""
    return go.Contour(
        x=x.astype(np.float32),
        y=y.astype(np.float32),
        z=np.sqrt(heights - heights.min()).astype(np.float32),
        colorscale=[[0, INK], [1, INK]],
        contours={"coloring": "lines"},
        line={"width": 1},
        ncontours=14,
        showscale=False,
        showlegend=False,
        hoverinfo="skip",
    )


def _path(number: int, named: tuple[str, np.ndarray]) -> go.Scatter:
    name, path = named
    colour, symbol, dash = STYLES[number]
    return go.Scatter(
        x=path[:, 0],
        y=path[:, 1],
        name=escaped(name),
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2.5},
        marker={"color": colour, "symbol": symbol, "size": px(7)},
        hovertemplate=f"{escaped(name)}, step %{{pointNumber}}: (%{{x:.3~g}}, %{{y:.3~g}})<extra></extra>",
    )


def _description(rules: Mapping[str, np.ndarray], rate: Number, x: np.ndarray, y: np.ndarray) -> str:
    said = []
    for name, path in rules.items():
        with np.errstate(invalid="ignore"):
            here = ((path >= [x[0], y[0]]) & (path <= [x[-1], y[-1]])).all(1)
        if here[-1]:
            said.append(f"{name} is at ({path[-1, 0]:.2f}, {path[-1, 1]:.2f}) after {len(path) - 1} steps")
        else:
            left = len(here) - int(here[::-1].argmax()) if here.any() else 0
            said.append(f"{name} leaves the map at step {left}")
    return f"Ways down at learning rate {rate:g}: " + "; ".join(said) + "."
