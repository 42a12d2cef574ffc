"""A text that the model wrote, and what it would have written at other temperatures."""

import textwrap
from collections.abc import Mapping

import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import INK, MONO, VERMILION, Number, canvas, columns, escaped, nearest, px, slider

LINE_CHARACTERS = 62  # as many as a slide of 700 px holds
FONT_PX = 18


def generated_text(prompt: str, texts: Mapping[Number, str], *, temperature: Number = 1.0) -> go.Figure:
    """Draw the prompt and, in colour, how it goes on; with several temperatures, a slider in the browser alone.

    texts: from temperature to the new text; the entry nearest to `temperature` is shown first. ValueError if empty.
    """
    if not texts:
        raise refuse("texts", texts, "at least one temperature with its text")
    temperatures = list(texts)
    active = nearest(temperatures, temperature)
    written = [_written(prompt, texts[key]) for key in temperatures]
    steps = [(f"{key:g}", [{"text": [[text]]}, [0]]) for key, text in zip(temperatures, written, strict=True)]
    n_lines = max(text.count("<br>") for text in written) + 1
    return canvas(
        [
            go.Scatter(
                x=[0],
                y=[0],
                text=[written[active]],
                mode="text",
                textposition="bottom right",
                textfont={"family": MONO, "size": px(FONT_PX), "color": INK},
                hoverinfo="skip",
                cliponaxis=False,
            )
        ],
        description=f"The text at temperature {temperatures[active]:g}: {prompt}|{texts[temperatures[active]]}",
        height=1.35 * FONT_PX * n_lines + 40 + 140 * (len(steps) > 1),
        xaxis={"range": [0, 1], "visible": False, "fixedrange": True},
        yaxis={"range": [-1, 0], "visible": False, "fixedrange": True},
        sliders=[slider("temperature", steps, active, top=20)] if len(steps) > 1 else [],
        showlegend=False,
    )


def _written(prompt: str, text: str) -> str:
    """Both in lines of equal length, in Plotly's writing; the new text is coloured."""
    lines, left = [], len(prompt)
    for paragraph in (prompt + text).split("\n"):
        for piece in _lines(paragraph):
            old, new = piece[: max(left, 0)], piece[max(left, 0) :]
            left -= len(piece)
            coloured = f'<span style="color:{VERMILION}">{escaped(new)}</span>' if new else ""
            lines.append(escaped(old) + coloured)
        left -= 1
    return "<br>".join(lines)


def _lines(paragraph: str) -> list[str]:
    """The paragraph in lines, of which none but the first begins with a blank: that ends the line before."""
    lines = textwrap.wrap(paragraph, columns(LINE_CHARACTERS), drop_whitespace=False, replace_whitespace=False) or [""]
    for n in range(1, len(lines)):
        word = lines[n].lstrip(" ")
        if word:
            lines[n - 1] += " " * (len(lines[n]) - len(word))
            lines[n] = word
    return lines
