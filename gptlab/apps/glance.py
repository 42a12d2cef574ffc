"""All heads at a glance; a menu or a click enlarges one."""

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures._canvas import px
from gptlab.figures.grids import ALL, SLIDER_PX, head_grid
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

Head = tuple[int, int]


class Glance(FigureApp):
    """A map for each head; the one that is chosen fills the picture, and a click on it brings all of them back."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        n_layers, n_heads = prompt.reading.attention.shape[:2]
        self._heads: list[Head] = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
        options = [(ALL, ALL), *((f"{layer}.{head}", (layer, head)) for layer, head in self._heads)]
        self.enlarge = control(widgets.SelectionSlider, "enlarge layer.head", options=options, value=ALL)
        super().__init__(prompt, self.enlarge)
        self.enlarge.observe(self.refresh, "value")
        for head, trace in zip(self._heads, self.figure.data, strict=False):
            # A click is told to every trace, with the points that were met in it.
            trace.on_click(lambda trace, points, state, head=head: self.click(head) if points.xs else None)
        prompt.follow(self.refresh)

    def click(self, head: Head) -> None:
        """Enlarge a head, or show all again if it is the one that is enlarged: a click's handler."""
        self.enlarge.value = ALL if self.enlarge.value == head else head

    def draw(self) -> go.Figure:
        figure = self.still()
        figure.layout.sliders, figure.layout.height = (), figure.layout.height - px(SLIDER_PX)
        return figure

    def still(self) -> go.Figure:
        reading = self.prompt.reading
        enlarged = None if self.enlarge.value == ALL else self.enlarge.value
        return head_grid(reading.attention, reading.pieces, enlarged=enlarged)


def all_heads(model: GPT, tok: Tokenizer, prompt: str) -> FigureApp:
    """Maps of what every head makes of the prompt, side by side; the slider, or a click on a map, enlarges one."""
    return Glance(Prompt(model, tok, prompt))
