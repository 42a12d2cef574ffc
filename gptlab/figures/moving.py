"""Lines over a quantity that move with another one: a slider chooses which of the pictures is seen.

The axes stay where they are while the lines move, so that what moves can be seen.
Axes: N points of a line.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILION,
    Number,
    as_array,
    canvas,
    escaped,
    nearest,
    powers_of_ten,
    slider,
)

STYLES = ((BLUE, "solid"), (VERMILION, "dash"), (GREEN, "dot"), (ORANGE, "dashdot"), (PURPLE, "longdash"))


def moving_lines(
    x: Any,
    views: Mapping[Number, Mapping[str, Any]],
    *,
    control: str,
    x_name: str,
    y_name: str,
    active: Number | None = None,
    log_x: bool = False,
    log_y: bool = False,
    y_range: tuple[Number, Number] | None = None,
) -> go.Figure:
    """Draw lines, and with several views a slider that moves them, which works in the browser alone.

    x: (N,). views: value of the slider → name of the line → (N,); the lines are the same in each view. control: the
    slider's name. active: the view that is shown first, or the nearest there is. y_range: the ends of the axis; from
    the smallest to the largest number of all views, if None. On a logarithmic axis, what is not above 0 is left out.
    ValueError, naming it, for no view or line, for other lines, and for lengths or a range that do not fit.
    """
    x = as_array(x, float)
    drawn = {value: {name: _line(y, log_y) for name, y in lines.items()} for value, lines in views.items()}
    _check(x, drawn, y_range, log_y)
    values = list(drawn)
    first = 0 if active is None else nearest(values, active)
    if log_x and not (x > 0).all():
        raise refuse("x", x.min(), "numbers above 0 on a logarithmic axis")
    traces = [
        go.Scatter(
            x=x, y=y, name=escaped(name), mode="lines", line={"color": colour, "dash": dash, "width": 3},
            hovertemplate=f"{escaped(x_name)} %{{x:.4~g}}: %{{y:.3~g}}",
        )
        for (name, y), (colour, dash) in zip(drawn[values[first]].items(), STYLES, strict=False)
    ]  # fmt: skip
    steps = [(f"{value:g}", [{"y": list(lines.values())}, list(range(len(traces)))]) for value, lines in drawn.items()]
    ends = y_range or _ends([y for lines in drawn.values() for y in lines.values()], log_y)
    x_axis, y_axis = {"title": {"text": escaped(x_name)}}, {"title": {"text": escaped(y_name)}, "linecolor": INK}
    return canvas(
        traces,
        description=_description(x, drawn[values[first]], f"{control} {values[first]:g}", x_name, y_name),
        height=460 + 100 * (len(values) > 1),
        xaxis=x_axis | (_logarithmic((x.min() / 1.1, x.max() * 1.1)) if log_x else {}),
        yaxis=y_axis | (_logarithmic(ends) if log_y else {"range": ends}),
        sliders=[slider(escaped(control), steps, first, top=60)] if len(values) > 1 else [],
        showlegend=len(traces) > 1,
    )


def _line(y: Any, log_y: bool) -> np.ndarray:
    y = as_array(y, float)
    return np.where(np.isfinite(y) & (y > 0), y, np.nan) if log_y else y


def _check(x: np.ndarray, views: Mapping[Number, Mapping[str, np.ndarray]], y_range: tuple | None, log_y: bool) -> None:
    names = list(next(iter(views.values()), {}))
    if not names or len(names) > len(STYLES):
        raise refuse("the number of lines", len(names), f"from 1 to {len(STYLES)}, in at least one view")
    if x.ndim != 1 or not len(x):
        raise refuse("the shape of x", x.shape, "(N,), with at least one point")
    for value, lines in views.items():
        if list(lines) != names:
            raise refuse(f"the lines at {value:g}", list(lines), f"{names}, as in the first view")
        for name, y in lines.items():
            if y.shape != x.shape:
                raise refuse(f"the shape of {name!r} at {value:g}", y.shape, f"{x.shape}, as x")
    if y_range is not None and not (y_range[0] < y_range[1] and (y_range[0] > 0 or not log_y)):
        raise refuse("y_range", y_range, "two numbers that rise, above 0 on a logarithmic axis")


def _ends(lines: Sequence[np.ndarray], logarithmic: bool) -> tuple[float, float]:
    """A little below the smallest and a little above the largest number there is."""
    there = np.concatenate(lines)
    there = there[np.isfinite(there)]
    low, high = (there.min(), there.max()) if len(there) else (1.0, 2.0)
    if logarithmic:
        return low / 1.5, high * 1.5
    margin = 0.05 * (high - low or 1.0)
    return low - margin, high + margin


def _logarithmic(ends: tuple[Number, Number]) -> dict[str, Any]:
    """A logarithmic axis: of a short one 1, 2 and 5 of each power of ten, of a long one powers alone, as 10⁻¹²."""
    low, high = np.log10(ends[0]), np.log10(ends[1])
    axis = {"type": "log", "range": [float(low), float(high)]}
    if high - low > 3.5:
        return axis | powers_of_ten(low, high)
    powers = np.arange(np.floor(low), np.ceil(high) + 1)
    values = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    return axis | {"tickmode": "array", "tickvals": values, "ticktext": [f"{value:,.10g}" for value in values]}


def _description(x: np.ndarray, lines: Mapping[str, np.ndarray], at: str, x_name: str, y_name: str) -> str:
    said = [f"{name} {_number(y[0])} at {x[0]:g}, {_number(y[-1])} at {x[-1]:g}" for name, y in lines.items()]
    return f"{y_name} over {x_name} at {at}: " + "; ".join(said) + "."


def _number(value: float) -> str:
    if np.isnan(value):
        return "none"
    return f"{value:.2f}" if value == 0 or 0.1 <= abs(value) < 1e6 else f"{value:.1e}"
