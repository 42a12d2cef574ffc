"""A flow and the points that it takes along: gradient descent, a residual network, attention.

Axes: N points in the plane or in space, F pictures. Each step is Euler's, x ← x + h·v(x), and so is a layer of a
residual network.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.figures._canvas import Number, nearest
from gptlab.figures.motions import FRAME_MS, moving_points, places

Velocity = Callable[..., Tensor]  # x (N,2) or (N,3), and the control's value if there is one, to the velocity there
Surface = Callable[[Tensor], Tensor]  # places (…,2) to heights (…)
MOST_FRAMES = 40
GRID = 41  # points a side of the ground
BEYOND = 1.2  # how much farther than the farthest start one sees


def euler(
    velocity: Callable[[Tensor], Tensor], x: Float[Tensor, "N d"], step: Number, steps: int, every: int = 1
) -> Float[Tensor, "F N d"]:
    """The places that a flow takes points to, the start first and then after each `every` steps."""
    kept = [x]
    for number in range(1, steps + 1):
        x = (x + step * velocity(x)).detach()
        if number % every == 0:
            kept.append(x)
    return torch.stack(kept)


class Flow(FigureApp):
    """Points that flows take along, under a slider for the time that can be played, and one for what the flow needs."""

    def __init__(
        self,
        velocities: Mapping[str, Velocity],
        starts: Tensor,
        step: Number,
        steps: int,
        parameter: str,
        values: Sequence[Number],
        value: Number | None,
        **picture: Any,
    ) -> None:
        self._velocities, self._starts, self._step, self._picture = dict(velocities), starts, step, picture
        self._every = ceil(steps / MOST_FRAMES)
        self._steps = steps - steps % self._every
        self._times = step * np.arange(0, self._steps + 1, self._every)
        self._flown: dict[Number | None, dict[str, np.ndarray]] = {}
        self.time = control(
            widgets.SelectionSlider,
            picture["time_name"],
            options=[(f"{time:.4g}", number) for number, time in enumerate(self._times)],
        )
        self.play = widgets.Play(max=len(self._times) - 1, interval=FRAME_MS, show_repeat=False)
        self._link = widgets.jslink((self.play, "value"), (self.time, "index"))
        controls = [self.play, self.time]
        self.value = None
        if values:
            options = [(f"{one:g}", one) for one in values]
            first = values[0 if value is None else nearest(values, value)]
            self.value = control(widgets.SelectionSlider, parameter, options=options, value=first)
            controls = [self.value, *controls]
        super().__init__(*controls)
        self.time.observe(self.move, "value")
        if self.value:
            self.value.observe(self.refresh, "value")

    def move(self, change: Any = None) -> None:
        """Show the points at the slider's time: its handler."""
        self.attempt(self._move)

    def _move(self) -> None:
        taken = places(self._tracks(), self._picture["groups"], self.time.value)
        first = len(self.figure.data) - len(taken)
        with self.figure.batch_update():
            for number, place in enumerate(taken, start=first):
                self.change(number, **place)

    def draw(self) -> go.Figure:
        return self._figure(slides=False)

    def still(self) -> go.Figure:
        return self._figure(slides=True)

    def _figure(self, slides: bool) -> go.Figure:
        return moving_points(self._times, self._tracks(), shown=self.time.value, slides=slides, **self._picture)

    def _tracks(self) -> dict[str, np.ndarray]:
        """Where the points of each panel are at each time, for the present value; computed once for each."""
        value = self.value.value if self.value else None
        if value not in self._flown:
            given = () if value is None else (value,)
            self._flown[value] = {
                name: euler(
                    lambda x, v=velocity: v(x, *given), self._starts, self._step, self._steps, self._every
                ).numpy()
                for name, velocity in self._velocities.items()
            }
        return self._flown[value]


def flow(
    velocities: Mapping[str, Velocity],
    starts: Float[Tensor, "N d"],
    *,
    step: float | int,
    steps: int,
    parameter: str = "",
    values: Sequence[float | int] = (),
    value: float | int | None = None,
    time_name: str = "time",
    names: tuple[str, str] = ("x₁", "x₂"),
    groups: Sequence[str] | None = None,
    grounds: Mapping[str, Surface] | None = None,
    reach: float | int | None = None,
) -> Flow:
    """Show where flows take points: a panel for each, a slider for the time, and a button that plays it.

    velocities: name of the panel → `velocity(x)`, or `velocity(x, value)` where there are values to choose from; it
    gives the velocity (N,d) of all points. starts: (N,2), or (N,3) in space, the same for each panel. step, steps: of
    Euler's method. parameter, values, value: name, choices and first choice of a second slider. names, groups: as
    `figures.moving_points`. grounds: name of a panel → heights (…) of places (…,2). reach: how far one sees from 0.
    ValueError, naming it, for starts of another shape, for a step of at most 0, less than one step and no velocity.
    """
    if starts.shape[1] not in (2, 3) or not len(starts):
        raise refuse("the shape of starts", tuple(starts.shape), "(points, 2) or (points, 3), at least one of them")
    if not step > 0:
        raise refuse("step", step, "a number above 0")
    if isinstance(steps, bool) or steps < 1:
        raise refuse("steps", steps, "a whole number of at least 1")
    if reach is None:
        reach = BEYOND * float(starts.abs().max()) or 1.0
    sides = torch.linspace(-reach, reach, GRID, dtype=starts.dtype)
    grid = torch.stack(torch.meshgrid(sides, sides, indexing="xy"), -1)
    heights = {name: surface(grid).detach().numpy() for name, surface in (grounds or {}).items()}
    picture = {"time_name": time_name, "names": names, "groups": groups, "grounds": heights, "reach": reach}
    return Flow(velocities, starts, step, steps, parameter, values, value, **picture)
