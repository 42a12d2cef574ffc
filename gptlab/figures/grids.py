"""All heads at a glance: one small attention map a head, a row of maps a layer; any of them can be enlarged.

All maps stand on one pair of axes, so enlarging is nothing but zooming in.
Axes: L layers (downwards), H heads (to the right), T queries (downwards) and T keys (to the right) in each map.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    MASKED,
    MOST_TICKS,
    area,
    as_array,
    canvas,
    escaped,
    per_cent_colours,
    percents,
    slider,
    staircase,
    token_axis,
    token_labels,
)

ALL = "all"
SLIDER_PX = 90


def head_grid(
    weights: Any,
    tokens: Sequence[Any],
    *,
    enlarged: tuple[int, int] | None = None,
    stage: str | None = None,
) -> go.Figure:
    """Draw every head's attention side by side, with a slider that enlarges one; it works in the browser alone.

    weights: (L,H,T,T) from 0 to 1, or whole per cents in uint8; or a dict to that from the name of a stage, such as of
    training, which gets a slider of its own and begins at `stage`, or at the last one.
    tokens: T labels, or pieces of a tokenizer. enlarged: (layer, head) to begin with, None for all of them.

    What lies above the diagonal is drawn as masked if all of it is 0. ValueError, naming it, for another shape, for
    labels that do not fit it, for stages of different shapes, for weights outside 0 … 1 and for a head or a stage that
    does not exist.
    """
    labels = token_labels(tokens)
    stages = {name: _percents(one, labels) for name, one in _named(weights).items()}
    shapes = {one.shape for one in stages.values()}
    if len(shapes) != 1:
        raise refuse("the shapes of the stages", sorted(shapes), "one and the same (layers, heads, tokens, tokens)")
    (n_layers, n_heads, _, _) = shapes.pop()
    if stage is not None and stage not in stages:
        raise refuse("stage", stage, "one of " + ", ".join(stages))
    tiles = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    if enlarged is not None and tuple(enlarged) not in tiles:
        raise refuse("enlarged", enlarged, f"(layer, head), from (0, 0) to {tiles[-1]}, or None for all heads")
    shown = list(stages).index(stage) if stage is not None else len(stages) - 1
    traces = [
        _tile(one[tile], *tile, visible=number == shown) for number, one in enumerate(stages.values()) for tile in tiles
    ]
    causal = all(not one[..., np.triu(np.ones(one.shape[-2:], bool), 1)].any() for one in stages.values())
    views = {ALL: _overview(n_layers, n_heads, labels)}
    views |= {f"{layer}.{head}": _close_up(layer, head, labels) for layer, head in tiles}
    view = ALL if enlarged is None else f"{enlarged[0]}.{enlarged[1]}"
    sliders = _sliders(views, view, list(stages), shown, len(tiles))
    description = _description(list(stages.values())[shown], labels, enlarged)
    if len(stages) > 1:
        description = f"Stage {list(stages)[shown]} of {', '.join(stages)}. {description}"
    axes = views[view]
    return canvas(
        [*traces, _mask(tiles, len(labels), causal)],
        description=description,
        height=min(120 * n_layers, 480) + 80 + SLIDER_PX * len(sliders),
        xaxis=_axis(labels, n_heads, axes, "xaxis") | {"side": "top"},
        yaxis=_axis(labels, n_layers, axes, "yaxis"),
        coloraxis=per_cent_colours(),
        sliders=sliders,
        showlegend=False,
    )


def _named(weights: Any) -> dict[str, Any]:
    if not isinstance(weights, Mapping):
        return {"": weights}
    if not weights:
        raise refuse("weights", weights, "at least one stage with its weights")
    return dict(weights)


def _percents(weights: Any, labels: list[str]) -> np.ndarray:
    weights = as_array(weights)
    if weights.ndim != 4 or weights.shape[-1] != weights.shape[-2] or 0 in weights.shape:
        what = "(layers, heads, tokens, tokens); of a batch draw one: weights[:, 0]"
        raise refuse("the shape of weights", weights.shape, what)
    if len(labels) != weights.shape[-1]:
        raise refuse("the number of tokens", len(labels), f"{weights.shape[-1]}, as weights are {weights.shape}")
    high = 100 if weights.dtype == np.uint8 else 1 + 1e-3
    wrong = ~((weights >= 0) & (weights <= high))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise refuse(f"weights{list(place)}", float(weights[place]), "a weight from 0 to 1")
    return percents(weights)


def _step(n_tokens: int) -> int:
    """From where one map begins to where the next does."""
    return n_tokens + max(1, round(0.08 * n_tokens))


def _tile(matrix: np.ndarray, layer: int, head: int, visible: bool) -> go.Heatmap:
    step = _step(len(matrix))
    return go.Heatmap(
        z=matrix,
        x0=head * step,
        y0=layer * step,
        visible=visible,
        coloraxis="coloraxis",
        hovertemplate=f"layer {layer}, head {head}<br>query %{{y}} → key %{{x}}: %{{z}} %<extra></extra>",
    )


def _mask(tiles: list[tuple[int, int]], n_tokens: int, causal: bool) -> go.Scatter:
    """A sheet over what a causal head cannot see: in each map a staircase above the diagonal."""
    x, y = [], []
    if causal:
        stair_x, stair_y = staircase(n_tokens)
        for layer, head in tiles:
            step = _step(n_tokens)
            x += [*(head * step + stair_x), np.nan]
            y += [*(layer * step + stair_y), np.nan]
    return area(x, y, MASKED, shape="vh")


def _axis(labels: list[str], n_maps: int, view: dict[str, Any], name: str) -> dict[str, Any]:
    """One axis in a view. Each place has an alias, its token's name, which a hover shows in every view."""
    step, names = _step(len(labels)), _names(labels)
    aliases = {str(number * step + position): name for number in range(n_maps) for position, name in enumerate(names)}
    own = {key.removeprefix(f"{name}."): value for key, value in view.items() if key.startswith(f"{name}.")}
    title = {"text": own.pop("title.text")}
    return token_axis(labels) | {"nticks": MOST_TICKS, "labelalias": aliases, "title": title} | own


def _names(labels: list[str]) -> list[str]:
    """The labels, with their position where the same one stands elsewhere too."""
    return [
        escaped(label) + (f" ({position})" if labels.count(label) > 1 else "") for position, label in enumerate(labels)
    ]


def _overview(n_layers: int, n_heads: int, labels: list[str]) -> dict[str, Any]:
    """The axes when all maps are to be seen: ticks are the numbers of heads and layers."""
    step, middle = _step(len(labels)), (len(labels) - 1) / 2

    def axis(name: str, title: str, n: int, low_first: bool) -> dict[str, Any]:
        ends = [-0.5, (n - 1) * step + len(labels) - 0.5]
        return {
            f"{name}.range": ends if low_first else ends[::-1],
            f"{name}.tickmode": "array",
            f"{name}.tickvals": [number * step + middle for number in range(n)],
            f"{name}.ticktext": [str(number) for number in range(n)],
            f"{name}.title.text": title,
        }

    return axis("xaxis", "head", n_heads, True) | axis("yaxis", "layer", n_layers, False)


def _close_up(layer: int, head: int, labels: list[str]) -> dict[str, Any]:
    """The axes when one map fills the picture: ticks are its tokens, as many as there is room for."""
    n, step = len(labels), _step(len(labels))
    few = n <= MOST_TICKS

    def axis(name: str, title: str, first: int, low_first: bool) -> dict[str, Any]:
        ends = [first - 0.5, first + n - 0.5]
        return {
            f"{name}.range": ends if low_first else ends[::-1],
            f"{name}.tickmode": "array" if few else "auto",
            f"{name}.tickvals": [first + position for position in range(n)] if few else None,
            f"{name}.ticktext": _names(labels) if few else None,
            f"{name}.title.text": title,
        }

    return axis("xaxis", "key: looked at", head * step, True) | axis("yaxis", "query: looks", layer * step, False)


def _sliders(
    views: dict[str, dict[str, Any]], view: str, stages: list[str], shown: int, n_tiles: int
) -> list[dict[str, Any]]:
    enlarge = slider(
        "enlarge layer.head:", [(name, [axes]) for name, axes in views.items()], list(views).index(view), 20
    )
    for step in enlarge["steps"]:
        step["method"] = "relayout"
    if len(stages) == 1:
        return [enlarge]
    every = list(range(n_tiles * len(stages)))
    steps = [
        (escaped(name), [{"visible": [index // n_tiles == number for index in every]}, every])
        for number, name in enumerate(stages)
    ]
    return [enlarge, slider("stage:", steps, shown, top=20 + SLIDER_PX)]


def _description(weights: np.ndarray, labels: list[str], enlarged: tuple[int, int] | None) -> str:
    """The head that looks most sharply and the one that looks most evenly, and what the enlarged one looks at."""
    n_layers, n_heads, n_tokens, _ = weights.shape
    sharpness = weights.max(-1).mean(-1) / 100
    sharp, even = (divmod(int(place), n_heads) for place in (sharpness.argmax(), sharpness.argmin()))
    said = (
        f"Attention of {n_layers} × {n_heads} heads to {n_tokens} tokens: on average a row's largest weight is "
        f"{sharpness[sharp]:.2f} in head {sharp[0]}.{sharp[1]}, the sharpest, "
        f"and {sharpness[even]:.2f} in head {even[0]}.{even[1]}."
    )
    if enlarged is None:
        return said
    last = weights[tuple(enlarged)][-1]
    most = int(last.argmax())
    return (
        f"{said} Enlarged head {enlarged[0]}.{enlarged[1]}: the last token ‘{labels[-1]}’ looks most at "
        f"‘{labels[most]}’ ({most}): {last[most] / 100:.2f}."
    )
