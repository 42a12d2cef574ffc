"""Where a model's parameters are: a bar a part, as long as its share of them all, with its number.

Axes: P parts, the first on top.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, INK, canvas, escaped, px

ROW_PX = 36
TOTAL = "total"


def parameter_bars(counts: Mapping[str, Any], *, name: str = "") -> go.Figure:
    """Draw how the parameters of a model are divided among its parts.

    counts: part → number, and "total", as `GPTConfig.parameter_count` gives them; or several of these by the name of
    their model, of which a menu that works in the browser alone chooses one. name: the model, or which is shown first.
    ValueError, naming it, for counts that do not sum to their total and for models of other parts.
    """
    models = dict(counts) if all(isinstance(one, Mapping) for one in counts.values()) else {name: counts}
    if not models or name not in models:
        raise refuse("name", name, f"one of {', '.join(models) or 'the models counted; there is none'}")
    parts = [part for part in models[name] if part != TOTAL]
    for model, count in models.items():
        if [part for part in count if part != TOTAL] != parts:
            raise refuse(f"the parts of {model!r}", list(count), f"{', '.join(parts)}, as in {name!r}")
        if sum(count[part] for part in parts) != count.get(TOTAL) or count[TOTAL] <= 0:
            raise refuse(f"the total of {model!r}", count.get(TOTAL), "the sum of its parts, and above 0")
    bar = go.Bar(
        **_bars(models[name], parts),
        y=list(range(len(parts))),
        orientation="h",
        marker={"color": BLUE},
        texttemplate="\u2002%{customdata:,d}",
        textposition="outside",
        textfont={"size": px(16), "color": INK},
        cliponaxis=False,
        hovertemplate="%{y}: %{customdata:,d}, %{x:.1%}<extra></extra>",
    )
    labels = [part.replace("_", " ").replace("mlp", "MLP") for part in parts]
    menu = {"updatemenus": [_menu(models, parts, name)]} if len(models) > 1 else {}
    return canvas(
        [bar],
        description=_description(models[name], labels, parts, name),
        height=ROW_PX * len(parts) + 130,
        title={"text": _title(models[name], name), "x": 0, "xref": "paper", "font": {"size": px(18)}},
        # Beyond the whole there is room for the numbers.
        xaxis={"range": [0, 1.35], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}
        | {"title": {"text": "share of all parameters"}},
        yaxis={"tickmode": "array", "tickvals": list(range(len(parts))), "ticktext": labels}
        | {"range": [len(parts) - 0.5, -0.5], "showgrid": False, "ticklabelstandoff": px(8)},
        margin={"l": px(16), "r": px(16), "t": px(60), "b": px(16)},
        showlegend=False,
        **menu,
    )


def _bars(count: Mapping[str, int], parts: list[str]) -> dict[str, Any]:
    numbers = [count[part] for part in parts]
    return {"x": np.array(numbers) / count[TOTAL], "customdata": numbers}


def _menu(models: Mapping[str, Mapping[str, int]], parts: list[str], name: str) -> dict[str, Any]:
    buttons = []
    for model, count in models.items():
        bars = {key: [list(values)] for key, values in _bars(count, parts).items()}
        args = [bars, {"title.text": _title(count, model)}]
        buttons.append({"label": escaped(model), "method": "update", "args": args})
    place = {"x": 1, "xanchor": "right", "y": 1.03, "yanchor": "bottom"}
    return {"buttons": buttons, "active": list(models).index(name), "font": {"size": px(16), "color": INK}} | place


def _title(count: Mapping[str, int], name: str) -> str:
    return f"{escaped(name)}{': ' * bool(name)}{count[TOTAL]:,} parameters"


def _description(count: Mapping[str, int], labels: list[str], parts: list[str], name: str) -> str:
    each = [f"{label} {count[part]:,}" for label, part in zip(labels, parts, strict=True)]
    return f"Parameters{' of ' * bool(name)}{name}: {', '.join(each)}; in all {count[TOTAL]:,}."
