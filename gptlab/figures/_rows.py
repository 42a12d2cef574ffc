"""Rows of one token each: how likely each is by a bar, and by a diamond how likely it truly is.

Axes: V vocabulary, of which n tokens have a row, the first on top; the others may have one together below.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import GREEN, INK, MONO, TEXT_PX, as_array, px, token_axis


def distribution(name: str, values: Any, size: int | None = None) -> np.ndarray:
    """Probabilities (V,) of all tokens; ValueError, naming them, where they are none, or not of a vocabulary's size."""
    values = as_array(values)
    if values.ndim != 1 or not len(values):
        raise refuse(f"the shape of {name}", values.shape, "(vocabulary,): the distribution after one text")
    if size is not None and len(values) != size:
        raise refuse(f"the number of probabilities in {name}", len(values), f"{size}, one for each token")
    if not ((values >= 0) & np.isfinite(values)).all() or abs(values.sum(dtype=np.float64) - 1) > 1e-3:
        raise refuse(f"the sum of {name}", float(values.sum(dtype=np.float64)), "1, of probabilities of at least 0")
    return values


def bar_lengths(probabilities: Any, ids: np.ndarray) -> np.ndarray:
    """The probabilities of the tokens drawn and, if there are others, of those together: (n,) or (n + 1,)."""
    probabilities = as_array(probabilities)
    drawn = probabilities[ids].astype(np.float32)
    if len(ids) == len(probabilities):
        return drawn
    return np.append(drawn, np.float32(np.delete(probabilities, ids).sum(dtype=np.float64)))


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    """The axis downwards, with a label for each row."""
    return token_axis(labels, ticklabelstandoff=px(8)) | {"range": [len(labels) - 0.5, -0.5]}


def share_axis(title: str) -> dict[str, Any]:
    """The axis to the right, for probabilities that are written behind their bars."""
    return {"range": [0, 1.08], "tickformat": ".0%", "title": {"text": title}}


def share_bars(name: str, shares: np.ndarray | None, colour: str, **settings: Any) -> go.Bar:
    """A bar for each probability, (n,). The wide blank leaves room for the diamond of a model that knows the truth."""
    return go.Bar(
        x=shares,
        y=_places(shares),
        name=name,
        orientation="h",
        marker={"color": colour},
        texttemplate="\u2003%{x:.0%}",
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        textfont={"size": px(TEXT_PX), "color": INK},
        hovertemplate=_hover(name),
        **settings,
    )


def share_diamonds(name: str, shares: np.ndarray | None) -> go.Scatter:
    """A diamond for each probability, (n,); where there is none they are hidden, so that an app can show them later."""
    return go.Scatter(
        x=shares,
        y=_places(shares),
        name=name,
        visible=shares is not None,
        mode="markers",
        marker={"symbol": "diamond-tall", "size": px(16), "color": GREEN, "line": {"width": 1.5, "color": "#fff"}},
        hovertemplate=_hover(name),
        cliponaxis=False,
    )


def text_above(text: str, **settings: Any) -> dict[str, Any]:
    """The text that the rows go on from, above them on the left."""
    place = {"x": 0, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": px(32)}
    return place | {"text": text, "showarrow": False, "font": {"family": MONO, "size": px(TEXT_PX)}} | settings


def first_rows(rows: Sequence[str], model: np.ndarray, truth: np.ndarray | None) -> str:
    """The first three in words."""
    parts = [
        f"‘{label}’ model {model[row]:.2f}" + ("" if truth is None else f", truth {truth[row]:.2f}")
        for row, label in enumerate(rows[:3])
    ]
    return "; ".join(parts)


def _places(shares: np.ndarray | None) -> np.ndarray | None:
    return None if shares is None else np.arange(len(shares), dtype=np.int16)


def _hover(name: str) -> str:
    return f"‘%{{y}}’ {name}: %{{x:.1%}}<extra></extra>"
