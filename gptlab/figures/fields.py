"""Receptive fields: which inputs a unit sees through layers of kernels and strides, drawn as a cone.

Axes: L layers (upwards, the input at the bottom), U units of a layer, each above the middle of what it sees.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import INK, ORANGE, Number, canvas, escaped, px, slider

Layers = Sequence[tuple[int, int]]
TOP_UNITS = 3  # the one that looks and a neighbour on each side, so that jumps are seen
WIDEST = 1_000  # inputs that a page can show
ROW_PX = 76


class Field(NamedTuple):
    """What a unit of a layer sees, and how far apart the fields of two neighbours begin, both in inputs."""

    size: int
    jump: int


def fields(layers: Layers) -> list[Field]:
    """The field of the input and of each layer, given as (kernel size K, stride s).

    size_i = size_{i-1} + (K - 1) · jump_{i-1} and jump_i = s · jump_{i-1}, both 1 at the input. The size reaches from
    the first input seen to the last; where strides exceed kernels there are holes between.
    """
    found = [Field(1, 1)]
    for size, stride in layers:
        found.append(Field(found[-1].size + (size - 1) * found[-1].jump, stride * found[-1].jump))
    return found


def receptive_field(networks: Mapping[str, Layers], *, shown: str | None = None) -> go.Figure:
    """Draw what the middle unit of the last layer sees; of several networks a slider in the browser chooses one.

    networks: name → (K, stride) of each layer, from the input upwards. shown: which one, the first if None.
    Beside each layer stands what one of its units sees, and what K - 1 a layer would come to, where that differs.
    ValueError, naming it, for no layer, for sizes and strides below 1 and for a field too wide to be drawn.
    """
    shown = next(iter(networks), None) if shown is None else shown
    if shown not in networks:
        raise refuse("shown", shown, f"one of {', '.join(networks) or 'the networks; there is none'}")
    for name, layers in networks.items():
        _check(name, layers)
    traces = [go.Scatter(trace) for trace in _traces(networks[shown])]
    steps = []
    for name, layers in networks.items():
        drawn = _traces(layers)
        restyled = {key: [trace.get(key) for trace in drawn] for key in ("x", "y", "text")}
        restyled["marker.size"] = [trace.get("marker", {}).get("size") for trace in drawn]
        axes = {f"{axis}.{key}": value for axis, own in _axes(layers).items() for key, value in own.items()}
        steps.append((escaped(name), [restyled, axes]))
    sliders = [slider("strides:", steps, list(networks).index(shown), top=24)] if len(steps) > 1 else []
    for one in sliders:
        one["steps"] = [step | {"method": "update"} for step in one["steps"]]
    plain = {"showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True}
    axes = _axes(networks[shown])
    return canvas(
        traces,
        description=_description(networks[shown]),
        height=ROW_PX * (len(networks[shown]) + 1) + 20 + 90 * len(sliders),
        xaxis=plain | {"showticklabels": False} | axes["xaxis"],
        yaxis=plain | {"tickmode": "array"} | axes["yaxis"],
        sliders=sliders,
        showlegend=False,
    )


def _check(name: str, layers: Layers) -> None:
    if not layers:
        raise refuse(f"the layers of {name!r}", layers, "at least one (kernel size, stride)")
    for number in (number for layer in layers for number in layer):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise refuse(f"a size or stride of {name!r}", number, "a whole number of at least 1")
    if _inputs(layers) > WIDEST:
        raise refuse(f"the field of {name!r}", fields(layers)[-1].size, f"narrower: {WIDEST} inputs are drawn at most")


def _inputs(layers: Layers) -> int:
    """How many inputs the top units see together."""
    return fields(layers)[-1].size + (TOP_UNITS - 1) * fields(layers)[-1].jump


def _seen(layers: Layers) -> list[set[int]]:
    """For the input and each layer, which units the middle one on top sees."""
    seen = [{TOP_UNITS // 2}]
    for size, stride in reversed(layers):
        seen.insert(0, {unit * stride + k for unit in seen[0] for k in range(size)})
    return seen


def _traces(layers: Layers) -> list[dict[str, Any]]:
    """Lines from each unit that counts to what it sees; the units that do not count; those that do."""
    sizes, seen = fields(layers), _seen(layers)
    n_units = [TOP_UNITS]
    for size, stride in reversed(layers):
        n_units.insert(0, (n_units[0] - 1) * stride + size)

    def place(layer: int, unit: int) -> Number:
        return unit * sizes[layer].jump + (sizes[layer].size - 1) / 2

    x, y = [], []
    for layer, (size, stride) in enumerate(layers, start=1):
        for unit in sorted(seen[layer]):
            for k in range(size):
                x += [place(layer, unit), place(layer - 1, unit * stride + k), None]
                y += [layer, layer - 1, None]
    traces = [{"x": x, "y": y, "mode": "lines", "line": {"color": ORANGE, "width": 1}, "hoverinfo": "skip"}]
    for counts in (False, True):
        units = [
            (layer, unit) for layer, n in enumerate(n_units) for unit in range(n) if (unit in seen[layer]) == counts
        ]
        colour = ORANGE if counts else INK
        marker = {"size": px(max(3, min(16, 600 / n_units[0]))), "color": colour, "line": {"color": colour, "width": 1}}
        traces.append(
            {
                "x": [place(*unit) for unit in units],
                "y": [layer for layer, _ in units],
                "text": [_hover(*unit, sizes) for unit in units],
                "mode": "markers",
                "marker": marker | {"symbol": "circle" if counts else "circle-open"},
                "hoverinfo": "text",
            }
        )
    return traces


def _hover(layer: int, unit: int, sizes: list[Field]) -> str:
    if layer == 0:
        return f"input {unit}"
    first = unit * sizes[layer].jump
    return f"layer {layer}, unit {unit}: sees inputs {first} to {first + sizes[layer].size - 1}"


def _axes(layers: Layers) -> dict[str, dict[str, Any]]:
    texts = ["input"]
    plain = 1
    for number, ((size, stride), field) in enumerate(zip(layers, fields(layers)[1:], strict=True), start=1):
        plain += size - 1
        differs = f" (K − 1 alone: {plain})" if plain != field.size else ""
        texts.append(f"layer {number}: K {size}, stride {stride}<br>sees {field.size}{differs}")
    ticks = {"tickvals": list(range(len(texts))), "ticktext": texts}
    margin = _inputs(layers) / 40 + 0.5
    return {
        "xaxis": {"range": [-margin, _inputs(layers) - 1 + margin]},
        "yaxis": ticks | {"range": [-0.4, len(layers) + 0.4]},
    }


def _description(layers: Layers) -> str:
    sizes = [field.size for field in fields(layers)]
    plain = [1 + sum(size - 1 for size, _ in layers[:number]) for number in range(len(layers) + 1)]
    said = ", ".join(f"layer {n} (K {size}, stride {stride})" for n, (size, stride) in enumerate(layers, start=1))
    return (
        f"Receptive fields through {said}: {', '.join(map(str, sizes))} inputs from the input to layer {len(layers)}; "
        f"with K − 1 a layer and no jumps {', '.join(map(str, plain))}. "
        f"{len(_seen(layers)[0])} inputs reach the middle unit on top."
    )
