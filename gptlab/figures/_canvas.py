"""The sheet that every figure is drawn on: arrays, token labels, theme, token axis, alternative text.

Axes: T tokens of a text, V vocabulary, L layers, H heads.

A token's label may hold anything a user can type. Plotly reads tags, entities, ``%{…}`` and, between dollar signs,
formulas; `escaped` makes it print the text as it is. Colours are Okabe and Ito's and viridis, which colour-blind people
tell apart; text is a grey that reads as well on white as on black, and the paper is see-through.
"""

import json
import re
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from gptlab._refuse import refuse

Number = int | float

INK = "#767676"
FAINT = "rgba(128, 128, 128, 0.25)"
MASKED = "#acacac"  # what a causal head cannot see
BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7"
SANS = "'Open Sans', 'Segoe UI', 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"
TEXT_PX = 16

# Viridis by the root of the weight: among many tokens most weights are a few per cent, and are to be seen nevertheless.
ROOTED = [[step / 20, sample_colorscale("Viridis", (step / 20) ** 0.5)[0]] for step in range(21)]

# A word within a bar, printed whole even where the bar is narrower.
WITHIN = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "constraintext": "none"}

# Of Plotly, wherever a figure is drawn. The toolbar's camera saves lines and letters, not pixels.
SAVED_AS = {"format": "svg", "filename": "gptlab-figure"}
CONFIG = {"displaylogo": False, "responsive": True, "toImageButtonOptions": SAVED_AS}

LONGEST_LABEL = 24
ACROSS = 56  # characters that labels of columns have room for
MOST_TICKS = 24  # labels of 16 px that a side of 440 px holds without touching
MOST_POWERS = 8  # of ten that an axis names

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "%": "&#37;"})
# A blank inside ⟨F0 9F⟩, as labels write bytes, only parts them.
_BLANK = re.compile(r"⟨[^⟨⟩]*⟩|[ \n\t]")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DRAWN = {" ": "␣", "\n": "⏎", "\t": "⇥"}

# Of the toolbar's buttons: the first would send the figure to a server, the others select what nobody asks for.
UNUSED_BUTTONS = ["sendChartToCloud", "select2d", "lasso2d"]

_scale = 1.0


def lecture_mode(scale: Number = 1.5) -> None:
    """Draw figures and apps made from now on with text `scale` times as large; 1 is the size for a desk."""
    global _scale
    if isinstance(scale, bool) or not isinstance(scale, Real) or not 0.5 <= scale <= 4:
        raise refuse("scale", scale, "a number from 0.5 to 4, such as 1.5 for a lecture")
    _scale = float(scale)


def px(at_a_desk: Number) -> int:
    """A size in pixels, in the present lecture mode."""
    return round(at_a_desk * _scale)


def columns(at_a_desk: int) -> int:
    """Characters that fit into a line, in the present lecture mode."""
    return round(at_a_desk / _scale)


def as_array(values: Any, dtype: type | None = None) -> np.ndarray:
    """What `np.asarray` makes of it, also of a tensor that carries gradients or is bfloat16."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
    return np.asarray(values, dtype)


def percents(weights: Any) -> np.ndarray:
    """Weights from 0 to 1 as whole per cents in 8 bits, what is not a number as 0; whole per cents as they are."""
    weights = as_array(weights)
    if weights.dtype == np.uint8:
        return weights
    return np.rint(100 * np.nan_to_num(weights.astype(np.float32), neginf=0)).astype(np.uint8)


def staircase(n_tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """The corners, x and y, of what lies above the diagonal of n × n cells: an outline of the shape "vh"."""
    steps, last = np.arange(n_tokens), n_tokens - 0.5
    return np.append(steps + 0.5, last), np.append(steps - 0.5, -0.5)


def per_cent_colours(colorscale: Any = ROOTED) -> dict[str, Any]:
    """A colour axis for whole per cents, 0 to 100, with its bar."""
    bar = {"thickness": px(16), "tickformat": "d", "ticksuffix": " %"}
    return {"colorscale": colorscale, "cmin": 0, "cmax": 100, "colorbar": bar}


def area(x: Any, y: Any, colour: str, *, shape: str = "linear", **settings: Any) -> go.Scatter:
    """Filled shapes with no outline, parted by NaN, that a pointer looks and clicks through; `shape` is Plotly's."""
    return go.Scatter(
        x=np.array(x, np.float32),
        y=np.array(y, np.float32),
        mode="lines",
        line={"width": 0, "shape": shape},
        fill="toself",
        fillcolor=colour,
        hoverinfo="skip",
        **settings,
    )


def token_labels(tokens: Sequence[Any]) -> list[str]:
    """Labels as a reader sees them, not yet escaped: a piece's ``shown``, or a string with its blanks drawn."""
    if isinstance(tokens, str):
        raise refuse("tokens", tokens, "a list of token labels, not one string")
    labels = []
    for token in tokens:
        shown = getattr(token, "shown", token)
        if not isinstance(shown, str):
            raise refuse("a token", token, "a label (a string) or a piece of Tokenizer.pieces")
        shown = _BLANK.sub(lambda met: _DRAWN.get(met[0], met[0]), shown) or "∅"
        if len(shown) > LONGEST_LABEL:
            shown = f"{shown[: LONGEST_LABEL // 2]}…({len(shown)})"
        labels.append(shown)
    return labels


def escaped(text: str) -> str:
    """The text in Plotly's writing, so that the page shows exactly this."""
    return text.translate(_ESCAPES)


def powers_of_ten(low: Number, high: Number) -> dict[str, Any]:
    """The ticks of a long logarithmic axis from 10^low to 10^high: some powers of ten, written as 10⁻¹²."""
    step = int(np.ceil((high - low) / MOST_POWERS))
    powers = [power for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) if power % step == 0]
    texts = ["10" + str(power).translate(_RAISED) for power in powers]
    return {"tickmode": "array", "tickvals": [10.0**power for power in powers], "ticktext": texts}


def token_axis(labels: Sequence[str], **settings: Any) -> dict[str, Any]:
    """An axis whose numbers are positions 0 … T-1 and whose ticks read as the tokens there.

    Never categories: equal tokens would fall together. Of many tokens Plotly labels as many as there is room for,
    more when zoomed in; a hover finds each label either way.
    """
    positions, texts = range(len(labels)), [escaped(label) for label in labels]
    axis = {"range": [-0.5, len(labels) - 0.5], "showgrid": False, "zeroline": False, "ticks": "", "type": "linear"}
    axis["tickfont"] = {"family": MONO, "size": px(TEXT_PX)}
    axis["autotickangles"] = [0, -90]  # Plotly's 30° lets neighbours run into each other
    if len(labels) <= MOST_TICKS:
        axis |= {"tickmode": "array", "tickvals": list(positions), "ticktext": texts, "labelalias": {}}
    else:
        aliases = {str(position): text for position, text in zip(positions, texts, strict=True)}
        axis |= {"tickmode": "auto", "nticks": MOST_TICKS, "tickvals": None, "ticktext": None, "labelalias": aliases}
    return axis | settings


def turned_px(labels: Sequence[str]) -> int:
    """Pixels at a desk that labels of columns take beyond one line, for Plotly turns what does not fit side by side."""
    longest = max(map(len, labels))
    return min(10 * longest, 120) if longest * len(labels) > columns(ACROSS) and len(labels) <= MOST_TICKS else 0


def nearest(options: Sequence[Number], value: Number) -> int:
    """Which of the options is nearest to a value: where a slider begins."""
    return min(range(len(options)), key=lambda index: abs(options[index] - value))


def slider(name: str, steps: Sequence[tuple[str, list]], active: int = 0, top: Number = 0) -> dict[str, Any]:
    """A slider that works in the browser alone; each step is its label and the arguments of Plotly's restyle."""
    return {
        "active": active,
        "steps": [{"label": label, "method": "restyle", "args": args} for label, args in steps],
        "currentvalue": {"prefix": f"{name} ", "font": {"size": px(TEXT_PX + 2)}, "xanchor": "left"},
        "pad": {"t": px(top), "b": 0},
        "font": {"size": px(TEXT_PX)},
        "bgcolor": INK,
        "bordercolor": INK,
        "tickcolor": INK,
        "activebgcolor": ORANGE,
        "x": 0,
        "len": 1,
    }


def canvas(traces: Sequence[Any], *, description: str, height: Number, **layout: Any) -> go.Figure:
    """A figure in the common theme; `description` says in one line of words what is to be seen.

    It is the alternative text and stands in ``figure.layout.meta["description"]``.
    """
    fixed = {"template": _theme(), "height": px(height), "meta": {"description": description}}
    return Figure(traces, fixed | layout)


class Figure(go.Figure):
    """A Plotly figure that a notebook shows together with its alternative text; nothing is fetched to draw it."""

    _ipython_display_ = _repr_html_ = None  # Plotly's own leave the words out, and name a server

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
        return shown(self, description(self))


def shown(figure: go.Figure, words: str) -> dict[str, Any]:
    """What a notebook stores of a figure: the figure for a page that can draw it, and the words for any other."""
    drawn = json.loads(figure.to_json())
    drawn.get("layout", {}).pop("meta", None)  # the words themselves
    return {"application/vnd.plotly.v1+json": drawn | {"config": CONFIG}, "text/plain": words}


def description(figure: go.Figure) -> str:
    """A figure's alternative text."""
    return figure.layout.meta["description"]


def _theme() -> dict[str, Any]:
    axis = {"gridcolor": FAINT, "zerolinecolor": FAINT, "linecolor": INK, "tickcolor": INK, "automargin": True}
    axis |= {"title": {"font": {"size": px(TEXT_PX)}, "standoff": px(8)}, "tickfont": {"size": px(TEXT_PX)}}
    hover = {"bgcolor": "#222", "bordercolor": "#222", "align": "left", "namelength": -1}
    return {
        "layout": {
            "font": {"family": SANS, "size": px(TEXT_PX), "color": INK},
            "paper_bgcolor": "rgba(0, 0, 0, 0)",
            "plot_bgcolor": "rgba(0, 0, 0, 0)",
            "margin": {"l": px(16), "r": px(16), "t": px(16), "b": px(16)},
            "hoverlabel": hover | {"font": {"color": "#fff", "size": px(TEXT_PX), "family": SANS}},
            "hovermode": "closest",
            "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"size": px(TEXT_PX)}},
            "modebar": {"bgcolor": "rgba(0, 0, 0, 0)", "color": INK, "activecolor": ORANGE, "remove": UNUSED_BUTTONS},
            "xaxis": axis,
            "yaxis": axis,
        }
    }
