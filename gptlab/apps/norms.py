"""LayerNorm on one vector: what it forgets, and why it divides by the deviation.

Axes: d numbers of the vector.
"""

from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.figures._canvas import as_array, px, slider
from gptlab.figures.charts import bar_chart

FACTORS = (0.25, 0.5, 1.0, 2.0)
BY_DEVIATION, BY_VARIANCE = "divided by the deviation: LayerNorm", "divided by the variance"
EPSILON = 1e-5


class LayerNormBars(FigureApp):
    """A vector times a factor plus an offset, and what is left of both after the norm."""

    def __init__(self, x: np.ndarray) -> None:
        self._x = x
        self.factor = control(widgets.SelectionSlider, "factor", options=[(f"{f:g}", f) for f in FACTORS], value=1.0)
        self.offset = control(widgets.FloatSlider, "offset", value=0, min=-3, max=3, step=0.5)
        super().__init__(self.factor, self.offset)
        for one in (self.factor, self.offset):
            one.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        bars = self._bars(self.factor.value)
        figure = bar_chart([f"x{n}" for n in range(len(self._x))], bars, y_name="value")
        most = max(np.abs(values).max() for factor in FACTORS for values in self._bars(factor).values())
        # One scale for all factors, so that what does not change is seen not to change.
        return figure.update_yaxes(range=[-1.05 * most, 1.05 * most])

    def still(self) -> go.Figure:
        figure = self.draw()
        steps = [(f"{f:g}", [{"y": [y.tolist() for y in self._bars(f).values()]}]) for f in FACTORS]
        height = figure.layout.height + px(90)
        return figure.update_layout(
            sliders=[slider("factor", steps, FACTORS.index(self.factor.value), 60)], height=height
        )

    def _bars(self, factor: float) -> dict[str, np.ndarray]:
        x = factor * self._x + self.offset.value
        centred = x - x.mean()
        return {
            "the vector": x,
            BY_DEVIATION: centred / np.sqrt(x.var() + EPSILON),
            BY_VARIANCE: centred / (x.var() + EPSILON),
        }


def layer_norm(vector: Any) -> FigureApp:
    """Bars of a vector (d,) before and after LayerNorm, with sliders that scale and shift it.

    Beside it stands what dividing by the variance would give. ValueError for another shape and for equal numbers.
    """
    x = as_array(vector, float)
    if x.ndim != 1 or not np.isfinite(x).all() or len(set(x)) < 2:
        raise refuse("vector", x.tolist(), "one row of finite numbers that are not all equal")
    return LayerNormBars(x)
