"""Receptive fields of a network that one builds: how many layers, how large a kernel, which strides.

Axes: L layers, the input below the first.
"""

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.figures import fields as figure

KERNELS = (1, 2, 3, 5, 7)
MOST_LAYERS, MOST_STRIDE = 4, 3
# What the still copy offers beside the strides that are set.
PATTERNS = ((1, 1, 1, 1), (1, 2, 1, 2), (2, 2, 2, 2))


class ReceptiveField(FigureApp):
    """Sliders for the number of layers, their kernel and the stride of each."""

    def __init__(self, kernel: int, strides: Sequence[int]) -> None:
        self.layers = control(widgets.IntSlider, "layers", min=1, max=MOST_LAYERS, value=len(strides))
        self.kernel = control(widgets.SelectionSlider, "kernel", options=KERNELS, value=kernel)
        padded = [*strides, *[1] * MOST_LAYERS][:MOST_LAYERS]
        self.strides = [
            control(widgets.IntSlider, f"stride of layer {number}", min=1, max=MOST_STRIDE, value=stride)
            for number, stride in enumerate(padded, start=1)
        ]
        # In two columns, so that the picture is in sight while a slider is moved.
        columns = [[self.layers, self.kernel], self.strides]
        columns = [widgets.VBox(column, layout={"flex": "1 1 320px"}) for column in columns]
        self._show_strides()
        super().__init__(widgets.HBox(columns, layout={"flex_flow": "row wrap"}))
        for one in (self.layers, self.kernel, *self.strides):
            one.observe(self.build, "value")
        self.line.say(self.remark())

    def build(self, change: Any = None) -> None:
        """Show the network that the sliders say: their handler."""
        self._show_strides()
        self.refresh()

    def draw(self) -> go.Figure:
        return figure.receptive_field(self._networks([self._strides()]))

    def still(self) -> go.Figure:
        n = self.layers.value
        return figure.receptive_field(self._networks([self._strides(), *(pattern[:n] for pattern in PATTERNS)]))

    def remark(self) -> str:
        *_, last = figure.fields(self._layers(self._strides()))
        inputs = "1 input" if last.size == 1 else f"{last.size} inputs"
        return f"A unit on top sees {inputs}; what its neighbour sees begins {last.jump} further on."

    def _strides(self) -> tuple[int, ...]:
        return tuple(one.value for one in self.strides[: self.layers.value])

    def _layers(self, strides: Sequence[int]) -> list[tuple[int, int]]:
        return [(self.kernel.value, stride) for stride in strides]

    def _networks(self, patterns: Sequence[Sequence[int]]) -> dict[str, list[tuple[int, int]]]:
        return {" ".join(map(str, strides)): self._layers(strides) for strides in patterns}

    def _show_strides(self) -> None:
        for number, one in enumerate(self.strides):
            one.layout.display = None if number < self.layers.value else "none"


def receptive_field(kernel: int = 3, strides: Sequence[int] = (1, 2, 1, 2)) -> FigureApp:
    """What a unit sees through up to four layers, with sliders for their number, kernel and strides.

    kernel: 1, 2, 3, 5 or 7 in every layer; strides: 1, 2 or 3 for each of one to four layers, from the input upwards.
    Both say where to begin. ValueError, naming it, for others.
    """
    if kernel not in KERNELS:
        raise refuse("kernel", kernel, f"one of {', '.join(map(str, KERNELS))}")
    if not 1 <= len(strides) <= MOST_LAYERS or not all(stride in range(1, MOST_STRIDE + 1) for stride in strides):
        raise refuse("strides", strides, f"one to {MOST_LAYERS} whole numbers from 1 to {MOST_STRIDE}")
    return ReceptiveField(kernel, strides)
