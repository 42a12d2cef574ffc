"""A kernel, or the window of a pooling, that slides over a small picture.

Axes: H rows and W columns of the picture, K rows and columns of the window.
"""

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.figures import sliding as figure
from gptlab.figures._canvas import as_array

STRIDES = (1, 2, 3)


class SlidingWindow(FigureApp):
    """Four sliders choose the filter, what is done at the edge, the stride and the place."""

    def __init__(self, picture: Any, windows: Mapping[str, Any]) -> None:
        self._picture, self._windows = as_array(picture, float), dict(windows)
        for name, window in self._windows.items():
            figure.sliding_window(self._picture, {name: window})  # which refuses what does not fit
        self.filter = control(widgets.SelectionSlider, "filter", options=list(self._windows))
        self.padding = control(widgets.SelectionSlider, "padding", options=figure.PADDINGS)
        self.stride = control(widgets.SelectionSlider, "stride", options=STRIDES)
        self.step = control(widgets.IntSlider, "step", min=1, max=1)
        self._fit()
        self.step.value = self.step.max // 2
        super().__init__(self.filter, self.padding, self.stride, self.step)
        for one in (self.filter, self.padding, self.stride):
            one.observe(self.choose, "value")
        self.step.observe(self.refresh, "value")
        self.line.say(self.remark())

    def choose(self, change: Any = None) -> None:
        """Show another filter, padding or stride, at the same step as far as there is one: their handler."""
        self.attempt(self._fit)
        self.refresh()

    def draw(self) -> go.Figure:
        return self._figure({self.filter.value: self._windows[self.filter.value]}, slides=False)

    def still(self) -> go.Figure:
        kind = figure.kind_of(self.filter.value, self._windows[self.filter.value])
        alike = {name: window for name, window in self._windows.items() if figure.kind_of(name, window) == kind}
        return self._figure(alike, slides=True)

    def remark(self) -> str:
        slid = self._slide()
        row, column = divmod(self.step.value - 1, slid.output.shape[1])
        size, number = "{} × {}".format(*slid.kernel.shape), f"{slid.output[row, column]:.4g}".replace("-", "−")
        how = "The largest number of" if slid.takes_maxima else "The sum of the products with"
        return f"{how} the {size} window is {number}; it stands in row {row}, column {column}."

    def _slide(self) -> figure.Slide:
        return figure.slide(self._picture, self._windows[self.filter.value], self.padding.value, self.stride.value)

    def _fit(self) -> None:
        """As many steps as there are places."""
        self.step.max = self._slide().output.size

    def _figure(self, windows: Mapping[str, Any], *, slides: bool) -> go.Figure:
        chosen = {"shown": self.filter.value, "padding": self.padding.value, "stride": self.stride.value}
        return figure.sliding_window(self._picture, windows, **chosen, step=self.step.value - 1, slides=slides)


def sliding_window(picture: Any, windows: Mapping[str, Any]) -> FigureApp:
    """A window over a small picture (H,W), step by step, with sliders for filter, padding and stride.

    windows: name → a kernel (K,K), or K for the maximum of K × K. The still copy offers those of the kind and size of
    the one chosen. ValueError, naming it, for what does not fit.
    """
    if not windows:
        raise refuse("windows", windows, "at least one window by its name")
    return SlidingWindow(picture, windows)
