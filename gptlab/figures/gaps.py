"""A hidden word, foretold from all that stands before it and from more and more of what stands behind it.

Axes: n rows, one a token; K numbers of words behind the gap, of which a slider shows one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, as_array, canvas, escaped, px, slider, token_labels
from gptlab.figures._rows import first_rows, row_axis, share_axis, share_bars, share_diamonds, text_above

ROW_PX = 40
COVERED, GAP = "▒", "▁▁▁"
MOST_WORDS = 10  # of each side of the gap, in the line above the bars
BARS, TRUTH = 0, 1  # which of the figure's traces these are


def gap_bars(
    labels: Sequence[Any],
    model: Mapping[int, Any],
    *,
    before: Sequence[Any],
    after: Sequence[Any],
    truth: Mapping[int, Any] | None = None,
    n_others: int = 0,
    k: int | None = None,
    still: bool = False,
) -> go.Figure:
    """Draw what a model gives for a hidden word when it reads all words before it and k words behind it.

    labels: those of the tokens that are drawn. model: k → (n,) probabilities, of those tokens and, where there are
    n_others, of all others together. truth: the same of the world, drawn as diamonds. before, after: the words around
    the gap. k: which is shown first, the largest if None. still: with a slider that works in the browser alone.
    ValueError, naming it, for no k, for one that is not in both, for another number of rows and for a k that is not
    there.
    """
    rows = [*token_labels(labels), *[f"{n_others:,} others"][: n_others > 0]]
    bars = {length: as_array(each, np.float32) for length, each in model.items()}
    diamonds = {length: as_array(each, np.float32) for length, each in (truth or {}).items()}
    if not bars:
        raise refuse("model", dict(model), "at least one number of words with its probabilities")
    if diamonds and list(diamonds) != list(bars):
        raise refuse("the numbers of words in truth", list(diamonds), f"those of model, {list(bars)}")
    k = max(bars) if k is None else k
    if k not in bars:
        raise refuse("k", k, f"one of {', '.join(map(str, bars))}")
    for name, each in [*bars.items(), *diamonds.items()]:
        if each.shape != (len(rows),):
            raise refuse(f"the shape of {name}", each.shape, f"{(len(rows),)}, one for each row")
    line = {length: _line(token_labels(before), token_labels(after), length) for length in bars}
    return canvas(
        [share_bars("model", bars[k], BLUE), share_diamonds("truth", diamonds.get(k))],
        description=_description(rows, bars[k], diamonds.get(k), k),
        height=ROW_PX * len(rows) + 190 + 100 * still,
        xaxis=share_axis("probability of the hidden word"),
        yaxis=row_axis(rows),
        annotations=[text_above(line[k], align="left")],
        margin={"t": px(104)},
        bargap=0.25,
        sliders=[_slider(bars, diamonds, line, k)] if still else [],
    )


def _slider(
    bars: dict[int, np.ndarray], diamonds: dict[int, np.ndarray], line: dict[int, str], k: int
) -> dict[str, Any]:
    steps = []
    for length in bars:
        drawn = [bars[length].tolist(), *([diamonds[length].tolist()] if diamonds else [])]
        traces = [BARS, TRUTH][: len(drawn)]
        steps.append((str(length), [{"x": drawn}, {"annotations[0].text": line[length]}, traces]))
    choice = slider("words that are read behind the gap:", steps, list(bars).index(k), top=70)
    for step in choice["steps"]:
        step["method"] = "update"
    return choice


def _line(before: list[str], after: list[str], k: int) -> str:
    """The words around the gap in two lines; of those behind it, what lies beyond k words is covered."""
    left = ("… " if len(before) > MOST_WORDS else "") + escaped(" ".join(before[-MOST_WORDS:]))
    read = escaped(" ".join(after[:k]))
    covered = " ".join(COVERED * len(word) for word in after[k:MOST_WORDS])
    return f"{left} {GAP}<br>{GAP} <b>{read}</b> {covered}"


def _description(rows: list[str], model: np.ndarray, truth: np.ndarray | None, k: int) -> str:
    return f"A hidden word, with {k} word{'s' * (k != 1)} read behind it: {first_rows(rows, model, truth)}."
