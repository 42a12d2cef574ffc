"""Who looks at whom: the attention of every layer and head to a prompt."""

from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures.heatmaps import HEATMAP, attention_heatmap
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

# Of more the still copy shows the chosen head alone: a page is to stay small.
MOST_BYTES = 300_000


class Heads(FigureApp):
    """The attention of the head that two sliders choose."""

    def __init__(self, prompt: Prompt, *above: widgets.Widget) -> None:
        self.prompt = prompt
        n_layers, n_heads = prompt.reading.attention.shape[:2]
        self.layer = control(widgets.IntSlider, "layer", min=0, max=n_layers - 1)
        self.head = control(widgets.IntSlider, "head", min=0, max=n_heads - 1)
        super().__init__(*above, self.layer, self.head)
        for slider in (self.layer, self.head):
            slider.observe(self.choose, "value")
        prompt.follow(self.refresh)

    def choose(self, change: Any = None) -> None:
        """Show the head that the sliders say: their handler."""
        self.attempt(lambda: self.change(HEATMAP, z=self.prompt.reading.attention[self.layer.value, self.head.value]))

    def draw(self) -> go.Figure:
        reading = self.prompt.reading
        return attention_heatmap(reading.attention[self.layer.value, self.head.value], reading.pieces)

    def still(self) -> go.Figure:
        reading = self.prompt.reading
        if reading.attention.nbytes > MOST_BYTES:
            return self.draw()
        return attention_heatmap(reading.attention, reading.pieces, layer=self.layer.value, head=self.head.value)


def attention(model: GPT, tok: Tokenizer, prompt: str) -> FigureApp:
    """A heatmap of what each token of the prompt looks at, with a slider for the layer and one for the head."""
    box = Prompt(model, tok, prompt)
    return Heads(box, box)
