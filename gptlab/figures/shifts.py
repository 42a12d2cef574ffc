"""The shift by one: what a language model reads, and what it should say there.

Axes: N tokens of a text. At position i the model has read tokens 0 … i and is asked for token i + 1, so the text itself
is the row of answers, moved by one place; the first token is never asked for and the last one asks for nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import MONO, WITHIN, as_array, canvas, columns, escaped, px, slider, token_labels

READ, TARGET = 0, 1  # which of the figure's traces is which row of boxes
READ_NOW, ASKED_NOW, QUIET = "#a6d5f0", "#f5cf85", "#d4d4d4"  # black text stands on them in a light and a dark page
LINE_CHARACTERS = 96
NOTHING = "—"


def shift_by_one(tokens: Sequence[Any], losses: Any = None, *, position: int = 0) -> go.Figure:
    """Draw the tokens read above the tokens asked for, and between them the loss; a slider moves through positions.

    tokens: N labels, or pieces of a tokenizer, at least two. losses: (N-1,) in nats, -log P of each target.
    position: which is shown first, from 0 to N-2. ValueError, naming it, for another number of losses, for a position
    outside and for more tokens than a line holds.
    """
    labels = token_labels(tokens)
    n_targets = len(labels) - 1
    if n_targets < 1:
        raise refuse("the number of tokens", len(labels), "at least two: the second is the first target")
    widths = [max(map(len, pair)) + 2 for pair in zip(labels, [*labels[1:], NOTHING], strict=True)]
    if sum(widths) > columns(LINE_CHARACTERS):
        raise refuse(
            "the length of the tokens in a line", sum(widths), f"at most {columns(LINE_CHARACTERS)} characters"
        )
    if losses is not None:
        losses = as_array(losses, float)
        if losses.shape != (n_targets,):
            raise refuse("the shape of losses", losses.shape, f"{(n_targets,)}, one for each target")
    if not 0 <= position < n_targets:
        raise refuse("position", position, f"from 0 to {n_targets - 1}")
    starts = np.cumsum([0, *widths[:-1]]).tolist()
    colours = [_colours(at, len(labels)) for at in range(n_targets)]
    steps = [(str(at), [{"marker.color": list(colours[at])}, [READ, TARGET]]) for at in range(n_targets)]
    rows = {0: "is read", 2: "is asked for"} | ({} if losses is None else {1: "loss (nats)"})
    return canvas(
        [
            _boxes(labels, starts, widths, 0, colours[position][READ]),
            _boxes([*labels[1:], NOTHING], starts, widths, 2, colours[position][TARGET]),
            _between(losses, starts, widths, n_targets),
        ],
        description=_description(labels, losses),
        height=330,
        barmode="overlay",
        xaxis={"range": [0, max(sum(widths), 40)], "visible": False, "fixedrange": True},
        yaxis={
            "range": [2.6, -0.6], "tickmode": "array", "tickvals": list(rows), "ticktext": list(rows.values()),
            "showgrid": False, "zeroline": False, "fixedrange": True,
        },
        sliders=[slider("position", steps, position, top=20)],
        showlegend=False,
    )  # fmt: skip


def _colours(at: int, n_tokens: int) -> tuple[list[str], list[str]]:
    """Of both rows, when the model stands at a position: what it has read, and what it should say."""
    read = [READ_NOW if place <= at else QUIET for place in range(n_tokens)]
    asked = [ASKED_NOW if place == at else QUIET for place in range(n_tokens)]
    return read, asked


def _boxes(labels: list[str], starts: list[int], widths: list[int], row: int, colours: list[str]) -> go.Bar:
    last = len(labels) - 1
    hovers = [
        f"position {place}: {'read' if row == 0 else 'asked for'} ‘{escaped(label)}’"
        if row == 0 or place < last
        else "the last token asks for nothing: there is no token after it"
        for place, label in enumerate(labels)
    ]
    return go.Bar(
        base=[start + 0.2 for start in starts],
        x=[width - 0.4 for width in widths],
        y=[row] * len(labels),
        width=0.72,
        orientation="h",
        marker={"color": colours, "line": {"width": 0}},
        text=[escaped(label) for label in labels],
        **WITHIN,
        textfont={"family": MONO, "size": px(16), "color": "#111"},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _between(losses: np.ndarray | None, starts: list[int], widths: list[int], n_targets: int) -> go.Scatter:
    """What stands between a token and what is asked for after it: the loss there, or an arrow."""
    return go.Scatter(
        x=[start + width / 2 for start, width in zip(starts[:n_targets], widths, strict=False)],
        y=[1] * n_targets,
        text=["↓"] * n_targets if losses is None else None,
        texttemplate=None if losses is None else "%{customdata:.2f}",
        customdata=None if losses is None else losses.astype(np.float32),
        mode="text",
        textfont={"size": px(16)},
        hoverinfo="skip",
    )


def _description(labels: list[str], losses: np.ndarray | None) -> str:
    pairs = [f"‘{one}’ → ‘{other}’" for one, other in zip(labels, labels[1:], strict=False)]
    listed = ", ".join([*pairs[:8], *["…"][: len(pairs) > 8]])
    targets = f"{len(pairs)} target{'s' * (len(pairs) > 1)}"
    said = f"{len(labels)} tokens, {targets}, each the token after the one just read: {listed}."
    if losses is not None:
        said += f" Loss in nats: sum {losses.sum():.2f}, mean {losses.mean():.2f}."
    return said
