"""How byte-pair encoding works its way through a text: what a token is by now, and which pair becomes the next one.

Axes: M + 1 states of the text, after 0 … M merges. In the upper picture x is measured in columns of the fixed-width
font, one for each byte (three for a byte that is no ASCII character), and y in lines: so the text stands still while
its boxes grow together. In the lower one x is a count, and y the rank of a pair.
"""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures import _canvas
from gptlab.figures._canvas import INK, TEXT_PX, canvas, columns, escaped, px, slider, token_labels
from gptlab.labels import label

BYTE, TOKEN, NEWEST = "#d9d9d9", "#a6d5f0", "#f0b429"  # so pale that black text stands on them in both themes
LINE_COLUMNS = 48
N_PAIRS = 6
LINE_PX, ROW_PX, GAP_PX = 58, 36, 56

Words = Sequence[Sequence[bytes]]
Pair = tuple[bytes, bytes, int]


def merge_steps(
    words: Sequence[Words], pairs: Sequence[Sequence[Pair]], *, merges: int = 0, own_slider: bool = True
) -> go.Figure:
    """Draw a text after so many merges, each token a box, and below it the pairs that contend for the next merge.

    words: for each state the text's words as tokens, the single bytes first; all states spell the same text.
    pairs: for each state its pairs of neighbours (left, right, count), the winner first: the next state has it merged.
    merges: the state to show. own_slider: whether to add a slider over all states that works in the browser alone.

    The newest token is orange, older ones blue, single bytes grey; where the next winner stands, a line is drawn below.

    ValueError, naming it, for no state, for lists of other lengths and for a state that is not there.
    """
    if not words or len(pairs) != len(words):
        raise refuse("the number of states in (words, pairs)", (len(words), len(pairs)), "the same, and at least 1")
    if not 0 <= merges < len(words):
        raise refuse("merges", merges, f"a whole number from 0 to {len(words) - 1}")
    shown = traces_at(words, pairs, merges)
    steps = [_step(m, traces_at(words, pairs, m)) for m in range(len(words))] if own_slider and len(words) > 1 else []
    n_lines, n_columns = _extent(words[0])
    text_px, pairs_px = LINE_PX * (n_lines + 1), ROW_PX * N_PAIRS
    both_px = text_px + GAP_PX + pairs_px
    most = pairs[0][0][2] if pairs[0] else 1
    hidden = {"visible": False, "fixedrange": True}
    return canvas(
        [trace.update(properties) for trace, properties in zip(_empty_traces(), shown, strict=True)],
        description=_description(words, pairs, merges),
        height=both_px + 32 + 100 * bool(steps),
        xaxis=hidden | {"range": [0, n_columns]},
        yaxis=hidden | {"range": [n_lines - 0.5, -1.5], "domain": [1 - text_px / both_px, 1]},
        xaxis2=hidden | {"range": [0, 1.6 * most], "anchor": "y2"},
        yaxis2=hidden | {"range": [N_PAIRS - 0.5, -0.5], "domain": [0, pairs_px / both_px], "anchor": "x2"},
        annotations=[_contest_title(pairs_px / both_px)],
        sliders=[slider("merges", steps, merges, top=20)] if steps else [],
        showlegend=False,
    )


def traces_at(words: Sequence[Words], pairs: Sequence[Sequence[Pair]], merges: int) -> list[dict[str, Any]]:
    """What the figure's traces hold after so many merges: tokens, places of the next pair, contending pairs, a line."""
    made = [left + right for (left, right, _), *_ in pairs[:merges]]
    ids = {token: 256 + rank for rank, token in enumerate(made)}
    newest = made[-1] if made else None
    boxes = _boxes(words[merges], words[0])
    tokens = [token for word in words[merges] for token in word]
    first = pairs[merges][:N_PAIRS]
    x, y = _places(words[merges], boxes, first[0][:2] if first else None)
    return [
        {
            "base": [round(start + 0.06, 2) for start, _, _ in boxes],
            "x": [round(width - 0.12, 2) for _, _, width in boxes],
            "y": [line for _, line, _ in boxes],
            "text": [escaped(label(token)) for token in tokens],
            "customdata": [ids[token] if len(token) > 1 else token[0] for token in tokens],
            "marker": {"color": [_colour(token, newest) for token in tokens]},
        },
        {"x": x, "y": y},
        {
            "x": [count for *_, count in first],
            "y": list(range(len(first))),
            "text": [_contender(pair) for pair in first],
            "marker": {"color": [_canvas.VERMILION, *[_canvas.BLUE] * (N_PAIRS - 1)]},
        },
        {"x": [0], "y": [-1], "text": [escaped(_headline(pairs, merges, len(tokens)))]},
    ]


def _empty_traces() -> list[go.Bar | go.Scatter]:
    boxes = go.Bar(
        orientation="h",
        width=0.66,
        **_canvas.WITHIN,
        textfont={"family": _canvas.MONO, "size": px(20), "color": "#111"},
        marker={"line": {"width": 0}},
        hovertemplate="‘%{text}’<br>id %{customdata}<extra></extra>",
    )
    places = go.Scatter(mode="lines", line={"width": px(4), "color": _canvas.VERMILION}, hoverinfo="skip")
    contenders = go.Bar(
        orientation="h", width=0.7, xaxis="x2", yaxis="y2", textposition="outside", textangle=0, cliponaxis=False,
        textfont={"family": _canvas.MONO, "size": px(18), "color": INK}, hoverinfo="skip",
    )  # fmt: skip
    headline = go.Scatter(
        mode="text", textposition="middle right", textfont={"size": px(18), "color": INK}, hoverinfo="skip",
        cliponaxis=False,
    )  # fmt: skip
    return [boxes, places, contenders, headline]


def _step(merges: int, traces: list[dict[str, Any]]) -> tuple[str, list]:
    """A slider's step: of every property that any trace changes, the value for each trace."""
    flat = [
        {f"{key}.color" if key == "marker" else key: value.get("color") if key == "marker" else value
         for key, value in trace.items()}
        for trace in traces
    ]  # fmt: skip
    names = dict.fromkeys(name for trace in flat for name in trace)
    return str(merges), [{name: [trace.get(name) for trace in flat] for name in names}, list(range(len(traces)))]


def _columns(byte: int) -> int:
    return 1 if byte < 128 else 3


def _cells(spelled: Words) -> list[tuple[int, int]]:
    """(column, line) of each byte; a line is begun where the next word does not fit any more."""
    cells, column, line = [], 0, 0
    for word in spelled:
        width = sum(_columns(byte) for token in word for byte in token)
        if column and column + width > columns(LINE_COLUMNS):
            column, line = 0, line + 1
        for byte in b"".join(word):
            cells.append((column, line))
            column += _columns(byte)
    return cells


def _extent(spelled: Words) -> tuple[int, int]:
    """Lines and columns that the text takes; a word longer than a line makes all lines as long."""
    boxes = _boxes(spelled, spelled)
    n_lines = boxes[-1][1] + 1 if boxes else 1
    return n_lines, max([columns(LINE_COLUMNS), *(column + width for column, _, width in boxes)])


def _boxes(words: Words, spelled: Words) -> list[tuple[int, int, int]]:
    """(column, line, width) of each token."""
    cells, byte, boxes = _cells(spelled), 0, []
    for token in (token for word in words for token in word):
        boxes.append((*cells[byte], sum(map(_columns, token))))
        byte += len(token)
    return boxes


def _places(words: Words, boxes: list[tuple[int, int, int]], pair: tuple[bytes, bytes] | None) -> tuple[list, list]:
    """A line under each place where the pair stands, a little lower where it overlaps with the one before."""
    x, y, index, lower = [], [], 0, False
    for word in words:
        for here, token in enumerate(word):
            stands = (token, *word[here + 1 : here + 2]) == pair
            lower = stands and not lower and (*word[here - 1 : here], token) == pair
            if stands:
                (start, line, _), (last, _, width) = boxes[index : index + 2]
                x += [start + 0.1, round(last + width - 0.1, 2), None]
                y += [line + 0.42 + 0.07 * lower] * 2 + [None]
            index += 1
    return x, y


def _colour(token: bytes, newest: bytes | None) -> str:
    return NEWEST if token == newest else TOKEN if len(token) > 1 else BYTE


def _contender(pair: Pair) -> str:
    left, right, count = pair
    return f" {escaped(' + '.join(token_labels([label(left), label(right)])))}: {count}"


def _contest_title(top: float) -> dict[str, Any]:
    text = "pairs of neighbours, the most frequent first"
    font = {"size": px(TEXT_PX)}
    return {"text": text, "xref": "paper", "yref": "paper", "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom",
            "showarrow": False, "font": font}  # fmt: skip


def _quoted(token: bytes) -> str:
    return f"‘{token_labels([label(token)])[0]}’"


def _headline(pairs: Sequence[Sequence[Pair]], merges: int, n_tokens: int) -> str:
    said = f"{merges} merge{'s' * (merges != 1)}, {n_tokens} token{'s' * (n_tokens != 1)}"
    if not merges:
        return f"{said}: every byte for itself"
    left, right, count = pairs[merges - 1][0]
    often = {1: "once", 2: "twice"}.get(count, f"{count} times")
    return f"{said}: {_quoted(left)} + {_quoted(right)} stood there {often} and became {_quoted(left + right)}"


def _description(words: Sequence[Words], pairs: Sequence[Sequence[Pair]], merges: int) -> str:
    n_bytes = sum(len(token) for word in words[0] for token in word)
    said = f"{n_bytes} bytes after {_headline(pairs, merges, sum(map(len, words[merges])))}."
    if not pairs[merges]:
        return f"{said} No pair is left."
    left, right, count = pairs[merges][0]
    return f"{said} Next: {_quoted(left)} + {_quoted(right)}, {count}."
