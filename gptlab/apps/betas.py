"""β at a slider: what a model comes to that learns from preferences."""

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp, control
from gptlab.figures._canvas import Number
from gptlab.figures.betas import PreferenceRun


class Betas(FigureApp):
    """Shares, margin and divergence of the run that the slider chooses."""

    def __init__(
        self, names: Sequence[str], reference: Any, runs: Mapping[Number, PreferenceRun], beta: Number
    ) -> None:
        self.names, self.reference, self.runs = list(names), reference, dict(runs)
        figures.preference_runs(names, reference, runs, beta=beta)  # refuses what does not fit
        first = min(self.runs, key=lambda one: abs(one - beta))
        options = [(f"{one:g}", one) for one in self.runs]
        self.beta = control(widgets.SelectionSlider, "β", options=options, value=first)
        super().__init__(self.beta)
        self.beta.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        # Axes are those of all runs, so that they stay where they are.
        figure = self.still()
        return figure.update_layout(sliders=[], height=figure.layout.height - 110 * (len(self.runs) > 1))

    def still(self) -> go.Figure:
        return figures.preference_runs(self.names, self.reference, self.runs, beta=self.beta.value)


def preference_runs(
    names: Sequence[str], reference: Any, runs: Mapping[float | int, PreferenceRun], *, beta: float | int = 0.1
) -> Betas:
    """Show what β does, a slider choosing among trainings; arguments as of `figures.preference_runs`."""
    return Betas(names, reference, runs, beta)
