"""Temperature, top-k and top-p on one distribution: what each cuts away, and what is left to draw from.

The sliders work on logits that are there already: one forward pass a prompt, none a slider.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures.cuts import Setting, likeliest, number
from gptlab.labels import label
from gptlab.model import GPT
from gptlab.probabilities import next_token_probabilities
from gptlab.tokenizer import Tokenizer

TEMPERATURES = (0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, inf)
TOP_K = (1, 2, 3, 4, 5, 7, 10, 20, 50, 100)
TOP_P = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, None)


class Cut(FigureApp):
    """Bars of the likeliest next tokens, and what three sliders leave of them."""

    def __init__(self, prompt: Prompt, *above: widgets.Widget) -> None:
        self.prompt = prompt
        top_k = (*(k for k in TOP_K if k < prompt.reading.tok.vocab_size), None)
        self._values = {"temperature": TEMPERATURES, "top-k": top_k, "top-p": TOP_P}
        begins = {"temperature": TEMPERATURES.index(1), "top-k": len(top_k) - 1, "top-p": len(TOP_P) - 1}
        # A slider's own value is the place among these, as None may be no value of a slider.
        self.knobs = {
            name: control(widgets.SelectionSlider, name, options=_options(values), value=begins[name])
            for name, values in self._values.items()
        }
        super().__init__(*above, *self.knobs.values())
        for slider in self.knobs.values():
            slider.observe(self.refresh, "value")
        prompt.follow(self.refresh)

    def draw(self) -> go.Figure:
        return self._cut()

    def still(self) -> go.Figure:
        settings = {
            name: [self._setting({name: place}) for place in range(len(values))]
            for name, values in self._values.items()
        }
        return self._cut(sliders=settings)

    def _cut(self, **options: Any) -> go.Figure:
        reading = self.prompt.reading
        model = next_token_probabilities(reading.logits)
        labels = {int(id): label(reading.tok.token_bytes(int(id))) for id in likeliest(model)}
        return figures.sampling_cut(model, labels, self._setting({}), **options)

    def _setting(self, moved: dict[str, int]) -> Setting:
        """What the sliders say, with some of them moved."""
        logits = self.prompt.reading.logits
        knobs = [values[moved.get(name, self.knobs[name].value)] for name, values in self._values.items()]
        return Setting(*knobs, next_token_probabilities(logits, knobs[0]), next_token_probabilities(logits, *knobs))


def _options(values: Sequence[Any]) -> list[tuple[str, int]]:
    return [(number(value), place) for place, value in enumerate(values)]


def sampling_cut(model: GPT, tok: Tokenizer, prompt: str) -> FigureApp:
    """What temperature, top-k and top-p leave of the next token's distribution, under a slider each."""
    box = Prompt(model, tok, prompt)
    return Cut(box, box)
