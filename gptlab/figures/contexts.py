"""What a model foretells from the last k words, for each k, beside the truth, which knows them all.

Axes: n rows, one a token; K context lengths, of which a slider shows one.
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
    MONO,
    TEXT_PX,
    Number,
    as_array,
    canvas,
    escaped,
    px,
    slider,
    token_axis,
    token_labels,
)

ROW_PX = 40
COVERED = "▒"
MOST_WORDS = 12  # of the text's end, above the bars


def context_bars(
    labels: Sequence[Any],
    models: Mapping[int, Any],
    *,
    words: Sequence[Any],
    truth: Any = None,
    n_others: int = 0,
    k: int | None = None,
    still: bool = False,
) -> go.Figure:
    """Draw the probabilities that a model gives when it reads only the last k words, under the words that it reads.

    labels: those of the tokens that are drawn. models: k → (n,) probabilities, of those tokens and, where there are
    n_others, of all others together. words: those of the text, the last one nearest to what is foretold. truth: (n,),
    drawn as diamonds. k: which is shown first, the first of models if None. still: with a slider that works in the
    browser alone. ValueError, naming it, for no model, for another number of rows and for a k that is not there.
    """
    rows = [*token_labels(labels), *[f"{n_others:,} others"][: n_others > 0]]
    bars = {length: as_array(each, np.float32) for length, each in models.items()}
    if not bars:
        raise refuse("models", dict(models), "at least one context length with its probabilities")
    k = next(iter(bars)) if k is None else k
    if k not in bars:
        raise refuse("k", k, f"one of {', '.join(map(str, bars))}")
    diamonds = None if truth is None else as_array(truth, np.float32)
    for name, each in [*bars.items(), *([] if truth is None else [("truth", diamonds)])]:
        if each.shape != (len(rows),):
            raise refuse(f"the shape of {name}", each.shape, f"{(len(rows),)}, one for each row")
    read = {length: _read(token_labels(words), length) for length in bars}
    steps = [
        (str(length), [{"x": [bars[length].tolist()]}, {"annotations[0].text": read[length]}, [0]]) for length in bars
    ]
    choice = slider("words that are read: k =", steps, list(bars).index(k), top=70)
    for step in choice["steps"]:
        step["method"] = "update"
    return canvas(
        [_bars(bars[k]), _diamonds(diamonds)],
        description=_description(rows, bars[k], diamonds, k),
        height=ROW_PX * len(rows) + 180 + 100 * still,
        xaxis={"range": [0, 1.08], "tickformat": ".0%", "title": {"text": "probability"}},
        yaxis=token_axis(rows, ticklabelstandoff=px(8)) | {"range": [len(rows) - 0.5, -0.5]},
        annotations=[
            {
                "text": read[k], "x": 0, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left",
                "yanchor": "bottom", "yshift": px(32), "showarrow": False,
                "font": {"family": MONO, "size": px(TEXT_PX)},
            }
        ],
        margin={"t": px(84)},
        bargap=0.25,
        sliders=[choice] if still else [],
    )  # fmt: skip


def _bars(lengths: np.ndarray) -> go.Bar:
    text = {"texttemplate": "\u2003%{x:.0%}", "textposition": "outside", "textangle": 0, "cliponaxis": False}
    return go.Bar(
        x=lengths,
        y=np.arange(len(lengths), dtype=np.int16),
        name="model",
        orientation="h",
        marker={"color": BLUE},
        textfont={"size": px(TEXT_PX), "color": INK},
        hovertemplate="‘%{y}’ model: %{x:.1%}<extra></extra>",
        **text,
    )


def _diamonds(truth: np.ndarray | None) -> go.Scatter:
    return go.Scatter(
        x=truth,
        y=None if truth is None else np.arange(len(truth), dtype=np.int16),
        name="truth",
        visible=truth is not None,
        mode="markers",
        marker={"symbol": "diamond-tall", "size": px(16), "color": GREEN, "line": {"width": 1.5, "color": "#fff"}},
        hovertemplate="‘%{y}’ truth: %{x:.1%}<extra></extra>",
        cliponaxis=False,
    )


def _read(words: list[str], k: int) -> str:
    """The end of the text, with what lies further back than k words covered."""
    covered = [COVERED * len(word) for word in words[: max(len(words) - k, 0)]]
    shown = [*covered, *(f"<b>{escaped(word)}</b>" for word in words[len(covered) :])]
    return ("… " if len(shown) > MOST_WORDS else "") + " ".join(shown[-MOST_WORDS:]) + " ?"


def _description(rows: list[str], model: np.ndarray, truth: np.ndarray | None, k: Number) -> str:
    parts = [
        f"‘{label}’ model {model[row]:.2f}" + ("" if truth is None else f", truth {truth[row]:.2f}")
        for row, label in enumerate(rows[:3])
    ]
    return f"Next word from the last {k} word{'s' * (k != 1)}: {'; '.join(parts)}."
