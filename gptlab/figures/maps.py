"""A map of words: points along principal components, in the plane or in space, where they can be turned.

Axes: N points. Space is drawn as what one sees of it, turned step by step: that needs no WebGL, which not every
browser has, and goes by keyboard.
"""

from base64 import b64encode
from collections.abc import Sequence
from math import cos, radians, sin
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures import _canvas
from gptlab.figures._canvas import INK, Number, as_array, canvas, escaped, nearest, px, slider, token_labels

COLOURS = (_canvas.BLUE, _canvas.VERMILION, _canvas.GREEN, _canvas.ORANGE, _canvas.PURPLE, _canvas.SKY)
# Five against six colours: together they tell 30 groups apart, and neighbours in the legend by both.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")
TURNS = tuple(range(0, 360, 15))
POINT_PX, DEPTH_PX, RING_PX = 13, 5, 26
OPAQUE, PALE = 0.85, 0.25  # pale while others are searched for, and found
MOST_NAMED = 8  # names of more points would cover one another
MOST_SAID = 5


def component_map(
    points: Any,
    labels: Sequence[Any],
    groups: Sequence[str],
    *,
    turn: Number = 0,
    slides: bool = True,
    search: str = "",
) -> go.Figure:
    """Draw points, each group in a colour and a shape of its own; a point is named when pointed at.

    points: (N,2), or (N,3), which begin with their first two coordinates in the plane of the page and can be turned
    about the upright axis; what is nearer to the reader is drawn larger. labels, groups: N. turn: degrees.
    slides: whether a slider that works in the browser alone does the turning. search: points whose label contains it
    get a ring while the others turn pale; up to eight of them are named.
    ValueError, naming it, for another shape, for what is no number, and for as many labels or groups as no points.
    """
    points, labels = as_array(points, np.float32), token_labels(labels)
    _check(points, labels, groups)
    solid = points.shape[1] == 3
    members = {name: np.flatnonzero([group == name for group in groups]) for name in dict.fromkeys(groups)}
    found = np.array([n for n, label in enumerate(labels) if search and search.lower() in label.lower()], int)
    opacity = PALE if len(found) else OPAQUE
    traces = [_group(n, name, [labels[i] for i in here], opacity) for n, (name, here) in enumerate(members.items())]
    traces.append(_rings([labels[i] for i in found]))
    places = [*members.values(), found]
    for trace, here, x, size in zip(traces, places, *_seen(points, places, turn), strict=True):
        trace.update(x=x, y=points[here, 1], marker_size=size)
    reach = 1.08 * float(np.hypot(points[:, 0], points[:, -1] if solid else 0).max()) or 1.0
    height = 1.08 * float(np.abs(points[:, 1]).max()) or 1.0
    axis = {"zeroline": True, "nticks": 7}
    across = "first component" + " (turning brings in the third)" * solid
    return canvas(
        traces,
        description=_description(points, labels, members, found, turn if solid else None),
        height=600 + 90 * (solid and slides),
        xaxis=axis | {"range": [-reach, reach], "title": {"text": across}},
        yaxis=axis | {"range": [-height, height], "title": {"text": "second component"}, "scaleanchor": "x"},
        legend={"orientation": "v", "x": 1.02, "xanchor": "left", "y": 1, "yanchor": "top", "itemsizing": "constant"},
        sliders=[_slider(points, places, turn)] if solid and slides else [],
        showlegend=len(members) > 1,
    )


def _seen(points: np.ndarray, places: Sequence[np.ndarray], turn: Number) -> tuple[list, list]:
    """For each of the traces how far to the right its points stand, and how large they are."""
    depth = points[:, 2] if points.shape[1] == 3 else np.zeros_like(points[:, 0])
    across, towards = cos(radians(turn)), sin(radians(turn))
    x = (across * points[:, 0] + towards * depth).astype(np.float32)
    nearness = (across * depth - towards * points[:, 0]).astype(np.float32)
    furthest = float(np.hypot(points[:, 0], depth).max()) or 1.0
    sizes = np.rint(px(POINT_PX) + px(DEPTH_PX) * nearness / furthest).astype(np.uint8)
    *groups, _ = places
    return [x[here] for here in places], [*(sizes[here] for here in groups), px(RING_PX)]


def _slider(points: np.ndarray, places: Sequence[np.ndarray], turn: Number) -> dict[str, Any]:
    steps = []
    for angle in TURNS:
        x, (*sizes, ring) = _seen(points, places, angle)
        moved = {"x": [*map(_packed, x)], "marker.size": [*map(_packed, sizes), ring]}
        steps.append((f"{angle}°", [moved, list(range(len(places)))]))
    return slider("turned by", steps, nearest(TURNS, turn), top=60)


def _packed(numbers: np.ndarray) -> dict[str, str]:
    """An array as Plotly packs those of traces; a slider's it would write out, which takes ten times the room."""
    return {"dtype": numbers.dtype.str[1:], "bdata": b64encode(numbers.tobytes()).decode()}


def _group(n: int, name: str, labels: Sequence[str], opacity: float) -> go.Scatter:
    return go.Scatter(
        name=escaped(name),
        mode="markers",
        text=[escaped(label) for label in labels],
        marker={"color": COLOURS[n % len(COLOURS)], "symbol": SYMBOLS[n % len(SYMBOLS)], "opacity": opacity},
        hovertemplate=f"‘%{{text}}’: {escaped(name)}<extra></extra>",
    )


def _rings(labels: Sequence[str]) -> go.Scatter:
    return go.Scatter(
        mode="markers+text",
        text=[escaped(label) if len(labels) <= MOST_NAMED else "" for label in labels],
        textposition="top center",
        textfont={"size": px(_canvas.TEXT_PX + 2), "color": INK},
        marker={"symbol": "circle-open", "color": INK, "line": {"width": px(3)}},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )


def _check(points: np.ndarray, labels: Sequence[str], groups: Sequence[str]) -> None:
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not len(points):
        raise refuse("the shape of points", points.shape, "(points, 2) or (points, 3), with at least one of them")
    for name, many in (("labels", labels), ("groups", groups)):
        if len(many) != len(points):
            raise refuse(f"the number of {name}", len(many), f"{len(points)}, one for each point")
    if not np.isfinite(points).all():
        place = tuple(np.argwhere(~np.isfinite(points))[0].tolist())
        raise refuse(f"points{list(place)}", float(points[place]), "finite")


def _description(
    points: np.ndarray,
    labels: Sequence[str],
    members: dict[str, np.ndarray],
    found: np.ndarray,
    turn: Number | None,
) -> str:
    seen = "" if turn is None else f", turned by {turn}°"
    middles = [
        f"‘{name}’ ({len(here)}) around {', '.join(f'{number:.2f}' for number in points[here].mean(0))}"
        for name, here in list(members.items())[:MOST_SAID]
    ]
    more = [f"{len(members) - MOST_SAID} more groups"] * (len(members) > MOST_SAID)
    said = f"Map of {len(points)} points in {len(members)} groups{seen}: {'; '.join([*middles, *more])}."
    if len(found):
        said += f" Found: {', '.join(f'‘{labels[i]}’' for i in found[:MOST_NAMED])}{', …' * (len(found) > MOST_NAMED)}."
    return said
