"""How surprising each word of a text is, to a model and in truth; the same words in another order beside it.

Axes: N words of a text, downwards. A surprise is −ln P(word | the words before it) in nats; their sum is −ln P(text).
Infinite is what can never come, NaN what nothing is known of.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import (
    BLUE,
    GREEN,
    INK,
    TEXT_PX,
    VERMILION,
    as_array,
    canvas,
    px,
    slider,
    token_axis,
    token_labels,
)

ROW_PX = 34
MODEL, TRUTH, NEVER = "model", "truth", "impossible in truth"
PANELS = ((0.0, 0.40), (0.58, 0.98))  # where the text and its other order stand, in shares of the width


class Scored(NamedTuple):
    """The words of a text with their surprises, (N,) each; truth is None where none is known."""

    words: Sequence[str]
    model: Any
    truth: Any = None


def surprise_bars(text: Scored, others: Sequence[Scored] = (), *, other: int = 0) -> go.Figure:
    """Draw each word's surprise as a bar, the truth as a diamond and what is impossible as a cross.

    others: the same number of words in other orders, one of which stands beside the text; of several a slider chooses
    in the browser alone. other: which is shown first. ValueError, naming it, for numbers that do not fit.
    """
    drawn = [_checked(one) for one in (text, *others)]
    if any(len(one.words) != len(drawn[0].words) for one in drawn):
        raise refuse("the words of the texts", [len(one.words) for one in drawn], "equally many in each order")
    if others and not 0 <= other < len(others):
        raise refuse("other", other, f"from 0 to {len(others) - 1}")
    shown = [drawn[0], drawn[1 + other]] if others else drawn[:1]
    longest = max((float(values.max()) for one in drawn for values in _finite(one)), default=1.0) or 1.0
    end = 1.3 * longest
    steps = [(str(place + 1), _step(one, end)) for place, one in enumerate(drawn[1:])] if len(others) > 1 else []
    layout = {}
    for place, (one, title) in enumerate(zip(shown, ("as written", "in another order"), strict=False)):
        layout |= _axes(one, place, end, wide=not others)
        layout.setdefault("annotations", []).append(_title(f"{title}: {_total(one)}", place))
    choice = [slider("order", steps, other, top=70) | {"x": 0.0, "len": 0.98}] if steps else []
    for step in choice[0]["steps"] if choice else ():
        step["method"] = "update"
    return canvas(
        [trace for place, one in enumerate(shown) for trace in _traces(one, place, end, last=place + 1 == len(shown))],
        description=_description(shown),
        height=ROW_PX * max(len(text.words), 2) + 170 + 110 * bool(steps),
        margin={"t": px(84)},
        legend={"y": 1, "yref": "container", "yanchor": "top"},
        sliders=choice,
        bargap=0.25,
        **layout,
    )


def _checked(one: Scored) -> Scored:
    words = token_labels(one.words)
    values = [None if each is None else as_array(each, float) for each in (one.model, one.truth)]
    for name, each in zip((MODEL, TRUTH), values, strict=True):
        if each is not None and (each.shape != (len(words),) or (each < -1e-6).any()):
            raise refuse(f"the surprises of {name}", each.shape, f"{(len(words),)} numbers of at least 0")
    return Scored(words, *values)


def _finite(one: Scored) -> list[np.ndarray]:
    known = [values[np.isfinite(values)] for values in (one.model, one.truth) if values is not None]
    return [values for values in known if values.size]


def _data(one: Scored, end: float) -> list[dict[str, Any]]:
    """What each trace holds: bars, diamonds, crosses."""
    rows, truth = np.arange(len(one.words)), np.full(len(one.words), np.nan) if one.truth is None else one.truth
    known, never = np.isfinite(truth), np.isposinf(truth)
    return [
        {"x": one.model.astype(np.float32), "y": rows},
        {"x": truth[known].astype(np.float32), "y": rows[known]},
        {"x": np.full(never.sum(), 0.96 * end, np.float32), "y": rows[never]},
    ]


def _step(one: Scored, end: float) -> list:
    """What the slider's step changes: the right panel's traces, its words and its title."""
    data = _data(one, end)
    changed = {key: [trace[key].tolist() for trace in data] for key in ("x", "y")}
    ticks = token_axis(one.words)
    words = {f"yaxis2.{key}": ticks[key] for key in ("tickmode", "tickvals", "ticktext", "labelalias")}
    return [changed, words | {"annotations[1].text": f"in another order: {_total(one)}"}, [3, 4, 5]]


def _traces(one: Scored, place: int, end: float, *, last: bool) -> list[go.Bar | go.Scatter]:
    axes = {"xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}", "showlegend": place == 0}
    bars, diamonds, crosses = ({**data, **axes} for data in _data(one, end))
    hover = "‘%{y}’ %{fullData.name}: %{x:.2f} nats<extra></extra>"
    markers = {"mode": "markers", "cliponaxis": False}
    diamond = {"symbol": "diamond-tall", "size": px(14), "color": GREEN, "line": {"width": 1.5, "color": "#fff"}}
    cross = {"symbol": "x", "size": px(11), "color": VERMILION}
    never = "‘%{y}’ can never come here<extra></extra>"
    text = {"texttemplate": "\u2002%{x:.1f}", "textposition": "outside", "textangle": 0, "cliponaxis": False}
    return [
        go.Bar(
            bars, name=MODEL, orientation="h", marker={"color": BLUE}, hovertemplate=hover,
            textfont={"size": px(TEXT_PX), "color": INK}, **text,
        ),
        go.Scatter(diamonds, name=TRUTH, marker=diamond, hovertemplate=hover, **markers),
        go.Scatter(crosses | {"showlegend": last}, name=NEVER, marker=cross, hovertemplate=never, **markers),
    ]  # fmt: skip


def _axes(one: Scored, place: int, end: float, *, wide: bool) -> dict[str, Any]:
    number = "" if place == 0 else str(place + 1)
    domain = [0, 1] if wide else list(PANELS[place])
    rows = token_axis(one.words, anchor=f"x{number}", ticklabelstandoff=px(6))
    return {
        f"xaxis{number}": {
            "domain": domain, "anchor": f"y{number}", "range": [0, end], "nticks": 5,
            "title": {"text": "−ln P (nats)"},
        },
        f"yaxis{number}": rows | {"range": [max(len(one.words), 1) - 0.5, -0.5]},
    }  # fmt: skip


def _title(text: str, place: int) -> dict[str, Any]:
    where = {"x": PANELS[place][0], "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return where | {"text": text, "showarrow": False, "font": {"size": px(TEXT_PX)}}


def _total(one: Scored) -> str:
    """−ln P of the whole text."""
    said = f"model {one.model.sum():.1f}"
    if one.truth is None or np.isnan(one.truth).any() and not np.isinf(one.truth).any():
        return said
    truth = one.truth.sum() if np.isfinite(one.truth).all() else np.inf
    return said + (", truth ∞" if np.isinf(truth) else f", truth {truth:.1f}")


def _description(shown: list[Scored]) -> str:
    parts = []
    for one, name in zip(shown, ("as written", "in another order"), strict=False):
        said = f"{name}, −ln P in nats: {_total(one)}"
        never = np.flatnonzero(np.isinf(one.truth)) if one.truth is not None else []
        parts.append(said + (f", impossible from ‘{one.words[never[0]]}’ ({never[0]}) on" if len(never) else ""))
    return f"{len(shown[0].words)} words {'; '.join(parts)}."
