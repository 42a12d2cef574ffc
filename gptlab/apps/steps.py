"""Attention one step at a time: the numbers of one head and one query, for any model and prompt."""

from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt, Reading
from gptlab.figures import steps as figure
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import Trace, trace


class Stepper(FigureApp):
    """Four sliders choose a head, who looks, and how far the computation has gone."""

    def __init__(self, prompt: Prompt, layer: int, head: int) -> None:
        self.prompt = prompt
        self._traced: tuple[Reading, Trace] | None = None
        config = prompt.reading.model.config
        last = prompt.reading.ids.shape[1] - 1
        self.layer = control(widgets.IntSlider, "layer", min=0, max=config.n_layers - 1, value=layer)
        self.head = control(widgets.IntSlider, "head", min=0, max=config.n_heads - 1, value=head)
        self.query = control(widgets.IntSlider, "query", min=0, max=last, value=last)
        self.step = control(widgets.IntSlider, "step", min=1, max=len(figure.STEPS), value=1)
        sliders = (self.layer, self.head, self.query, self.step)
        super().__init__(prompt, *sliders)
        for slider in sliders:
            slider.observe(self.refresh, "value")
        prompt.follow(self.follow)
        self.line.say(self.remark())

    def follow(self) -> None:
        """Take in a new prompt; its last token looks."""
        last = self.prompt.reading.ids.shape[1] - 1
        self.query.max = last  # which moves the slider, and draws, only if it stood beyond
        self.query.value = last
        self.refresh()

    def draw(self) -> go.Figure:
        return self._steps(slides=False)

    def still(self) -> go.Figure:
        return self._steps(slides=True)

    def remark(self) -> str:
        return f"Step {self.step.value} of {len(figure.STEPS)}: {figure.STEPS[self.step.value - 1]}"

    def _steps(self, slides: bool) -> go.Figure:
        reading, kept = self.prompt.reading, self._trace()
        layer, head = self.layer.value, self.head.value
        return figure.attention_steps(
            *(part[layer, 0, head] for part in (kept.q, kept.k, kept.v)),
            reading.pieces,
            query=min(self.query.value, reading.ids.shape[1] - 1),
            step=self.step.value,
            causal=reading.model.config.causal,
            slides=slides,
        )

    def _trace(self) -> Any:
        """Queries, keys and values of all heads; one forward pass a prompt."""
        reading = self.prompt.reading
        if self._traced is None or self._traced[0] is not reading:
            self._traced = reading, trace(reading.model, reading.ids, keep={"q", "k", "v"})
        return self._traced[1]


def attention_steps(model: GPT, tok: Tokenizer, prompt: str, *, layer: int = 0, head: int = 0) -> FigureApp:
    """What one token's query becomes, step by step: product with each key, scaling, mask, softmax, weighted sum.

    Sliders choose layer, head, the token that looks, and the step; `layer` and `head` say where to begin. ValueError
    for a head that the model does not have.
    """
    config = model.config
    if not (0 <= layer < config.n_layers and 0 <= head < config.n_heads):
        raise refuse("(layer, head)", (layer, head), f"from (0, 0) to {(config.n_layers - 1, config.n_heads - 1)}")
    return Stepper(Prompt(model, tok, prompt), layer, head)
