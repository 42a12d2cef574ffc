"""How large a table of all texts would be: |V|^m entries, on a scale on which each step to the right is ten times more.

Axes: one bar a vocabulary; |V| tokens in it, m tokens of a text. Its length is log₁₀ |V|^m.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, INK, TEXT_PX, VERMILION, canvas, escaped, px, slider

# Powers of ten to compare with: 8 GB of 32-bit numbers, and the usual estimate for the universe that can be seen.
LANDMARKS = {"a laptop’s memory": 9.3, "atoms in the universe": 80.0}
RIGHT_END = 100
LONGEST = 20
ROW_PX = 70


def table_sizes(vocabularies: Mapping[str, int], *, length: int = 3, lengths: Sequence[int] = ()) -> go.Figure:
    """Draw the entries of the table of all texts of `length` tokens, a bar for each vocabulary.

    vocabularies: name → how many tokens it has. lengths: those a slider offers in the browser alone, none without.
    ValueError, naming it, for no vocabulary, for one of no token, and for a length below 1.
    """
    if not vocabularies:
        raise refuse("vocabularies", dict(vocabularies), "at least one name with its size")
    for name, size in vocabularies.items():
        if size < 1:
            raise refuse(f"the size of {name!r}", size, "a whole number of at least 1")
    for one in (length, *lengths):
        if one < 1:
            raise refuse("length", one, "a whole number of at least 1")
    sizes = list(vocabularies.values())
    steps = [(str(m), [{key: [bars] for key, bars in table_bars(sizes, m).items()}, [0]]) for m in lengths]
    active = list(lengths).index(length) if length in lengths else 0
    names = [f"{escaped(name)}<br>|V| = {size:,}" for name, size in vocabularies.items()]
    ticks = list(range(0, RIGHT_END + 1, 20))
    return canvas(
        [
            go.Bar(
                y=list(range(len(sizes))),
                orientation="h",
                marker={"color": BLUE},
                texttemplate="%{text}",
                textposition="auto",
                insidetextanchor="end",
                textangle=0,
                textfont={"size": px(TEXT_PX + 2)},
                insidetextfont={"color": "#fff"},
                outsidetextfont={"color": INK},
                hovertemplate="%{text} entries<extra></extra>",
                **table_bars(sizes, length),
            )
        ],
        description=description(vocabularies, length),
        height=ROW_PX * len(sizes) + 130 + 90 * bool(steps),
        xaxis={
            "range": [0, RIGHT_END], "tickmode": "array", "tickvals": ticks, "fixedrange": True,
            "ticktext": [f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
            "title": {"text": "entries of the table, |V|<sup>m</sup>"},
        },
        yaxis={
            "tickmode": "array", "tickvals": list(range(len(sizes))), "ticktext": names, "showgrid": False,
            "range": [len(sizes) - 0.5, -0.5], "fixedrange": True, "ticklabelstandoff": px(8),
        },
        shapes=[_line(at) for at in LANDMARKS.values()],
        annotations=[_name(name, at) for name, at in LANDMARKS.items()],
        margin={"t": px(44)},
        sliders=[slider("words in the text: m =", steps, active, top=60)] if steps else [],
        showlegend=False,
    )  # fmt: skip


def table_bars(sizes: Sequence[int], length: int) -> dict[str, list]:
    """The bars of texts of that length, and what stands on them."""
    return {
        "x": [round(length * math.log10(size), 4) for size in sizes],
        "text": [written(size**length) for size in sizes],
    }


def written(number: int) -> str:
    """Small numbers in full, large ones as 1.27 × 10²³."""
    if number < 10_000_000:
        return f"{number:,}"
    mantissa, exponent = f"{number:.2e}".split("e+") if number < 10**300 else _scientific(number)
    return f"{mantissa} × 10<sup>{int(exponent)}</sup>"


def description(vocabularies: Mapping[str, int], length: int) -> str:
    parts = [f"{name} {_plain(size**length)}" for name, size in vocabularies.items()]
    return f"Entries of a table of all texts of {length} words: {'; '.join(parts)}."


def _plain(number: int) -> str:
    return written(number).replace("<sup>", "^").replace("</sup>", "")


def _scientific(number: int) -> tuple[str, int]:
    """Of a number that no float holds."""
    exponent = len(str(number)) - 1
    return f"{number // 10 ** (exponent - 4) / 10_000:.2f}", exponent


def _line(at: float) -> dict[str, Any]:
    line = {"color": VERMILION, "width": 2, "dash": "dash"}
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}


def _name(name: str, at: float) -> dict[str, Any]:
    place = {"x": at, "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": "center", "showarrow": False}
    return place | {"text": escaped(name), "font": {"size": px(TEXT_PX)}}
