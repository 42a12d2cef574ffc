"""A training as a film: the curves so far, and what the model writes and looks at after so many steps.

Axes: N steps that were recorded, F frames (looks at the model on the way), T tokens of the prompt.
"""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    BLUE,
    GREEN,
    INK,
    MONO,
    PURPLE,
    ROOTED,
    VERMILION,
    as_array,
    canvas,
    columns,
    escaped,
    px,
    slider,
    token_axis,
    token_labels,
)  # fmt: skip

TEXT_CHARACTERS = 70
TEXT_LINES = 4
NOWHERE = np.zeros(1), np.full(1, np.nan)  # beside a colour bar Plotly stumbles over axes without any point
CURVES = ("training", "validation", "floor", "learning rate")


class Frame(NamedTuple):
    """A look at the model after `step` updates."""

    step: int
    text: str  # how it goes on behind the prompt
    attention: Any  # (T,T) weights of one head to the prompt, from 0 to 1 or whole per cents in uint8


class Curves(NamedTuple):
    """What was recorded, each (N,); NaN where there is none."""

    steps: Any
    loss: Any
    val_loss: Any
    floor: Any
    learning_rate: Any


def training_film(
    curves: Curves, frames: Sequence[Frame], prompt: str, tokens: Sequence[Any], *, shown: int = -1
) -> go.Figure:
    """Draw losses, learning rate, a sample text and one head's attention; of several frames a slider chooses one.

    frames: at least one; `shown` is the one to begin with. tokens: T labels or pieces of the prompt, as the model reads
    it. The curves may be empty: then the model has not been trained yet. ValueError, naming it, for no frame, for
    curves of different lengths and for attention that is not (T,T).
    """
    labels = token_labels(tokens)
    curves = Curves(*(as_array(curve, float) for curve in curves))
    _check(curves, frames, len(labels))
    shown = range(len(frames))[shown]
    traces = _curves(curves)
    for number, frame in enumerate(frames):
        at_frame = [_marker(curves, frame.step), _heatmap(frame.attention), _text(prompt, frame.text)]
        traces += [trace.update(visible=number == shown) for trace in at_frame]
    always = [True] * len(CURVES)
    steps = [
        (f"{frame.step}", [{"visible": always + [one == number for one in range(len(frames)) for _ in range(3)]}])
        for number, frame in enumerate(frames)
    ]
    from_zero = {"rangemode": "tozero", "linecolor": INK}
    loss = from_zero | {"title": {"text": "loss (nats per token)"}, "domain": [0.52, 1]}
    rate = from_zero | {"title": {"text": "learning<br>rate"}, "domain": [0.27, 0.4], "nticks": 3, "anchor": "x2"}
    return canvas(
        traces,
        description=_description(curves, frames[shown], prompt, labels),
        height=600 + 110 * (len(frames) > 1),
        xaxis={"domain": [0, 0.45], "matches": "x2", "showticklabels": False},
        yaxis=loss,
        xaxis2={"domain": [0, 0.45], "anchor": "y2", "title": {"text": "step"}, "rangemode": "tozero"},
        yaxis2=rate,
        xaxis3=token_axis(labels, side="top", anchor="y3", domain=[0.66, 1]),
        yaxis3=token_axis(labels, anchor="x3", domain=[0.27, 0.86]) | {"range": [len(labels) - 0.5, -0.5]},
        xaxis4={"domain": [0, 1], "anchor": "y4", "range": [0, 1], "visible": False, "fixedrange": True},
        yaxis4={"domain": [0, 0.14], "anchor": "x4", "range": [-1, 0], "visible": False, "fixedrange": True},
        sliders=[slider("after step", steps, shown, top=24)] if len(frames) > 1 else [],
        showlegend=True,
    )


def _check(curves: Curves, frames: Sequence[Frame], n_tokens: int) -> None:
    for name, curve in curves._asdict().items():
        if curve.shape != curves.steps.shape or curve.ndim != 1:
            raise refuse(f"the shape of {name}", curve.shape, f"{curves.steps.shape}, as the steps")
    if not frames:
        raise refuse("frames", [], "at least one look at the model")
    for frame in frames:
        shape = as_array(frame.attention).shape
        if shape != (n_tokens, n_tokens):
            raise refuse(
                f"the shape of the attention at step {frame.step}", shape, f"{(n_tokens, n_tokens)}, as tokens"
            )


def _curves(curves: Curves) -> list[go.Scatter]:
    """Always four lines, so that an app can change them in place; one without numbers is there and not seen."""
    lines = {"training": BLUE, "validation": VERMILION, "floor": GREEN, "learning rate": PURPLE}
    traces = []
    for name, values in zip(CURVES, curves[1:], strict=True):
        there = np.isfinite(values)
        x, y = (curves.steps[there], values[there]) if there.any() else NOWHERE
        axes = {"xaxis": "x2", "yaxis": "y2"} if name == "learning rate" else {}
        line = {"color": lines[name], "width": 2, "dash": "dash" if name == "floor" else "solid"}
        traces.append(
            go.Scatter(
                x=x.astype(np.float32),
                y=y.astype(np.float32),
                name=name,
                showlegend=name != "learning rate",
                mode="lines+markers" if name == "validation" else "lines",
                line=line,
                marker={"size": px(6)},
                hovertemplate=f"step %{{x}}, {name}: %{{y:.3~g}}<extra></extra>",
                **axes,
            )
        )
    return traces


def _marker(curves: Curves, step: int) -> go.Scatter:
    """Where on the training curve the frame was taken: at the last recorded step that is not after it."""
    before = np.flatnonzero(curves.steps <= step)
    at = curves.loss[before[-1:]]
    marker = {"size": px(12), "color": "rgba(0, 0, 0, 0)", "line": {"color": BLUE, "width": 3}}
    return go.Scatter(
        x=[step] * len(at), y=at.astype(np.float32), mode="markers", marker=marker, showlegend=False, hoverinfo="skip"
    )


def _heatmap(attention: Any) -> go.Heatmap:
    """One head's weights in per cents; what lies after the query is left empty.

    In lists: a live figure sends them in place of an array, and there NaN, which is no JSON, cannot mark what is empty.
    """
    weights = as_array(attention)
    shares = weights if weights.dtype == np.uint8 else np.rint(100 * weights)
    return go.Heatmap(
        z=[[int(share) if key <= query else None for key, share in enumerate(row)] for query, row in enumerate(shares)],
        xaxis="x3",
        yaxis="y3",
        colorscale=ROOTED,
        zmin=0,
        zmax=100,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        colorbar={"thickness": px(14), "ticksuffix": " %", "len": 0.6, "y": 0.27, "yanchor": "bottom"},
        hovertemplate="query ‘%{y}’ (%{y:d}) → key ‘%{x}’ (%{x:d}): %{z} %<extra></extra>",
    )


def _text(prompt: str, text: str) -> go.Scatter:
    """The prompt and, in colour, what the model writes behind it, in at most four lines."""
    lines, left = [], len(prompt)
    whole = (prompt + text).replace("\n", " ")
    for line in textwrap.wrap(whole, columns(TEXT_CHARACTERS), drop_whitespace=False)[:TEXT_LINES]:
        old, new = line[: max(left, 0)], line[max(left, 0) :]
        left -= len(line)
        lines.append(escaped(old) + (f'<span style="color:{VERMILION}">{escaped(new)}</span>' if new else ""))
    return go.Scatter(
        x=[0],
        y=[0],
        xaxis="x4",
        yaxis="y4",
        text=["<br>".join(lines)],
        mode="text",
        textposition="bottom right",
        textfont={"family": MONO, "size": px(16), "color": INK},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )


def _description(curves: Curves, frame: Frame, prompt: str, labels: list[str]) -> str:
    parts = []
    for name, values in zip(CURVES[:3], curves[1:4], strict=True):
        there = np.flatnonzero(np.isfinite(values))
        if there.size and name == "floor":
            parts.append(f"floor {values[there[-1]]:.2f}")
        elif there.size:
            first, last = there[0], there[-1]
            at = [f"{curves.steps[place]:.0f}" for place in (first, last)]
            parts.append(f"{name} loss {values[first]:.2f} at step {at[0]}, {values[last]:.2f} at step {at[1]}")
    trained = "; ".join(parts) + " nats per token." if parts else "Not trained yet."
    row = as_array(frame.attention)[-1]
    share = 100 if row.dtype == np.uint8 else 1
    looks = f"the last token ‘{labels[-1]}’ looks most at ‘{labels[row.argmax()]}’: {row.max() / share:.2f}"
    return f"{trained} After step {frame.step} it writes: {prompt}|{frame.text} and {looks}.".replace("\n", "⏎")
