"""Lines of one's own that a slider moves.

Axes: N points of a line.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from gptlab import figures
from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.figures._canvas import Number, nearest

Lines = Callable[[Number], Mapping[str, Any]]  # a value of the slider to lines, each (N,)


class MovingLines(FigureApp):
    """A chart whose lines are computed for what a slider says, each value once."""

    def __init__(self, x: Any, lines: Lines, values: Sequence[Number], start: Number, **named: Any) -> None:
        self.x, self.lines, self.named = x, lines, named
        self.values = list(values)
        self._computed: dict[Number, Mapping[str, Any]] = {}
        options = [(f"{value:g}", value) for value in self.values]
        self.slider = control(widgets.SelectionSlider, named["control"], options=options, value=start)
        super().__init__(self.slider)
        self.slider.observe(self.move, "value")

    def move(self, change: Any = None) -> None:
        """Draw the lines that the slider says: its handler."""
        self.attempt(self._move)

    def _move(self) -> None:
        moved = self.draw()
        with self.figure.batch_update():
            for number, trace in enumerate(moved.data):
                self.change(number, y=trace.y)
        self._drawn = moved

    def draw(self) -> go.Figure:
        return self._figure([self.slider.value])

    def still(self) -> go.Figure:
        return self._figure(self.values)

    def _figure(self, values: Sequence[Number]) -> go.Figure:
        views = {value: self._at(value) for value in values}
        return figures.moving_lines(self.x, views, active=self.slider.value, **self.named)

    def _at(self, value: Number) -> Mapping[str, Any]:
        if value not in self._computed:
            self._computed[value] = self.lines(value)
        return self._computed[value]


def moving_lines(
    x: Any,
    lines: Lines,
    values: Sequence[float | int],
    *,
    control: str,
    x_name: str,
    y_name: str,
    start: float | int | None = None,
    log_x: bool = False,
    log_y: bool = False,
    y_range: tuple[float | int, float | int],
) -> MovingLines:
    """Show what lines do when a number is changed.

    lines: a function of the number, which gives name → (N,) over x (N,). values: the numbers that the slider goes
    through; start: the first one shown, the first of them if None. y_range: the ends of the axis, which stay. Each
    value is computed once, when it is first wanted. ValueError for no value, for a start that is none of them, and for
    what `gptlab.figures.moving_lines` refuses.
    """
    if not len(values):
        raise refuse("values", values, "at least one number for the slider")
    start = values[0] if start is None else start
    if start not in values:
        raise refuse("start", start, f"one of the slider's values, such as {values[nearest(values, start)]}")
    named = {"control": control, "x_name": x_name, "y_name": y_name, "log_x": log_x, "log_y": log_y}
    return MovingLines(np.asarray(x), lines, values, start, y_range=y_range, **named)
