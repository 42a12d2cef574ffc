"""The words nearest to a word, as bars.

Axes: Q words that are asked for, n neighbours of each, the nearest on top.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, INK, MONO, TEXT_PX, as_array, canvas, escaped, px, slider, token_labels

ROW_PX = 36
NAME = 0.35  # room for a neighbour's name behind its bar, in units of the cosine
WITHIN = {"x": 0.04, "len": 0.92}  # of the slider: a word under its end would be cut off


def neighbour_bars(
    words: Sequence[Any], neighbours: Sequence[Sequence[Any]], similarities: Any, *, first: int = 0
) -> go.Figure:
    """Draw the neighbours of a word with their cosines; of several words, a slider chooses in the browser alone.

    words: Q labels or pieces. neighbours: Q × n of them. similarities: (Q,n), from -1 to 1. first: which of the words
    is shown first. ValueError, naming it, for numbers that do not fit and for what is no cosine.
    """
    similarities, asked = as_array(similarities, np.float32), token_labels(words)
    names = [token_labels(row) for row in neighbours]
    _check(asked, names, similarities, first)
    bars = [[f" {escaped(name)}" for name in row] for row in names]
    n = similarities.shape[1]
    steps = [
        (escaped(word), [{"x": [lengths], "text": [texts]}, [0]])
        for word, lengths, texts in zip(asked, similarities, bars, strict=True)
    ]
    low = -1.0 - NAME if (similarities < 0).any() else 0.0
    which = "" if len(steps) > 1 else f" with ‘{escaped(asked[first])}’"
    return canvas(
        [
            go.Bar(
                x=similarities[first],
                y=np.arange(n, dtype=np.int16),
                orientation="h",
                marker={"color": BLUE},
                text=bars[first],
                textposition="outside",
                textangle=0,
                textfont={"family": MONO, "size": px(TEXT_PX + 2), "color": INK},
                cliponaxis=False,
                hovertemplate="‘%{text}’: cosine %{x:.3f}<extra></extra>",
            )
        ],
        description=_description(asked[first], names[first], similarities[first]),
        height=ROW_PX * n + 110 + 110 * (len(steps) > 1),
        xaxis={"range": [low, 1 + NAME], "nticks": 6, "title": {"text": f"cosine{which}"}},
        yaxis={"range": [n - 0.5, -0.5], "visible": False},
        sliders=[slider("neighbours of", steps, first, top=70) | WITHIN] if len(steps) > 1 else [],
        showlegend=False,
    )


def _check(words: list[str], neighbours: list[list[str]], similarities: np.ndarray, first: int) -> None:
    if similarities.ndim != 2 or 0 in similarities.shape:
        raise refuse("the shape of similarities", similarities.shape, "(words, neighbours), with at least one of each")
    if len(words) != len(similarities):
        raise refuse("the number of words", len(words), f"{len(similarities)}, as similarities have rows")
    sizes = [len(row) for row in neighbours]
    if sizes != [similarities.shape[1]] * len(words):
        raise refuse("the numbers of neighbours", sizes, f"{similarities.shape[1]} for each of {len(words)} words")
    if not (np.abs(similarities) <= 1 + 1e-3).all():
        place = tuple(np.argwhere(~(np.abs(similarities) <= 1 + 1e-3))[0].tolist())
        raise refuse(f"similarities{list(place)}", float(similarities[place]), "a cosine, from -1 to 1")
    if not 0 <= first < len(words):
        raise refuse("first", first, f"from 0 to {len(words) - 1}, one of the words")


def _description(word: str, neighbours: list[str], similarities: np.ndarray) -> str:
    said = [f"‘{name}’ {cosine:.2f}" for name, cosine in zip(neighbours, similarities, strict=True)]
    return f"Nearest to ‘{word}’ by cosine: {', '.join(said[:5])}{', …' * (len(said) > 5)}."
