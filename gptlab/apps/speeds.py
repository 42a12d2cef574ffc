"""How fast the next token comes as the text grows: with keys and values kept, and with all of them computed anew.

Axes: N lengths of the text at which it is measured.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import ipywidgets as widgets
import plotly.graph_objects as go
import torch

from gptlab import figures
from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp
from gptlab.cache import Cache
from gptlab.model import GPT, evaluation_mode

REPEATS = 5


class Speeds(NamedTuple):
    """Tokens per second at each of N lengths, the token in question included."""

    lengths: Sequence[int]
    kept: Sequence[float]
    anew: Sequence[float]


def measure(model: GPT, lengths: Sequence[int], *, repeats: int = REPEATS) -> Speeds:
    """The speeds of one text on this machine: of several tries the fastest, which the machine's other work slows least.

    ValueError for a length of more tokens than the model's context has.
    """
    if not lengths or not 1 <= min(lengths) <= max(lengths) <= model.config.context_length:
        raise refuse("lengths", list(lengths), f"numbers of tokens from 1 to {model.config.context_length}")
    with evaluation_mode(model), torch.no_grad():
        kept, anew = ([_per_second(model, length, keep, repeats) for length in lengths] for keep in (True, False))
        return Speeds(lengths, kept, anew)


def _per_second(model: GPT, length: int, keep: bool, repeats: int) -> float:
    ids = torch.zeros(1, length, dtype=torch.int64)  # which tokens they are makes no difference to the time
    taken = []
    for _ in range(repeats):
        unread, cache = ids, None
        if keep:
            cache = Cache(model.config.n_layers, length)
            if length > 1:
                model.hidden(ids[:, :-1], cache)
            unread = ids[:, -1:]
        start = perf_counter()
        model.unembed(model.hidden(unread, cache)[:, -1])
        taken.append(perf_counter() - start)
    return 1 / min(taken)


class Race(FigureApp):
    """Recorded speeds, and a button that measures them on this machine."""

    def __init__(self, model: GPT, recorded: Speeds) -> None:
        self.model, self.recorded = model, recorded
        self.here: Speeds | None = None
        self.button = widgets.Button(description="Measure here", tooltip="Measure the speeds on this machine")
        super().__init__(self.button)
        self.button.on_click(self.press)

    def press(self, button: Any = None) -> None:
        """Measure, and draw what came out beside the record: the handler of the button."""
        self.attempt(self._measure)

    def _measure(self) -> None:
        self.line.say("Measuring, for some seconds …")
        self.here = measure(self.model, self.recorded.lengths)
        self._redraw()

    def remark(self) -> str:
        if self.here is None:
            return ""
        gain = self.here.kept[-1] / self.here.anew[-1]
        return f"Here, at {self.here.lengths[-1]:,} tokens, the cache makes the next token {gain:.0f} times as fast."

    def draw(self) -> go.Figure:
        """With the curves that wait for the button, hidden until then."""
        chart = self._chart(self.here or self.recorded)
        for trace in chart.data[2:]:
            trace.visible = self.here is not None
        return chart

    def still(self) -> go.Figure:
        return self._chart(self.here)

    def _chart(self, here: Speeds | None) -> go.Figure:
        lines = {"keys and values kept": self.recorded.kept, "all computed anew": self.recorded.anew}
        if here is not None:
            lines |= {"kept, here": here.kept, "anew, here": here.anew}
        names = {"x_name": "tokens so far", "y_name": "tokens per second"}
        return figures.line_chart(self.recorded.lengths, lines, **names, log_x=True, log_y=True)


def cache_speed(model: GPT, recorded: Any) -> FigureApp:
    """Tokens per second over the length of the text, with a cache and without: recorded, and measured at a button.

    recorded: a dict of "lengths" and, for each of them, "kept" and "anew" in tokens per second, as
    `scripts/record_decoding.py` writes it. ValueError for lengths beyond the model's context.
    """
    speeds = Speeds(*(list(recorded[name]) for name in Speeds._fields))
    if max(speeds.lengths) > model.config.context_length:
        raise refuse("the longest length", max(speeds.lengths), f"at most {model.config.context_length} tokens")
    return Race(model, speeds)
