"""What a model foretells from the last k words, for each k, beside the truth, which knows them all.

Axes: n rows, one a token; K context lengths, of which a slider shows one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, Number, as_array, canvas, escaped, px, slider, token_labels
from gptlab.figures._rows import first_rows, row_axis, share_axis, share_bars, share_diamonds, text_above

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
        [share_bars("model", bars[k], BLUE), share_diamonds("truth", diamonds)],
        description=_description(rows, bars[k], diamonds, k),
        height=ROW_PX * len(rows) + 180 + 100 * still,
        xaxis=share_axis("probability"),
        yaxis=row_axis(rows),
        annotations=[text_above(read[k])],
        margin={"t": px(84)},
        bargap=0.25,
        sliders=[choice] if still else [],
    )


def _read(words: list[str], k: int) -> str:
    """The end of the text, with what lies further back than k words covered."""
    covered = [COVERED * len(word) for word in words[: max(len(words) - k, 0)]]
    shown = [*covered, *(f"<b>{escaped(word)}</b>" for word in words[len(covered) :])]
    return ("… " if len(shown) > MOST_WORDS else "") + " ".join(shown[-MOST_WORDS:]) + " ?"


def _description(rows: list[str], model: np.ndarray, truth: np.ndarray | None, k: Number) -> str:
    return f"Next word from the last {k} word{'s' * (k != 1)}: {first_rows(rows, model, truth)}."
