"""What comes next: the model's bars, what temperature, top-k and top-p make of them, and the world's truth.

The sliders work on logits that are there already: one forward pass a prompt, none a slider.
"""

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures._rows import bar_lengths
from gptlab.figures.probabilities import AFTER_BARS, N_TOKENS, likeliest, next_token_bars
from gptlab.labels import label
from gptlab.model import GPT
from gptlab.probabilities import next_token_probabilities
from gptlab.tokenizer import Tokenizer

TEMPERATURES = [round(0.1 * step, 1) for step in range(26)]
TOP_K = (1, 2, 3, 5, 10, 20, 50, 100, 200)


class Labels(Sequence):
    """What to print for each token id, made when asked for: a picture needs ten of fifty thousand."""

    def __init__(self, tok: Tokenizer) -> None:
        self._tok = tok

    def __len__(self) -> int:
        return self._tok.vocab_size

    def __getitem__(self, id: int) -> str:
        return label(self._tok.token_bytes(id))


class NextToken(FigureApp):
    """Bars of the likeliest next tokens under three sliders."""

    def __init__(self, prompt: Prompt, *above: widgets.Widget) -> None:
        self.prompt = prompt
        self._labels = Labels(prompt.reading.tok)
        n_tokens = len(self._labels)
        top_k = [*((str(k), k) for k in TOP_K if k < n_tokens), ("all", n_tokens)]
        self.temperature = control(widgets.FloatSlider, "temperature", value=1, min=0, max=2.5, step=0.05)
        self.top_k = control(widgets.SelectionSlider, "top-k", options=top_k, value=n_tokens)
        self.top_p = control(widgets.FloatSlider, "top-p", value=1, min=0.05, max=1, step=0.05)
        super().__init__(*above, self.temperature, self.top_k, self.top_p)
        for slider in (self.temperature, self.top_k, self.top_p):
            slider.observe(self.reshape, "value")
        prompt.follow(self.refresh)
        self.line.say(self.remark())

    def reshape(self, change: Any = None) -> None:
        """Show what the sliders make of the logits: their handler."""
        self.attempt(self._reshape)

    def _reshape(self) -> None:
        ids = likeliest(self._model(), self.prompt.reading.truth, N_TOKENS)
        self.change(AFTER_BARS, x=bar_lengths(self._probabilities(self.temperature.value), ids))

    def _model(self) -> np.ndarray:
        return next_token_probabilities(self.prompt.reading.logits).numpy()

    def draw(self) -> go.Figure:
        return self._bars(self._probabilities(self.temperature.value))

    def still(self) -> go.Figure:
        return self._bars({temperature: self._probabilities(temperature) for temperature in TEMPERATURES})

    def _probabilities(self, temperature: float) -> np.ndarray:
        logits = self.prompt.reading.logits
        return next_token_probabilities(logits, temperature, self.top_k.value, self.top_p.value).numpy()

    def remark(self) -> str:
        return self.prompt.reading.hidden_because

    def _bars(self, after: Any) -> go.Figure:
        reading = self.prompt.reading
        temperature = self.temperature.value
        return next_token_bars(self._model(), self._labels, after=after, truth=reading.truth, temperature=temperature)


def next_token(model: GPT, tok: Tokenizer, prompt: str, truth: Any = None) -> FigureApp:
    """Bars of the likeliest next tokens; `truth` is a world such as `gptlab.world`, whose diamonds stand beside them.

    Where the world cannot tell the prompt, a sentence says so and the diamonds are hidden.
    """
    box = Prompt(model, tok, prompt, truth)
    return NextToken(box, box)
