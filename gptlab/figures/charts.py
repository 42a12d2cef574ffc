"""Plain charts: lines over a quantity, bars over names.

Axes: N points or names. Series differ in colour and in dash or pattern, so that they can be told apart in grey too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures import _canvas
from gptlab.figures._canvas import INK, Number, as_array, canvas, escaped, powers_of_ten

COLOURS = (_canvas.BLUE, _canvas.VERMILION, _canvas.GREEN, _canvas.ORANGE, _canvas.PURPLE, _canvas.SKY)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
PATTERNS = ("", "/", ".", "x", "-", "|")
MOST_MARKERS = 40  # of more points a line alone is easier to read
FULL = (-4, 8)  # powers of ten that are written in full


def line_chart(
    x: Any,
    lines: Mapping[str, Any],
    *,
    x_name: str,
    y_name: str,
    log_x: bool = False,
    log_y: bool = False,
    levels: Mapping[str, Number] | None = None,
) -> go.Figure:
    """Draw quantities over another one, such as perplexity over n.

    x: (N,) numbers. lines: name → (N,), NaN where there is none. levels: name → a height drawn across, such as a floor.
    log_x, log_y: logarithmic axes. ValueError, naming it, for no line, for lengths that differ and for a number of at
    most 0 on a logarithmic axis.
    """
    x = as_array(x, float)
    curves = {name: as_array(y, float) for name, y in lines.items()}
    levels = dict(levels or {})
    _check_series(curves, x.shape, "x")
    logarithmic = [("x", x)] * log_x + [*curves.items(), *levels.items()] * log_y
    for name, values in logarithmic:
        if not (np.nan_to_num(np.asarray(values, float), nan=1) > 0).all():
            raise refuse(name, np.nanmin(values), "numbers above 0 on a logarithmic axis")
    traces = []
    for n, (name, y) in enumerate(curves.items()):
        line = {"color": COLOURS[n % len(COLOURS)], "dash": DASHES[n % len(DASHES)], "width": 2.5}
        mode = "lines+markers" if len(x) <= MOST_MARKERS else "lines"
        traces.append(go.Scatter(x=x, y=y, name=escaped(name), mode=mode, line=line, hovertemplate=_hover(x_name)))
    for name, height in levels.items():
        ends = [x.min(), x.max()]
        line = {"color": INK, "dash": "dash", "width": 2}
        traces.append(go.Scatter(x=ends, y=[height, height], name=escaped(name), mode="lines", line=line))
    return canvas(
        traces,
        description=_said(f"{y_name} over {x_name}", [f"{x[0]:g}", f"{x[-1]:g}"], curves, levels),
        height=420,
        xaxis=_axis(x_name, [x], log_x),
        yaxis=_axis(y_name, [*curves.values(), *levels.values()], log_y) | {"linecolor": INK},
        showlegend=len(traces) > 1,
    )


def _axis(name: str, values: Sequence[Any], logarithmic: bool) -> dict[str, Any]:
    """A linear axis, or a logarithmic one; Plotly's own ticks between powers of ten are smaller than other text."""
    axis = {"title": {"text": escaped(name)}, "type": "log" if logarithmic else "linear"}
    if not logarithmic:
        return axis
    low = np.floor(np.log10(min(map(np.nanmin, values))))
    high = np.ceil(np.log10(max(map(np.nanmax, values))))
    if low < FULL[0] or high > FULL[1]:
        return axis | powers_of_ten(low, high)
    steps = (1, 2, 5) if high - low <= 3 else (1,)
    ticks = [step * 10.0**power for power in np.arange(low, high + 1) for step in steps]
    return axis | {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def bar_chart(
    names: Sequence[str],
    bars: Mapping[str, Any],
    *,
    y_name: str,
    x_name: str = "",
    stacked: bool = False,
    levels: Mapping[str, Number] | None = None,
) -> go.Figure:
    """Draw quantities as bars over names, side by side or stacked.

    names: N. bars: name of the series → (N,). levels: name → a height drawn across. ValueError, naming it, for no
    series, for lengths that differ and for a negative number in stacked bars.
    """
    series = {name: as_array(y, float) for name, y in bars.items()}
    levels = dict(levels or {})
    _check_series(series, (len(names),), "names")
    for name, heights in series.items():
        if stacked and (heights < 0).any():
            raise refuse(name, heights.min(), "numbers of at least 0 in stacked bars")
    traces = []
    positions = list(range(len(names)))  # never categories: equal names would fall together
    for n, (name, heights) in enumerate(series.items()):
        marker = {"color": COLOURS[n % len(COLOURS)], "pattern": {"shape": PATTERNS[n % len(PATTERNS)]}}
        hover = "%{customdata}: %{y:.3~g}"
        traces.append(
            go.Bar(
                x=positions, y=heights, name=escaped(name), marker=marker, hovertemplate=hover,
                customdata=[escaped(one) for one in names],
            )
        )  # fmt: skip
    for name, height in levels.items():
        line = {"color": INK, "dash": "dash", "width": 2}
        ends = [-0.5, len(names) - 0.5]
        traces.append(go.Scatter(x=ends, y=[height, height], name=escaped(name), mode="lines", line=line))
    ticks = {"tickmode": "array", "tickvals": positions, "ticktext": [escaped(name) for name in names]}
    return canvas(
        traces,
        description=_said(y_name, names, series, levels),
        height=420,
        barmode="stack" if stacked else "group",
        xaxis=ticks | {"title": {"text": escaped(x_name)}, "showgrid": False, "range": [-0.5, len(names) - 0.5]},
        yaxis={"title": {"text": escaped(y_name)}, "linecolor": INK},
        showlegend=len(traces) > 1,
    )


def _check_series(series: Mapping[str, np.ndarray], shape: tuple[int, ...], against: str) -> None:
    if not series or shape == (0,):
        raise refuse("the number of series and points", (len(series), *shape), "at least one of each")
    for name, values in series.items():
        if values.ndim != 1 or values.shape != shape:
            raise refuse(f"the shape of {name!r}", values.shape, f"{shape}, as {against}")


def _hover(x_name: str) -> str:
    return f"{escaped(x_name)} %{{x:.4~g}}: %{{y:.4~g}}"


def _said(what: str, ends: Sequence[str], series: Mapping[str, np.ndarray], levels: Mapping[str, Number]) -> str:
    """Each series by its first and its last number, each level by its own."""
    parts = [f"{name} {_number(y[0])} at {ends[0]}, {_number(y[-1])} at {ends[-1]}" for name, y in series.items()]
    return f"{what}: " + "; ".join([*parts, *(f"{name} {_number(y)}" for name, y in levels.items())]) + "."


def _number(value: Number) -> str:
    """Two decimals, or two significant digits of what they would not show."""
    if np.isnan(value):
        return "none"
    return f"{value:.2f}" if value == 0 or 0.1 <= abs(value) < 1e6 else f"{value:.2g}"
