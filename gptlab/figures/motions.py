"""Points that move: where a flow takes them, told in pictures that follow one another.

Axes: F pictures, N points, R × C heights of the ground. A panel shows the plane, or space as seen from its third axis:
what is nearer to the reader is drawn larger, and the unit sphere by its outline.
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
    TEXT_PX,
    VERMILION,
    Number,
    as_array,
    canvas,
    escaped,
    px,
    slider,
)
from gptlab.figures._levels import level_lines

STYLES = ((BLUE, "circle"), (VERMILION, "square"), (GREEN, "diamond"), (ORANGE, "x"))
MOST_PANELS = 3
GAP = 0.06  # between two panels, in widths of the figure
POINT_PX, DEPTH_PX = 10, 4
FRAME_MS = 120
OUTLINE = np.linspace(0, 2 * np.pi, 73, dtype=np.float32)


def moving_points(
    times: Any,
    panels: Mapping[str, Any],
    *,
    time_name: str = "time",
    names: tuple[str, str] = ("x₁", "x₂"),
    groups: Sequence[str] | None = None,
    grounds: Mapping[str, Any] | None = None,
    reach: Number | None = None,
    shown: int = 0,
    slides: bool = True,
) -> go.Figure:
    """Draw points that move, in up to three panels, with a button that plays and a slider for the time.

    times: (F,). panels: name → (F,N,2) or (F,N,3). names: of the two axes in the plane. groups: N names, told apart by
    colour and shape. grounds: name of a panel → (R,C) heights over the square it shows, drawn as lines of equal height.
    reach: how far that square goes from 0; if None, as far as the points. shown: the picture to begin with.
    slides: whether button and slider are there; they work in the browser alone, and nothing moves by itself.
    ValueError, naming it, for other shapes and names and for what is no number.
    """
    times = as_array(times, float)
    with np.errstate(over="ignore"):  # what is too large for 4 bytes becomes inf, and is refused
        tracks = {name: as_array(track, np.float32) for name, track in panels.items()}
    grounds = {name: as_array(heights, float) for name, heights in (grounds or {}).items()}
    _check(times, tracks, groups, grounds)
    shown = range(len(times))[shown]
    if reach is None:
        reach = 1.08 * max(float(np.abs(track[..., :2]).max()) for track in tracks.values()) or 1.0
    scenery = [
        trace
        for n, (name, track) in enumerate(tracks.items())
        for trace in [*_ground(n, grounds.get(name), reach), *_sphere(n, track)]
    ]
    members = _members(groups, tracks)
    points = [_points(n, *named) for n in range(len(tracks)) for named in enumerate(members)]
    for trace, place in zip(points, places(tracks, groups, shown), strict=True):
        trace.update(place)
    figure = canvas(
        [*scenery, *points],
        description=_description(times, tracks, time_name),
        height=480 + 130 * slides,
        **_axes(tracks, names, reach),
        annotations=_titles(list(tracks)),
        margin={"t": px(48 + 36 * (len(members) > 1))},
        legend={"y": 1, "yanchor": "top", "yref": "container"} if len(members) > 1 else {},
        showlegend=len(members) > 1,
        **(_controls(times, time_name, shown) if slides else {}),
    )
    if slides:
        which = list(range(len(scenery), len(scenery) + len(points)))
        figure.frames = [
            {"name": str(number), "data": places(tracks, groups, number), "traces": which}
            for number in range(len(times))
        ]
    return figure


def places(tracks: Mapping[str, np.ndarray], groups: Sequence[str] | None, number: int) -> list[dict[str, Any]]:
    """What the last traces of the figure take for a picture: panel by panel, group by group, x, y and sizes."""
    taken = []
    for track in tracks.values():
        for here in _members(groups, tracks).values():
            now = track[number, here].astype(np.float32)
            place = {"x": now[:, 0], "y": now[:, 1]}
            if track.shape[2] == 3:
                sizes = px(POINT_PX) + px(DEPTH_PX) * np.clip(now[:, 2], -1, 1)
                place["marker"] = {"size": np.rint(sizes).astype(np.uint8)}
            taken.append(place)
    return taken


def _members(groups: Sequence[str] | None, tracks: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Which points belong to each group."""
    n_points = next(iter(tracks.values())).shape[1]
    if groups is None:
        return {"points": np.arange(n_points)}
    return {name: np.flatnonzero([group == name for group in groups]) for name in dict.fromkeys(groups)}


def _axis_names(panel: int) -> dict[str, str]:
    number = str(panel + 1) if panel else ""
    return {"xaxis": f"x{number}", "yaxis": f"y{number}"}


def _ground(panel: int, heights: np.ndarray | None, reach: Number) -> list[go.Scatter]:
    """Lines of equal height; Plotly's own contours vanish while something moves."""
    if heights is None:
        return []
    x, y = level_lines(heights, reach)
    line = {"color": INK, "width": 1}
    return [go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, **_axis_names(panel))]


def _sphere(panel: int, track: np.ndarray) -> list[go.Scatter]:
    if track.shape[2] == 2:
        return []
    line = {"color": INK, "width": 1.5}
    outline = go.Scatter(x=np.cos(OUTLINE), y=np.sin(OUTLINE), mode="lines", line=line, hoverinfo="skip")
    return [outline.update(_axis_names(panel), showlegend=False)]


def _points(panel: int, number: int, name: str) -> go.Scatter:
    colour, symbol = STYLES[number]
    return go.Scatter(
        name=escaped(name),
        legendgroup=str(number),
        showlegend=panel == 0,
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": px(POINT_PX), "opacity": 0.8, "line": {"width": 0}},
        hovertemplate="%{pointNumber}: (%{x:.3~g}, %{y:.3~g})<extra></extra>",
        **_axis_names(panel),
    )


def _axes(tracks: Mapping[str, np.ndarray], names: tuple[str, str], reach: Number) -> dict[str, Any]:
    """Panels beside one another, each as high as wide; a sphere needs no numbers."""
    wide = _width(len(tracks))
    axes = {}
    for n, track in enumerate(tracks.values()):
        x, y = _axis_names(n).values()
        plane = track.shape[2] == 2
        both = {
            "range": [-reach, reach],
            "zeroline": False,
            "showgrid": False,
            "visible": plane,
            "nticks": 5,
            "showline": True,
            "mirror": True,
        }
        both |= {"constrain": "domain"}
        left = n * (wide + GAP)
        across = {"domain": [left, left + wide], "anchor": y, "title": {"text": escaped(names[0])}}
        upwards = {"anchor": x, "scaleanchor": x, "title": {"text": escaped(names[1]) if n == 0 else ""}}
        axes |= {f"xaxis{x[1:]}": both | across, f"yaxis{y[1:]}": both | upwards}
    return axes


def _width(n_panels: int) -> float:
    return (1 - GAP * (n_panels - 1)) / n_panels


def _titles(names: list[str]) -> list[dict[str, Any]]:
    wide = _width(len(names))
    place = {"xref": "paper", "yref": "paper", "y": 1, "yanchor": "bottom", "xanchor": "center", "showarrow": False}
    font = {"size": px(TEXT_PX + 2)}
    return [
        place | {"text": escaped(name), "x": n * (wide + GAP) + wide / 2, "font": font} for n, name in enumerate(names)
    ]


def _controls(times: np.ndarray, time_name: str, shown: int) -> dict[str, Any]:
    """A slider whose steps show a picture at once, and beside it the buttons that play them and hold them."""
    move = {"mode": "immediate", "fromcurrent": True, "transition": {"duration": 0}}
    at_once = move | {"frame": {"duration": 0, "redraw": False}}
    playing = move | {"frame": {"duration": FRAME_MS, "redraw": False}}
    labels = [f"{time:.4g}" for time in times]
    made = slider(escaped(time_name), [(label, [[str(n)], at_once]) for n, label in enumerate(labels)], shown, top=64)
    for step in made["steps"]:
        step["method"] = "animate"
    buttons = [
        {"label": "▶ Play", "method": "animate", "args": [None, playing]},
        {"label": "❚❚ Hold", "method": "animate", "args": [[None], at_once]},
    ]
    menu = {"type": "buttons", "direction": "left", "showactive": False, "buttons": buttons}
    menu |= {"x": 0, "xanchor": "left", "y": 0, "yanchor": "top", "pad": {"t": px(72)}}
    font = {"size": px(TEXT_PX), "color": INK}
    return {"sliders": [made | {"x": 0.24, "len": 0.76}], "updatemenus": [menu | {"font": font}]}


def _check(
    times: np.ndarray,
    tracks: Mapping[str, np.ndarray],
    groups: Sequence[str] | None,
    grounds: Mapping[str, np.ndarray],
) -> None:
    if not 1 <= len(tracks) <= MOST_PANELS:
        raise refuse("the number of panels", len(tracks), f"from 1 to {MOST_PANELS}")
    if times.ndim != 1 or not len(times):
        raise refuse("the shape of times", times.shape, "one time for each picture, at least one")
    n_points = next(iter(tracks.values())).shape[1:2]
    for name, track in tracks.items():
        fits = track.ndim == 3 and track.shape[2] in (2, 3) and track.shape[:2] == (len(times), *n_points)
        if not fits or not track.shape[1]:
            would = f"({len(times)}, points, 2 or 3), as many points in each panel, and as many pictures as times"
            raise refuse(f"the shape of panels[{name!r}]", track.shape, would)
        if not np.isfinite(track).all():
            place = tuple(np.argwhere(~np.isfinite(track))[0].tolist())
            raise refuse(f"panels[{name!r}]{list(place)}", float(track[place]), "finite")
    if groups is not None and len(groups) != n_points[0]:
        raise refuse("the number of groups", len(groups), f"{n_points[0]}, one for each point")
    if groups is not None and len(set(groups)) > len(STYLES):
        raise refuse("the number of different groups", len(set(groups)), f"at most {len(STYLES)}")
    for name, heights in grounds.items():
        if name not in tracks or heights.ndim != 2 or min(heights.shape) < 2:
            raise refuse(
                f"grounds[{name!r}]", heights.shape, f"rows and columns, two of each, for one of {list(tracks)}"
            )


def _description(times: np.ndarray, tracks: Mapping[str, np.ndarray], time_name: str) -> str:
    """Of each panel how far its points are from their middle and from 0, at first and at last."""
    said = []
    for name, track in tracks.items():
        ends = track[[0, -1]].astype(float)
        spread = np.sqrt(((ends - ends.mean(1, keepdims=True)) ** 2).sum(-1).mean(-1))
        farthest = np.linalg.norm(ends, axis=-1).max(-1)
        said.append(
            f"‘{name}’ from spread {_length(spread[0])} to {_length(spread[1])}, "
            f"the farthest from 0 at {_length(farthest[0])} and then at {_length(farthest[1])}"
        )
    n_points = next(iter(tracks.values())).shape[1]
    return f"{n_points} points move from {time_name} {times[0]:.4g} to {times[-1]:.4g}: {'; '.join(said)}."


def _length(value: float) -> str:
    return f"{value:.2f}" if value < 1e4 else f"{value:.1e}"
