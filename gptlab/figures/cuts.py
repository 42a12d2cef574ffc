"""What temperature, top-k and top-p do to one distribution: which tokens stay, and how much of the mass.

Axes: V vocabulary, of which the n likeliest are drawn, the likeliest on top, and below them all others together.
"""

from collections.abc import Mapping, Sequence
from math import inf
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
    px,
    slider,
    token_axis,
    token_labels,
)
from gptlab.figures._rows import bar_lengths, distribution

N_TOKENS = 10
ROW_PX = 36
# The traces, by what they show.
KEPT, CUT, DRAWN = "can be drawn", "cut away", "drawn from, sums to 1"
MASS, TOP_K, TOP_P = "mass so far", "top-k", "top-p"
SAID = (
    "can be drawn: %{customdata[0]:,} of %{customdata[1]:,} tokens, %{customdata[2]:.1%} of the mass<br>"
    "entropy: %{customdata[3]:.2f} nats before the cut, %{customdata[4]:.2f} after"
)


class Setting(NamedTuple):
    """A temperature, a top-k and a top-p (None: off), and what they make of a distribution."""

    temperature: Number
    top_k: int | None
    top_p: Number | None
    scaled: Any  # (V,) after temperature alone
    drawn: Any  # (V,) after the cuts: 0 for what is cut away, and summing to 1 again

    @property
    def knobs(self) -> dict[str, Number | None]:
        """The three numbers by their names on a slider."""
        return {"temperature": self.temperature, "top-k": self.top_k, "top-p": self.top_p}


def sampling_cut(
    model: Any,
    labels: Any,
    setting: Setting,
    *,
    sliders: Mapping[str, Sequence[Setting]] | None = None,
    n: int = N_TOKENS,
) -> go.Figure:
    """Draw where a setting cuts a distribution, the mass that it keeps, and what is drawn from in the end.

    model: (V,) probabilities at temperature 1, which choose and rank the rows. labels: V labels or pieces, or a dict of
    those that are drawn, which `likeliest` tells. sliders: for "temperature", "top-k" or "top-p" the settings that a
    slider goes through, `setting` among them; it works in the browser alone, and puts the other sliders back.

    ValueError, naming it, for what is no distribution, for sizes that differ, and for an n below 1.
    """
    model = distribution("model", as_array(model, np.float64))
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise refuse("n", n, "a whole number of at least 1: the number of tokens to draw")
    ids = likeliest(model, n)
    rows = token_labels([labels[int(id)] for id in ids])
    n_others = len(model) - len(ids)
    if n_others:
        rows.append(f"{n_others:,} other{'s' * (n_others > 1)}")
    shown = shown_of(setting, ids)
    made = _sliders(sliders or {}, setting, ids)
    return canvas(
        [_trace(name, shown[name]) for name in shown],
        description=_description(setting, rows, shown),
        height=ROW_PX * (len(rows) + 2) + 120 + 90 * len(made),
        xaxis={"range": [0, 1.04], "tickformat": ".0%", "title": {"text": "probability"}, "zeroline": True},
        yaxis=token_axis(rows, ticklabelstandoff=px(8)) | {"range": [len(rows) - 0.4, -2.2]},
        barmode="stack",
        bargap=0.25,
        sliders=made,
        legend={"traceorder": "normal"},
        showlegend=True,
    )


def likeliest(model: Any, n: int = N_TOKENS) -> np.ndarray:
    """The ids of the n likeliest tokens, the likeliest first, of equal ones the lowest id."""
    return np.argsort(-as_array(model), kind="stable")[:n]


def number(value: Number | None) -> str:
    """A knob's value as it stands on a slider."""
    return {None: "off", inf: "∞"}.get(value, f"{value:g}" if value is not None else "")


def shown_of(setting: Setting, ids: np.ndarray) -> dict[str, dict[str, Any]]:
    """What each trace shows of a setting, by the trace's name, in the order of the traces."""
    scaled = distribution("scaled", as_array(setting.scaled, np.float64))
    drawn = distribution("drawn", as_array(setting.drawn, np.float64), len(scaled))
    stays = drawn > 0
    kept, cut, after = (bar_lengths(values, ids) for values in (scaled * stays, scaled * ~stays, drawn))
    places = np.arange(len(kept), dtype=np.int16)
    # In the last row all others stand together: a cut among them goes through its middle.
    row_k = None if setting.top_k is None else min(setting.top_k - 0.5, len(ids))
    left_by_k = np.sort(scaled)[::-1][: setting.top_k].sum()
    at_p = None if setting.top_p is None else float(setting.top_p * left_by_k)  # of what top-k has left
    said = [int(stays.sum()), len(scaled), float(scaled[stays].sum()), _entropy(scaled), _entropy(drawn)]
    return {
        KEPT: {"x": kept, "y": places},
        CUT: {"x": cut, "y": places},
        MASS: {"x": np.cumsum(kept + cut, dtype=np.float32), "y": places},
        TOP_K: {"x": [0, 1], "y": [row_k, row_k]},
        TOP_P: {"x": [at_p, at_p], "y": [-0.5, len(kept) - 0.5]},
        DRAWN: {"x": after, "y": places},
        SAID: {"x": [0], "y": [-1.4], "customdata": [said]},
    }


def _entropy(p: np.ndarray) -> float:
    """In nats."""
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def _trace(name: str, shown: dict[str, Any]) -> go.Bar | go.Scatter:
    hover = f"‘%{{y}}’ {name}: %{{x:.1%}}<extra></extra>"
    if name in (KEPT, CUT):
        marker = {"color": BLUE} if name == KEPT else {"color": INK, "opacity": 0.6, "pattern": {"shape": "/"}}
        return go.Bar(shown, name=name, orientation="h", marker=marker, hovertemplate=hover)
    if name == DRAWN:
        marker = {"symbol": "diamond-tall", "size": px(14), "color": VERMILION, "line": {"width": 1, "color": "#fff"}}
        return go.Scatter(shown, name=name, mode="markers", marker=marker, hovertemplate=hover, cliponaxis=False)
    if name == SAID:
        place = {"mode": "text", "textposition": "middle right", "textfont": {"size": px(16)}}
        return go.Scatter(shown | place, texttemplate=SAID, hoverinfo="skip", showlegend=False)
    line = {
        MASS: {"color": GREEN, "width": 2, "dash": "dot", "shape": "vh"},
        TOP_K: {"color": ORANGE, "width": 3, "dash": "dash"},
        TOP_P: {"color": GREEN, "width": 3, "dash": "dash"},
    }[name]
    return go.Scatter(shown, name=name, mode="lines", line=line, hovertemplate=hover if name == MASS else None)


def _sliders(sliders: Mapping[str, Sequence[Setting]], setting: Setting, ids: np.ndarray) -> list[dict]:
    """Each step shows a whole setting, so a slider that moves puts the others back to where they began."""
    begins = []
    for name, settings in sliders.items():
        begins.append(next((i for i, one in enumerate(settings) if one.knobs == setting.knobs), None))
        if begins[-1] is None:
            raise refuse(f"the setting {setting.knobs}", "missing", f"one of the steps of the slider {name!r}")
    made = []
    for place, (name, settings) in enumerate(sliders.items()):
        steps = [(number(one.knobs[name]), _restyle(one, ids)) for one in settings]
        made.append(slider(name, steps, begins[place], top=60 + 90 * place))
        others = {f"sliders[{other}].active": begin for other, begin in enumerate(begins) if other != place}
        for step in made[-1]["steps"]:
            restyle, traces = step["args"]
            step |= {"method": "update", "args": [restyle, others, traces]}
    return made


def _restyle(setting: Setting, ids: np.ndarray) -> list:
    """The arguments of Plotly's restyle: x, y and the numbers of each trace."""
    shown = shown_of(setting, ids).values()
    x, y = ([_plain(trace[axis]) for trace in shown] for axis in "xy")
    return [{"x": x, "y": y, "customdata": [trace.get("customdata") for trace in shown]}, list(range(len(shown)))]


def _plain(values: Any) -> list:
    return [round(float(v), 6) for v in values] if isinstance(values, np.ndarray) else values


def _description(setting: Setting, rows: Sequence[str], shown: dict[str, dict[str, Any]]) -> str:
    """The setting, what it keeps, and the three likeliest tokens."""
    n_kept, size, mass, before, after = shown[SAID]["customdata"][0]
    knobs = ", ".join(f"{name} {number(value)}" for name, value in setting.knobs.items())
    likely = ", ".join(f"‘{row}’ {p:.2f}" for row, p in zip(rows[:3], shown[DRAWN]["x"], strict=False))
    return (
        f"With {knobs}: {n_kept:,} of {size:,} tokens can be drawn, with {mass:.2f} of the mass; "
        f"entropy {before:.2f} nats, {after:.2f} after the cut; drawn from: {likely}."
    )
