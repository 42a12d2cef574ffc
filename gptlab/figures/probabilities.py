"""What may come next, and how likely: the model, the model after the sampler's cuts, and the truth.

Axes: V vocabulary, of which n tokens are drawn, the likeliest on top, and below them all others together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, VERMILION, Number, as_array, canvas, nearest, slider, token_labels
from gptlab.figures._rows import bar_lengths, distribution, row_axis, share_axis, share_bars, share_diamonds

N_TOKENS = 8
MODEL, AFTER, TRUTH = "model", "after temperature, top-k, top-p", "truth"
AFTER_BARS = 1  # which of the figure's traces that is
ROW_PX = 46


def next_token_bars(
    model: Any,
    labels: Sequence[Any],
    *,
    after: Any = None,
    truth: Any = None,
    temperature: Number = 1.0,
    n: int = N_TOKENS,
) -> go.Figure:
    """Draw the n likeliest next tokens as bars, and what the rest has together, so that each colour sums to 1.

    model: (V,) probabilities. labels: V labels or pieces, or anything that gives them by token id.
    after: (V,) what temperature, top-k and top-p make of them; or a dict from temperature to (V,), which gets a slider
    that works in the browser alone and begins at the entry nearest to `temperature`.
    truth: (V,) what the world says, drawn as diamonds.
    Model and truth choose the tokens, not `after`: bars move and rows stay when a control is moved.

    ValueError, naming it, for what is no distribution and for sizes that differ.
    """
    model = distribution("model", model)
    if len(labels) != len(model):
        raise refuse("the number of labels", len(labels), f"{len(model)}, one for each probability of the model")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise refuse("n", n, "a whole number of at least 1: the number of tokens to draw")
    ids = likeliest(model, truth, n)
    rows = token_labels([labels[int(id)] for id in ids])
    n_others = len(model) - len(ids)
    others = [f"{n_others:,} other{'s' * (n_others > 1)}"] if n_others else []

    def lengths(name: str, values: Any) -> np.ndarray:
        return bar_lengths(distribution(name, values, len(model)), ids)

    temperatures = list(after) if isinstance(after, Mapping) else []
    settings = [lengths(f"after[{key}]", after[key]) for key in temperatures]
    active = nearest(temperatures, temperature) if temperatures else 0
    drawn = {MODEL: bar_lengths(model, ids)}
    if after is not None:
        drawn[AFTER] = settings[active] if temperatures else lengths("after", after)
    if truth is not None:
        drawn[TRUTH] = lengths("truth", truth)
    steps = [
        (f"{key:g}", [{"x": [setting.tolist()]}, [AFTER_BARS]])
        for key, setting in zip(temperatures, settings, strict=True)
    ]
    return canvas(
        [_trace(name, drawn.get(name)) for name in (MODEL, AFTER, TRUTH)],
        description=_description(rows, drawn, temperatures[active] if temperatures else None),
        height=ROW_PX * len([*rows, *others]) + 100 + 100 * bool(steps),
        xaxis=share_axis("probability") | {"zeroline": True},
        yaxis=row_axis([*rows, *others]),
        barmode="group",
        bargap=0.15,
        bargroupgap=0,
        sliders=[slider("temperature", steps, active, top=60)] if steps else [],
    )


def likeliest(model: Any, truth: Any, n: int) -> np.ndarray:
    """The ids of the n tokens that the model or the truth finds likeliest, in the order of the model, then of ids."""
    model = as_array(model)
    either = model if truth is None else np.maximum(model, distribution("truth", truth, len(model)))
    chosen = np.sort(np.argsort(-either, kind="stable")[:n])
    return chosen[np.argsort(-model[chosen], kind="stable")]


def _trace(name: str, shares: np.ndarray | None) -> go.Bar | go.Scatter:
    """One colour; where there is nothing to draw it is there but hidden, so that an app can show it later."""
    if name == TRUTH:
        return share_diamonds(name, shares)
    return share_bars(name, shares, BLUE if name == MODEL else VERMILION, visible=shares is not None)


def _description(rows: Sequence[str], drawn: dict[str, np.ndarray], temperature: Number | None) -> str:
    """The three likeliest tokens with each colour's number."""
    short = {MODEL: "model", AFTER: "after", TRUTH: "truth"}
    parts = [
        f"‘{label}’ " + ", ".join(f"{short[name]} {shares[row]:.2f}" for name, shares in drawn.items())
        for row, label in enumerate(rows[:3])
    ]
    return (
        "Next token" + ("" if temperature is None else f" at temperature {temperature:.1f}") + f": {'; '.join(parts)}."
    )
