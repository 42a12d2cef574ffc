"""What a model loses when heads fall silent: its next-token bars and its loss, before and after.

Axes: n tokens, drawn as rows, the likeliest on top.
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
    VERMILION,
    Number,
    as_array,
    canvas,
    escaped,
    px,
    slider,
    token_labels,
)
from gptlab.figures._rows import row_axis

WHOLE, SILENT = "all heads", "some silent"
SILENT_BARS, SILENT_LOSS = 1, 3  # which of the figure's traces change with the heads
ROW_PX = 42


def ablation_bars(
    labels: Sequence[Any],
    whole: Any,
    silent: Mapping[str, Any],
    *,
    whole_loss: Number,
    silent_losses: Mapping[str, Number],
    n_others: int = 0,
    floor: Number | None = None,
    shown: str | None = None,
) -> go.Figure:
    """Draw the next token's probabilities and the loss of a whole model and of the same with heads that are silent.

    labels: of the tokens drawn; n_others: how many more share the last number, 0 for none. whole: (n,) probabilities.
    silent: by the name of what is silent, (n,) again; of more than one, a slider chooses, which works in the browser
    alone and begins at `shown` or the first.
    whole_loss, silent_losses: mean losses in nats, the latter by the same names. floor: the loss of the truth.

    ValueError, naming it, for no silent heads, for sizes and names that differ, and for a name that does not exist.
    """
    rows = token_labels(labels) + [f"{n_others:,} others"] * (n_others > 0)
    names = list(silent)
    whole = _shares("whole", whole, len(rows))
    after = {name: _shares(f"silent[{name!r}]", one, len(rows)) for name, one in silent.items()}
    if not names or set(silent_losses) != set(names):
        raise refuse("the names of silent_losses", list(silent_losses), f"those of silent, at least one: {names}")
    if shown is not None and shown not in names:
        raise refuse("shown", shown, "one of " + ", ".join(names))
    here = names[0] if shown is None else shown
    losses = [float(silent_losses[name]) for name in names]
    steps = [
        (escaped(name), [{"x": [after[name].tolist(), [1]], "y": [_places(len(rows)).tolist(), [loss]]}, _CHANGING])
        for name, loss in zip(names, losses, strict=True)
    ]
    highest = max([float(whole_loss), *losses])
    return canvas(
        [
            _probabilities(WHOLE, whole, BLUE, ""),
            _probabilities(SILENT, after[here], VERMILION, "/"),
            _loss(0, whole_loss, BLUE, ""),
            _loss(1, silent_losses[here], VERMILION, "/"),
            _floor(floor),
        ],
        description=_description(rows, whole, after[here], here, whole_loss, silent_losses[here], floor),
        height=ROW_PX * len(rows) + 110 + 100 * (len(steps) > 1),
        xaxis={"domain": [0, 0.62], "range": [0, 1.12], "tickformat": ".0%", "title": {"text": "probability"}},
        yaxis=row_axis(rows),
        xaxis2={
            "domain": [0.76, 1],
            "range": [-0.6, 1.6],
            "anchor": "y2",
            "tickvals": [0, 1],
            "ticktext": ["all", "silent"],
            "showgrid": False,
            "zeroline": False,
        },
        yaxis2={"anchor": "x2", "range": [0, 1.15 * highest], "title": {"text": "loss, nats per token"}},
        barmode="group",
        bargap=0.2,
        bargroupgap=0,
        sliders=[slider("silent:", steps, names.index(here), top=60)] if len(steps) > 1 else [],
    )


_CHANGING = [SILENT_BARS, SILENT_LOSS]


def _places(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int16)


def _shares(name: str, values: Any, n: int) -> np.ndarray:
    values = as_array(values, np.float32)
    if values.shape != (n,):
        raise refuse(f"the shape of {name}", values.shape, f"({n},), a probability for each row")
    if not ((values >= 0) & (values <= 1 + 1e-3)).all():
        raise refuse(name, values.tolist(), "probabilities from 0 to 1")
    return values


def _probabilities(name: str, shares: np.ndarray, color: str, pattern: str) -> go.Bar:
    return go.Bar(
        name=name,
        x=shares,
        y=_places(len(shares)),
        orientation="h",
        marker={"color": color, "pattern": {"shape": pattern}},
        texttemplate="%{x:.0%}",
        textposition="outside",
        textangle=0,
        textfont={"size": px(16), "color": INK},
        cliponaxis=False,
        hovertemplate=f"‘%{{y}}’ {name}: %{{x:.1%}}<extra></extra>",
    )


def _loss(place: int, loss: Number, color: str, pattern: str) -> go.Bar:
    return go.Bar(
        x=[place],
        y=[float(loss)],
        width=0.8,
        offset=-0.4,
        xaxis="x2",
        yaxis="y2",
        marker={"color": color, "pattern": {"shape": pattern}},
        texttemplate="%{y:.2f}",
        textposition="outside",
        textfont={"size": px(16), "color": INK},
        cliponaxis=False,
        showlegend=False,
        hovertemplate="loss %{y:.3f} nats per token<extra></extra>",
    )


def _floor(floor: Number | None) -> go.Scatter:
    return go.Scatter(
        name="floor",
        x=[-0.6, 1.6],
        y=[floor, floor],
        xaxis="x2",
        yaxis="y2",
        mode="lines",
        visible=floor is not None,
        line={"color": GREEN, "dash": "dash", "width": 3},
        hovertemplate="floor %{y:.3f}<extra></extra>",
    )


def _description(
    rows: list[str],
    whole: np.ndarray,
    after: np.ndarray,
    name: str,
    whole_loss: Number,
    loss: Number,
    floor: Number | None,
) -> str:
    """The three likeliest tokens before and after, and the losses."""
    tokens = [f"‘{rows[row]}’ {whole[row]:.2f} → {after[row]:.2f}" for row in range(min(3, len(rows)))]
    said = "" if floor is None else f"; floor {floor:.2f}"
    return f"Silent: {name}. Next token: {'; '.join(tokens)}. Loss {whole_loss:.2f} → {loss:.2f}{said}."
