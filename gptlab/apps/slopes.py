"""Ways down a surface, by rules of one's own.

Axes: N steps of a path; a place is θ (2,).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.figures._canvas import Number
from gptlab.figures.surfaces import FIRST_PATH, descent_paths, visible_part

Surface = Callable[[Tensor], Tensor]  # θ (…,2) to heights (…)
Rule = Callable[[Tensor, Tensor, dict, Number], Tensor]  # θ, its gradient, what the rule remembers, η: the next θ
RATES = (0.001, 0.003, 0.01, 0.02, 0.05, 0.08, 0.1, 0.11, 0.15, 0.2, 0.3)
GRID = 61  # points a side of the map


def path_down(
    surface: Surface, rule: Rule, start: Sequence[Number], learning_rate: Number, steps: int
) -> Float[Tensor, "N 2"]:
    """The places that a rule comes to from a start, the start first; the gradient is autograd's."""
    theta, memory = torch.tensor(start, dtype=torch.float64), {}
    places = [theta]
    for _ in range(steps):
        here = theta.requires_grad_()
        (gradient,) = torch.autograd.grad(surface(here), here)
        with torch.no_grad():
            theta = rule(here.detach(), gradient, memory, learning_rate)
        places.append(theta)
    return torch.stack(places).detach()


class Descent(FigureApp):
    """A contour map with a path for each rule, under a slider for the learning rate and one for the steps."""

    def __init__(
        self,
        surface: Surface,
        rules: Mapping[str, Rule],
        start: Sequence[Number],
        extent: tuple[tuple[Number, Number], tuple[Number, Number]],
        learning_rate: Number,
        steps: int,
    ) -> None:
        self.surface, self.rules, self.start, self.most = surface, dict(rules), list(start), steps
        self.x, self.y = (np.linspace(*ends, GRID) for ends in extent)
        grid = torch.from_numpy(np.stack(np.meshgrid(self.x, self.y), -1))
        self.heights = surface(grid).numpy()
        self.rates = sorted({*RATES, learning_rate})
        options = [(f"{rate:g}", rate) for rate in self.rates]
        self.rate = control(widgets.SelectionSlider, "learning rate", options=options, value=learning_rate)
        self.steps = control(widgets.IntSlider, "steps", value=steps, min=0, max=steps)
        super().__init__(self.rate, self.steps)
        for slider in (self.rate, self.steps):
            slider.observe(self.move, "value")

    def move(self, change: Any = None) -> None:
        """Draw the paths that the sliders say: their handler."""
        self.attempt(self._move)

    def _move(self) -> None:
        for number, path in enumerate(self._paths(self.rate.value).values()):
            seen = visible_part(path, self.x, self.y)
            self.change(FIRST_PATH + number, x=seen[:, 0], y=seen[:, 1])

    def draw(self) -> go.Figure:
        return self._figure([self.rate.value])

    def still(self) -> go.Figure:
        return self._figure(self.rates)

    def _paths(self, rate: Number) -> dict[str, np.ndarray]:
        ways = {name: path_down(self.surface, rule, self.start, rate, self.most) for name, rule in self.rules.items()}
        return {name: way.numpy()[: self.steps.value + 1] for name, way in ways.items()}

    def _figure(self, rates: Sequence[Number]) -> go.Figure:
        paths = {rate: self._paths(rate) for rate in rates}
        return descent_paths(self.x, self.y, self.heights, paths, learning_rate=self.rate.value)


def descent(
    surface: Surface,
    rules: Mapping[str, Rule],
    start: Sequence[float | int],
    *,
    extent: tuple[tuple[float | int, float | int], tuple[float | int, float | int]] = ((-2, 2), (-2, 2)),
    learning_rate: float | int = 0.02,
    steps: int = 40,
) -> Descent:
    """Show where rules of descent lead from a start, for a learning rate that a slider chooses.

    surface: turns θ (…,2) into heights (…), by torch operations. rules: name → `rule(theta, gradient, memory, eta)`,
    which gives the next θ and may remember in the dict `memory`. extent: the map's ends in θ₁ and θ₂. ValueError for a
    start that is no place, a learning rate of at most 0 and less than one step.
    """
    if len(start) != 2:
        raise refuse("start", start, "two numbers, the place to start from")
    if not learning_rate > 0:
        raise refuse("learning_rate", learning_rate, "a number above 0")
    if steps < 1:
        raise refuse("steps", steps, "a whole number of at least 1")
    return Descent(surface, rules, start, extent, learning_rate, steps)
