"""A text as its tokens: coloured boxes with their ids, in lines as a text has them.

Axes: T tokens; the picture's x is measured in characters of the fixed-width font, its y in lines.
"""

import codecs
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import INK, MONO, TEXT_PX, WITHIN, Number, canvas, columns, escaped, px, token_labels

# Okabe and Ito's colours, so pale that black text stands on them in a light page and in a dark one.
COLOURS = ["#a6d5f0", "#f5cf85", "#8fd3bd", "#eab9d3", "#f0b48f", "#9cc3e0"]
LINE_CHARACTERS = 72
LINE_PX = 74
LONGEST = 400

HEADING = 0.9  # lines from a strip's name to its tokens

Box = tuple[int, Number, int]  # where it starts, in which line, how wide it is


def token_strip(tokens: Sequence[Any], ids: Sequence[int] | None = None) -> go.Figure:
    """Draw the tokens as boxes in reading order, each with its id below and its bytes when pointed at.

    tokens: pieces of a tokenizer, which know ids and bytes; or labels, with `ids` beside them if wanted.
    Tokens that are only together a character (of an emoji's four bytes, say) are bracketed under it. Of more than
    400 tokens the first 400 are drawn, and the figure says so. ValueError if there are as many ids as no tokens.
    """
    labels = token_labels(tokens)
    if ids is None:
        ids = _own_ids(tokens)
    if len(ids) != len(labels):
        raise refuse("the number of ids", len(ids), f"{len(labels)}, one for each token")
    drawn = labels[:LONGEST]
    boxes = _boxes(drawn, ids)
    n_lines = boxes[-1][1] + 1 if boxes else 1
    said = "" if len(labels) <= LONGEST else f"and {len(labels) - LONGEST:,} more tokens"
    return canvas(
        [_bars(tokens, drawn, ids, boxes), _whole_characters(tokens, boxes)],
        description=_description(labels, ids),
        height=LINE_PX * (n_lines + bool(said)) + 40,
        xaxis={"range": [0, columns(LINE_CHARACTERS)], "visible": False, "fixedrange": True},
        yaxis={"range": [n_lines - 0.5 + bool(said), -0.75], "visible": False, "fixedrange": True},
        annotations=[{"text": said, "x": 0, "y": n_lines, "xanchor": "left", "showarrow": False}] if said else [],
        margin={"t": px(24), "b": px(8), "l": px(8), "r": px(8)},
        showlegend=False,
    )


def token_strips(strips: Mapping[str, Sequence[Any]]) -> go.Figure:
    """Draw several strips of tokens, one below the other, each under its name and the number of its tokens.

    strips: name → tokens as `token_strip` takes them, such as one text cut by several tokenizers.
    ValueError if there is none.
    """
    if not strips:
        raise refuse("the number of strips", 0, "at least 1")
    traces, headings, said, line = [], [], [], 0.0
    for name, tokens in strips.items():
        labels, ids = token_labels(tokens), _own_ids(tokens)
        counted = f"{name}: {len(labels):,} token{'s' * (len(labels) != 1)}"
        headings.append((line, counted if len(labels) <= LONGEST else f"{counted}, of which {LONGEST} are drawn"))
        boxes = _boxes(labels[:LONGEST], ids, line + HEADING)
        traces += [_bars(tokens, labels[:LONGEST], ids, boxes), _whole_characters(tokens, boxes)]
        said.append(f"{name}: {_description(labels, ids)}")
        line = (boxes[-1][1] if boxes else line) + 1
    return canvas(
        [*traces, _headings(headings)],
        description=" ".join(said),
        height=LINE_PX * (line + 0.25) + 16,
        xaxis={"range": [0, columns(LINE_CHARACTERS)], "visible": False, "fixedrange": True},
        yaxis={"range": [line - 0.4, -0.4], "visible": False, "fixedrange": True},
        barmode="overlay",  # else each strip would make room for the others in its own lines
        margin={"t": px(8), "b": px(8), "l": px(8), "r": px(8)},
        showlegend=False,
    )


def _headings(headings: Sequence[tuple[float, str]]) -> go.Scatter:
    return go.Scatter(
        x=[0.1] * len(headings),
        y=[line for line, _ in headings],
        text=[escaped(text) for _, text in headings],
        mode="text",
        textposition="middle right",
        textfont={"size": px(18), "color": INK},
        hoverinfo="skip",
        cliponaxis=False,
    )


def _own_ids(tokens: Sequence[Any]) -> list[int | None]:
    return [getattr(token, "id", None) for token in tokens]


def _boxes(labels: list[str], ids: Sequence[int | None], line: Number = 0) -> list[Box]:
    """A box for each token, from that line on; a line is begun when the next box does not fit any more."""
    boxes, start = [], 0
    for label, id in zip(labels, ids, strict=False):
        width = 1 + max(_width(label), len("" if id is None else str(id)))
        if start and start + width > columns(LINE_CHARACTERS):
            start, line = 0, line + 1
        boxes.append((start, line, width))
        start += width
    return boxes


def _bars(tokens: Sequence[Any], labels: list[str], ids: Sequence[int | None], boxes: list[Box]) -> go.Bar:
    texts, hovers = [], []
    for position, (token, label, id) in enumerate(zip(tokens, labels, ids, strict=False)):
        below = "" if id is None else f'<br><span style="font-size:0.8em">{id}</span>'
        texts.append(escaped(label) + below)
        hover = [f"‘{escaped(label)}’", f"position {position}"]
        hover += [] if id is None else [f"id {id}"]
        raw = getattr(token, "bytes", None)
        hover += [] if raw is None else [f"bytes {raw.hex(' ').upper()}"]
        hovers.append("<br>".join(hover))
    return go.Bar(
        base=[start + 0.1 for start, _, _ in boxes],
        x=[width - 0.2 for _, _, width in boxes],
        y=[line for _, line, _ in boxes],
        width=0.7,
        orientation="h",
        marker={"color": [COLOURS[i % len(COLOURS)] for i in range(len(boxes))], "line": {"width": 0}},
        text=texts,
        **WITHIN,
        textfont={"family": MONO, "size": px(20), "color": "#111"},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _whole_characters(tokens: Sequence[Any], boxes: list[Box]) -> go.Scatter:
    """A bracket over each run of tokens that is only together a character, with the character in its middle."""
    x, y, texts = [], [], []
    for first, last, character in _split_characters(tokens[: len(boxes)]):
        (start, line, _), (last_start, last_line, width) = boxes[first], boxes[last]
        if line == last_line:
            end = last_start + width
            x += [start + 0.2, (start + end) / 2, end - 0.2, None]
            y += [line - 0.42] * 3 + [None]
            texts += ["", escaped(character), "", ""]
    return go.Scatter(
        x=x,
        y=y,
        text=texts,
        mode="lines+text",
        textposition="top center",
        textfont={"size": px(TEXT_PX)},
        line={"width": px(2), "color": INK},
        hoverinfo="skip",
    )


def _split_characters(tokens: Sequence[Any]) -> Iterator[tuple[int, int, str]]:
    """(index of its first token, of its last, the character) for each character that no token holds alone."""
    decoder, first = codecs.getincrementaldecoder("utf-8")(errors="replace"), None
    for index, token in enumerate(tokens):
        text = decoder.decode(getattr(token, "bytes", b""))
        if first is not None and text:
            yield first, index, text[0]
            first = None
        if first is None and decoder.getstate()[0]:
            first = index


def _width(label: str) -> int:
    """Columns that a label takes in a fixed-width font: Chinese characters and emoji take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in label)


def _description(labels: list[str], ids: Sequence[int | None]) -> str:
    named = [f"‘{label}’" + ("" if id is None else f" {id}") for label, id in zip(labels, ids, strict=True)]
    more = ["…"] if len(named) > 12 else []
    listed = f": {', '.join([*named[:12], *more])}" if named else ""
    return f"{len(labels)} token{'s' * (len(labels) != 1)}{listed}."
