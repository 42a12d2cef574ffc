"""Panels of square cells beside one another in one figure: their axes, titles and colours.

Axes: H rows (downwards, the first on top), W columns of a panel.
"""

from typing import Any

import numpy as np

from gptlab.figures._canvas import INK, TEXT_PX, Number, escaped, px

GREYS = [[0.0, "#101010"], [1.0, "#fafafa"]]
# Blue below 0, orange above, and 0 as pale as paper.
SIGNED = [[0.0, "#0072B2"], [0.5, "#f2f2f2"], [1.0, "#D55E00"]]
PAGE_PX = 940  # how wide a figure is at a desk
CHARACTER_PX = 10


def cell_axes(
    number: int, shape: tuple[int, ...], x_domain: list[Number], y_domain: list[Number]
) -> dict[str, dict[str, Any]]:
    """The two axes of one of several pictures: square cells from (0, 0) at the upper left, a frame, no ticks."""
    end = "" if number == 1 else str(number)
    frame = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "fixedrange": True}
    frame |= {"showline": True, "mirror": True, "linecolor": INK, "constrain": "domain", "type": "linear"}
    x = {"range": [-0.5, shape[1] - 0.5], "domain": x_domain, "anchor": f"y{end}"}
    y = {"range": [shape[0] - 0.5, -0.5], "domain": y_domain, "anchor": f"x{end}", "scaleanchor": f"x{end}"}
    return {f"xaxis{end}": frame | x, f"yaxis{end}": frame | y | {"constraintoward": "top"}}


def panel_title(text: str, x: Number, y: Number) -> dict[str, Any]:
    """A title in the middle above a picture, at a place on the paper."""
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    return {"text": escaped(text), "showarrow": False, "font": {"size": px(TEXT_PX)}} | place


def written_numbers() -> dict[str, Any]:
    """What writes a heatmap's numbers into its cells, with two digits."""
    return {"texttemplate": "%{z:.2~g}", "textfont": {"size": px(TEXT_PX)}}


def fits(values: np.ndarray, cell: Number) -> bool:
    """Whether each of the numbers, so written, fits into a cell of that many pixels."""
    return CHARACTER_PX * max(len(f"{number:.2g}") for number in values.flat) <= cell
