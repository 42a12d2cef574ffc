"""How the loss falls in training, and the floor that no model gets under.

Axes: N steps that were recorded. Loss is cross-entropy in nats per token; floor = the world's entropy, and
loss - floor = KL(truth‖model). That gap is soon too small to be seen on the loss's own axis, so where the floor is
known a button shows the gap alone, on a logarithmic one.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, GREEN, INK, VERMILION, as_array, canvas

MOST_POINTS = 2_000
SMALLEST_GAP = 1e-4  # nats; by chance a batch may even lie below the floor
LOSS = "loss (nats per token)"


def loss_curve(steps: Any, loss: Any, val_loss: Any = None, floor: Any = None) -> go.Figure:
    """Draw training loss, validation loss and the floor over the steps.

    steps, loss: (N,). val_loss: (N,), NaN or None at steps without a validation. floor: nats per token, a number, or
    (N,) where the text that is trained on changed on the way.
    Long curves are thinned to at most some 2,000 points that keep the first, the last and every extreme, so that the
    picture stays the same. ValueError, naming them, for lengths that differ.
    """
    steps = as_array(steps)
    curves = {"training": as_array(loss, float)}
    if val_loss is not None:
        curves["validation"] = as_array(val_loss, float)
    for name, curve in curves.items():
        if curve.ndim != 1 or curve.shape != steps.shape:
            raise refuse(f"the shape of the {name} loss", curve.shape, f"{steps.shape}, as the steps")
    if not len(steps):
        raise refuse("steps", [], "at least one step: train first")
    colours = {"training": BLUE, "validation": VERMILION}
    floors = np.broadcast_to(np.nan if floor is None else as_array(floor, float), steps.shape)
    traces, gaps = [], []
    for name, curve in curves.items():
        there = np.flatnonzero(np.isfinite(curve))
        kept = there[thinned(curve[there], MOST_POINTS)]
        traces.append(_line(steps[kept], curve[kept], name, {"color": colours[name], "width": 2}))
        gaps.append((curve[kept] - floors[kept]).clip(SMALLEST_GAP))
    menu = {}
    if floor is not None:
        bends = np.flatnonzero(np.diff(floors))  # a level floor is drawn by its two ends
        kept = np.unique([0, *bends, *(bends + 1), len(steps) - 1])
        traces.append(_line(steps[kept], floors[kept], "floor", {"color": GREEN, "width": 3, "dash": "dash"}))
        menu = {"updatemenus": [_views([trace.y for trace in traces], [*gaps, None])]}
    return canvas(
        traces,
        description=_description(steps, curves, floor),
        height=460 if menu else 420,
        xaxis={"title": {"text": "step"}},
        yaxis={"title": {"text": LOSS}, "rangemode": "tozero", "linecolor": INK},
        showlegend=True,
        **menu,
    )


def _views(losses: list[Any], gaps: list[Any]) -> dict[str, Any]:
    """Two buttons: the loss as it is, and how far it is above the floor, on a logarithmic axis."""

    def button(label: str, curves: list[Any], title: str, kind: str) -> dict[str, Any]:
        shown = [None if curve is None else np.asarray(curve, np.float32) for curve in curves]
        visible = [curve is not None for curve in curves]
        axis = {"yaxis.title.text": title, "yaxis.type": kind, "yaxis.autorange": True}
        return {"label": label, "method": "update", "args": [{"y": shown, "visible": visible}, axis]}

    return {
        "type": "buttons",
        "direction": "right",
        "x": 1,
        "xanchor": "right",
        "y": 1.02,
        "yanchor": "bottom",
        "buttons": [
            button("loss", losses, LOSS, "linear"),
            button("above the floor", gaps, "loss − floor (nats per token)", "log"),
        ],
    }


def thinned(values: np.ndarray, most: int) -> np.ndarray:
    """Indices, rising, of at most `most` values that keep the first, the last, and each stretch's extremes."""
    if len(values) <= most:
        return np.arange(len(values))
    kept = {0, len(values) - 1}
    for stretch in np.array_split(np.arange(len(values)), most // 2 - 1):
        kept |= {int(stretch[values[stretch].argmin()]), int(stretch[values[stretch].argmax()])}
    return np.array(sorted(kept))


def _line(x: np.ndarray, y: np.ndarray, name: str, line: dict[str, Any]) -> go.Scatter:
    hover = f"step %{{x}}, {name}: %{{y:.3f}}<extra></extra>"
    mode = "lines" if len(x) > 1 else "markers"
    return go.Scatter(x=x, y=y.astype(np.float32), name=name, mode=mode, line=line, hovertemplate=hover)


def _description(steps: np.ndarray, curves: dict[str, np.ndarray], floor: Any) -> str:
    parts = []
    for name, curve in curves.items():
        there = np.flatnonzero(np.isfinite(curve))
        if there.size:
            first, last = there[0], there[-1]
            parts.append(f"{name} loss {curve[first]:.2f} at step {steps[first]}, {curve[last]:.2f} at {steps[last]}")
    if floor is not None:
        parts.append(f"floor {as_array(floor, float).flat[-1]:.2f}")
    return "; ".join(parts) + " nats per token."
