"""The model writes on: a text that grows before one's eyes, token by token."""

import asyncio
from collections.abc import Iterator
from html import escape
from itertools import count
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab.apps._frame import App, control
from gptlab.apps._prompt import Prompt
from gptlab.decoding import stream
from gptlab.figures._canvas import MONO, VERMILION, px
from gptlab.figures.texts import FONT_PX, generated_text
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

TEMPERATURES = (0.0, 0.5, 1.0, 1.5, 2.0)
# A larger model would need minutes for all these; its still copy shows the chosen one alone.
MOST_PARAMETERS = 20_000_000
READING_PACE = 0.04  # seconds a token at least, so that one sees them come


class Writing(App):
    """A button that lets the model write behind the prompt, at the temperature of a slider, and stops it."""

    def __init__(self, prompt: Prompt, *above: widgets.Widget, max_new_tokens: int = 40, seed: int = 0) -> None:
        self.prompt, self.max_new_tokens = prompt, max_new_tokens
        self.written = ""
        self._seeds, self._seed = count(seed + 1), seed
        self._task: asyncio.Task | None = None
        self.temperature = control(widgets.FloatSlider, "temperature", value=1, min=0, max=2.5, step=0.05)
        self.button = widgets.Button(description="Write on", tooltip="Let the model write on, or stop it")
        self.text = widgets.HTML()
        super().__init__([*above, widgets.HBox([self.button, self.temperature])], self.text)
        self.button.on_click(self.press)
        prompt.follow(self.forget)
        self._show()

    def press(self, button: Any = None) -> None:
        """Begin a new text, or stop the one that is being written; the handler of the button."""
        self.attempt(self.stop if self._task else self._begin)

    def stop(self) -> None:
        """Write no further."""
        if self._task:
            self._task.cancel()
        self._task = None
        self.button.description = "Write on"

    def forget(self) -> None:
        """Stop, and leave the prompt alone: it is another one now."""
        self.stop()
        self.written = ""
        self._show()

    def close(self) -> None:
        """Stop and leave the page."""
        self.stop()
        super().close()

    def still(self) -> go.Figure:
        """The text at several temperatures; what the present one wrote stands in the live app too, until it writes."""
        model, present = self.prompt.reading.model, self.temperature.value
        small = model.config.parameter_count()["total"] <= MOST_PARAMETERS
        temperatures = sorted({*TEMPERATURES, present}) if small else [present]
        texts = {temperature: "".join(self._pieces(temperature, self._seed)) for temperature in temperatures}
        if not self.written and not self._task:
            self.written = texts[present]
            self._show()
        return generated_text(self.prompt.reading.prompt, texts, temperature=present)

    def _pieces(self, temperature: float, seed: int) -> Iterator[str]:
        reading = self.prompt.reading
        options = {"temperature": temperature, "generator": seed, "on_slide": self.line.say}
        return stream(reading.model, reading.tok, reading.prompt, self.max_new_tokens, **options)

    def _begin(self) -> None:
        self.forget()
        self.line.say("")
        pieces = self._pieces(self.temperature.value, next(self._seeds))
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no page, nobody to watch it grow
            self._append("".join(pieces))
        else:
            self.button.description = "Stop"
            self._task = loop.create_task(self._grow(pieces))

    async def _grow(self, pieces: Iterator[str]) -> None:
        # On the kernel's own loop, not in a thread: between two tokens it hears sliders, and nothing outlives it.
        try:
            for piece in pieces:
                self._append(piece)
                await asyncio.sleep(READING_PACE)
        except Exception as reason:
            self.line.say(f"This did not work: {reason}")
        self.stop()

    def _append(self, piece: str) -> None:
        self.written += piece
        self._show()

    def _show(self) -> None:
        style = f"font-family:{MONO};font-size:{px(FONT_PX)}px;line-height:1.35;white-space:pre-wrap"
        new = f"<span style='color:{VERMILION}'>{escape(self.written)}</span>"
        self.text.value = f'<div style="{style}">{escape(self.prompt.reading.prompt)}{new}</div>'


def generate(model: GPT, tok: Tokenizer, prompt: str, max_new_tokens: int = 40, seed: int = 0) -> App:
    """The prompt and how the model goes on, another way at each press of the button; the seed fixes which."""
    box = Prompt(model, tok, prompt)
    return Writing(box, box, max_new_tokens=max_new_tokens, seed=seed)
