"""A group of answers and its rewards, in one round of a training or another."""

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp, control


class Judged(FigureApp):
    """Bars of a group's advantages, under a slider for the round."""

    def __init__(self, answers: Sequence[Sequence[str]], rewards: Any, advantages: Any, rounds: Sequence[int]) -> None:
        self.groups, self.rounds = (answers, rewards, advantages), list(rounds)
        figures.judged_answers(*self.groups, rounds=self.rounds)  # refuses what does not fit
        options = [(str(number), place) for place, number in enumerate(self.rounds)]
        self.round = control(widgets.SelectionSlider, "after round", options=options, value=0)
        super().__init__(self.round)
        self.round.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        # The axis is that of all rounds, so that bars can be compared.
        figure = self.still()
        return figure.update_layout(sliders=[], height=figure.layout.height - 110 * (len(self.rounds) > 1))

    def still(self) -> go.Figure:
        return figures.judged_answers(*self.groups, rounds=self.rounds, first=self.round.value)


def judged_answers(answers: Sequence[Sequence[str]], rewards: Any, advantages: Any, *, rounds: Sequence[int]) -> Judged:
    """Show answers, rewards and advantages round by round; arguments as of `figures.judged_answers`."""
    return Judged(answers, rewards, advantages, rounds)
