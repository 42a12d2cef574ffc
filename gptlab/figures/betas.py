"""What β does to a model that learns from preferences: the answers that it comes to, and how far it went for them.

Axes: N manners of answering, S steps of a training that were recorded, the start included.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    VERMILION,
    Number,
    as_array,
    canvas,
    escaped,
    nearest,
    slider,
)

BARS = ("reference", "after training", "optimum")
LINES = ("margin", "KL to the reference")
MOVED = [1, 2, 3, 4]  # the traces that β changes: all but the reference


class PreferenceRun(NamedTuple):
    """A training at one β: where it ended, where its loss is least, and how margin and divergence grew, in nats."""

    trained: Any  # (N,) shares
    optimum: Any  # (N,) shares
    steps: Any  # (S,)
    margin: Any  # (S,)
    kl: Any  # (S,)


def preference_runs(
    names: Sequence[str], reference: Any, runs: Mapping[Number, PreferenceRun], *, beta: Number | None = None
) -> go.Figure:
    """Draw shares of the manners, and margin and KL over the steps; of several β a slider chooses in the browser alone.

    names: N. reference: (N,) shares. runs: β → `PreferenceRun`, all over the same steps. beta: the one shown first, or
    the nearest there is. ValueError, naming it, for no run, a β of at most 0, and shapes that do not fit.
    """
    shares = as_array(reference, float)
    made = {b: PreferenceRun(*(as_array(part, float) for part in run)) for b, run in runs.items()}
    _check(names, shares, made)
    betas = list(made)
    active = nearest([math.log(b) for b in betas], math.log(betas[0] if beta is None else beta))
    shown = made[betas[active]]
    traces = [_bar(*bar) for bar in zip(BARS, (shares, *shown[:2]), (INK, BLUE, ORANGE), ("", "/", "."), strict=True)]
    for bar in traces:
        bar.update(x=list(range(len(names))), customdata=[escaped(name) for name in names])
    traces += [_line(*one) for one in zip(LINES, shown[3:], (GREEN, VERMILION), ("solid", "dash"), strict=True)]
    for line in traces[3:]:
        line.update(x=shown.steps)
    steps = [
        (f"{b:g}", [{"y": [part.tolist() for part in (run.trained, run.optimum, run.margin, run.kl)]}, MOVED])
        for b, run in made.items()
    ]
    lowest = min(0.0, *(float(part.min()) for run in made.values() for part in run[3:]))
    highest = max(float(part.max()) for run in made.values() for part in run[3:])
    ticks = {"tickvals": list(range(len(names))), "ticktext": [escaped(name) for name in names], "tickangle": 0}
    return canvas(
        traces,
        description=_description(names, shares, betas[active], shown),
        height=440 + 110 * (len(betas) > 1),
        barmode="group",
        xaxis=ticks | {"domain": [0, 0.5], "showgrid": False, "range": [-0.5, len(names) - 0.5]},
        yaxis={"range": [0, 1.02], "tickformat": ".0%", "title": {"text": "share"}},
        xaxis2={"domain": [0.62, 1], "anchor": "y2", "title": {"text": "step"}},
        yaxis2={"range": [lowest, 1.05 * highest], "anchor": "x2", "title": {"text": "nats"}},
        sliders=[slider("β =", steps, active, top=60)] if len(betas) > 1 else [],
        showlegend=True,
    )


def _check(names: Sequence[str], reference: np.ndarray, runs: Mapping[Number, PreferenceRun]) -> None:
    if not runs:
        raise refuse("runs", dict(runs), "at least one β with its run")
    steps = next(iter(runs.values())).steps
    wanted = {"trained": (len(names),), "optimum": (len(names),)} | dict.fromkeys(
        ("steps", "margin", "kl"), steps.shape
    )
    if reference.shape != (len(names),):
        raise refuse("the shape of reference", reference.shape, f"{(len(names),)}, as names")
    for beta, run in runs.items():
        if not beta > 0:
            raise refuse("a β", beta, "a number above 0")
        for name, shape in wanted.items():
            if getattr(run, name).shape != shape:
                raise refuse(f"the shape of {name} at β {beta:g}", getattr(run, name).shape, f"{shape}")
        if not np.array_equal(run.steps, steps):
            raise refuse(f"the steps at β {beta:g}", run.steps.tolist(), "the same at each β")


def _bar(name: str, heights: np.ndarray, colour: str, pattern: str) -> go.Bar:
    marker = {"color": colour, "pattern": {"shape": pattern}}
    return go.Bar(
        y=heights, name=name, marker=marker, hovertemplate=f"{name}, %{{customdata}}: %{{y:.1%}}<extra></extra>"
    )


def _line(name: str, values: np.ndarray, colour: str, dash: str) -> go.Scatter:
    line, hover = {"color": colour, "dash": dash, "width": 2.5}, f"{name}, step %{{x}}: %{{y:.2f}} nats<extra></extra>"
    return go.Scatter(y=values, name=name, mode="lines", line=line, hovertemplate=hover, xaxis="x2", yaxis="y2")


def _description(names: Sequence[str], reference: np.ndarray, beta: Number, run: PreferenceRun) -> str:
    parts = [
        f"{name} {before:.2f} became {after:.2f}, optimum {best:.2f}"
        for name, before, after, best in zip(names, reference, run.trained, run.optimum, strict=True)
    ]
    return (
        f"DPO at β = {beta:g} after {run.steps[-1]:g} steps: {'; '.join(parts)}; "
        f"margin {run.margin[-1]:.2f} nats, KL to the reference {run.kl[-1]:.2f} nats."
    )
