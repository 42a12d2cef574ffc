"""The logit lens as a grid: what each layer would say next, after each token.

Axes: T tokens (downwards, the first on top), L layers, of which L+1 places are read (to the right): the embeddings,
then after each block.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import find_intermediate_color, sample_colorscale

from gptlab._refuse import refuse
from gptlab.figures._canvas import INK, as_array, canvas, escaped, per_cent_colours, px, token_axis, token_labels

GRID = 0  # which of the figure's traces that is
ROW_PX = 30
# Viridis mixed with white, so that black letters can be read on all of it.
PALE = [
    [step / 8, find_intermediate_color(sample_colorscale("Viridis", step / 8)[0], "rgb(255, 255, 255)", 0.45, "rgb")]
    for step in range(9)
]


def lens_grid(said: Sequence[Sequence[Any]], probabilities: Any, tokens: Sequence[Any]) -> go.Figure:
    """Draw the likeliest next token at each layer, coloured by a probability.

    said: T rows of L+1 labels or pieces: what the model would say after that token, at that layer.
    probabilities: (T,L+1), from 0 to 1; or a dict of several, by name: it gets buttons that work in the browser alone,
    and begins with the first.
    tokens: T labels or pieces, what was read last. ValueError, naming it, for shapes that differ.
    """
    named = probabilities if isinstance(probabilities, Mapping) else {"": probabilities}
    shares = {name: whole_percents(name, values) for name, values in named.items()}
    labels, texts = token_labels(tokens), [token_labels(row) for row in said]
    if not labels or len(texts) != len(labels):
        raise refuse("the number of rows said", len(texts), f"{len(labels)}, as tokens, and at least one")
    shape = (len(labels), len(texts[0]))
    for what, found in [
        *((f"row {n} of said", (len(labels), len(row))) for n, row in enumerate(texts)),
        *((f"the shape of probabilities[{name!r}]", values.shape) for name, values in shares.items()),
    ]:
        if found != shape:
            raise refuse(what, found, f"{shape}: tokens, layers and one")
    places = ["embeddings", *(f"block {n}" for n in range(shape[1] - 1))]
    first = next(iter(shares.values()))
    trace = go.Heatmap(
        z=first,
        text=[[escaped(text) for text in row] for row in texts],
        texttemplate="%{text}",
        textfont={"size": px(16), "color": "#111111"},
        coloraxis="coloraxis",
        xgap=1,
        ygap=1,
        hovertemplate="after ‘%{y}’ (%{y:d}), %{x}: ‘%{text}’, %{z} %<extra></extra>",
    )
    menu = {"updatemenus": [_buttons(shares)]} if len(shares) > 1 else {}
    return canvas(
        [trace],
        description=_description(texts, first, labels, places, next(iter(shares))),
        height=ROW_PX * len(labels) + 110 + 50 * bool(menu),
        xaxis=token_axis(places, side="top", title={"text": "read after"}),
        yaxis=token_axis(labels, title={"text": "after"})
        | {"range": [len(labels) - 0.5, -0.5], "ticklabelstandoff": px(8)},
        coloraxis=per_cent_colours(PALE),
        showlegend=False,
        **menu,
    )


def whole_percents(name: str, probabilities: Any) -> np.ndarray:
    """Probabilities as the grid's numbers: whole per cents in 8 bits."""
    values = as_array(probabilities, float)
    if not ((values >= 0) & (values <= 1 + 1e-3)).all():
        raise refuse(f"probabilities[{name!r}]", values[~((values >= 0) & (values <= 1 + 1e-3))][0], "from 0 to 1")
    return np.rint(100 * values).astype(np.uint8)


def _buttons(shares: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """One button a colouring, below the grid."""
    buttons = [
        {"label": escaped(name), "method": "restyle", "args": [{"z": [z]}, [GRID]]} for name, z in shares.items()
    ]
    place = {"x": 0, "xanchor": "left", "y": 0, "yanchor": "top", "pad": {"t": px(12)}}
    return {"type": "buttons", "direction": "right", "buttons": buttons, "font": {"size": px(16), "color": INK}} | place


def _description(texts: list[list[str]], shares: np.ndarray, labels: list[str], places: list[str], name: str) -> str:
    """The last row in words, place by place."""
    row = [f"{at} ‘{text}’ {share / 100:.2f}" for at, text, share in zip(places, texts[-1], shares[-1], strict=True)]
    coloured = f", coloured by the probability of {name}" if name else ""
    said = f"What each layer would say after each of {len(labels)} tokens{coloured}"
    return f"{said}; after ‘{labels[-1]}’: {', '.join(row)}."
