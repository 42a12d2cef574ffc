"""Who looks at whom, as arcs between the words of a prompt."""

from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures._canvas import token_labels
from gptlab.figures.arcs import attention_arcs as drawn
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

ALL = "all"
MOST_TOKENS = 44  # of more the still copy shows the chosen head alone: a page is to stay small


class Arcs(FigureApp):
    """The arcs of the head that two sliders choose, of all words or of one."""

    def __init__(self, prompt: Prompt, layer: int, head: int) -> None:
        self.prompt = prompt
        config = prompt.reading.model.config
        self.layer = control(widgets.IntSlider, "layer", min=0, max=config.n_layers - 1, value=layer)
        self.head = control(widgets.IntSlider, "head", min=0, max=config.n_heads - 1, value=head)
        self.query = control(widgets.SelectionSlider, "words that look", options=self._queries(), value=ALL)
        super().__init__(prompt, self.layer, self.head, self.query)
        for slider in (self.layer, self.head, self.query):
            slider.observe(self.refresh, "value")
        prompt.follow(self.follow)

    def follow(self) -> None:
        """Take in a new prompt; all its words look."""
        self.query.options = self._queries()
        self.refresh()

    def draw(self) -> go.Figure:
        return self._arcs(slides=False)

    def still(self) -> go.Figure:
        return self._arcs(slides=self.prompt.reading.ids.shape[1] <= MOST_TOKENS)

    def _queries(self) -> list[tuple[str, int | str]]:
        labels = token_labels(self.prompt.reading.pieces)
        return [(ALL, ALL), *((f"{label} ({position})", position) for position, label in enumerate(labels))]

    def _arcs(self, slides: bool) -> go.Figure:
        reading = self.prompt.reading
        query = None if self.query.value == ALL else self.query.value
        chosen: dict[str, Any] = {"layer": self.layer.value, "head": self.head.value, "query": query}
        return drawn(reading.attention, reading.pieces, **chosen, slides=slides)


def attention_arcs(model: GPT, tok: Tokenizer, prompt: str, *, layer: int = 0, head: int = 0) -> FigureApp:
    """Arcs from each word of the prompt to the words that it looks at, with sliders for layer, head and who looks.

    `layer` and `head` say where to begin. ValueError for a head that the model does not have.
    """
    config = model.config
    if not (0 <= layer < config.n_layers and 0 <= head < config.n_heads):
        raise refuse("(layer, head)", (layer, head), f"from (0, 0) to {(config.n_layers - 1, config.n_heads - 1)}")
    return Arcs(Prompt(model, tok, prompt), layer, head)
