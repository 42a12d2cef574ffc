"""How the loss falls in training, and the floor that no model gets under.

Axes: N steps that were recorded. Loss is cross-entropy in nats per token; floor = the world's entropy, and
loss - floor = KL(truth‖model).
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, GREEN, INK, VERMILION, Number, as_array, canvas

MOST_POINTS = 2_000


def loss_curve(steps: Any, loss: Any, val_loss: Any = None, floor: Number | None = None) -> go.Figure:
    """Draw training loss, validation loss and the floor over the steps.

    steps, loss: (N,). val_loss: (N,), NaN or None at steps without a validation. floor: nats per token.
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
    traces = []
    for name, curve in curves.items():
        there = np.isfinite(curve)
        kept = thinned(curve[there], MOST_POINTS)
        traces.append(_line(steps[there][kept], curve[there][kept], name, {"color": colours[name], "width": 2}))
    if floor is not None:
        ends = np.array([steps[0], steps[-1]])
        traces.append(_line(ends, np.full(2, float(floor)), "floor", {"color": GREEN, "width": 3, "dash": "dash"}))
    return canvas(
        traces,
        description=_description(steps, curves, floor),
        height=420,
        xaxis={"title": {"text": "step"}},
        yaxis={"title": {"text": "loss (nats per token)"}, "rangemode": "tozero", "linecolor": INK},
        showlegend=True,
    )


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


def _description(steps: np.ndarray, curves: dict[str, np.ndarray], floor: Number | None) -> str:
    parts = []
    for name, curve in curves.items():
        there = np.flatnonzero(np.isfinite(curve))
        if there.size:
            first, last = there[0], there[-1]
            parts.append(f"{name} loss {curve[first]:.2f} at step {steps[first]}, {curve[last]:.2f} at {steps[last]}")
    if floor is not None:
        parts.append(f"floor {floor:.2f}")
    return "; ".join(parts) + " nats per token."
