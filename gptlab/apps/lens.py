"""What a model would say if it stopped after each block: the logit lens on what is typed.

Axes: T tokens, L layers, V vocabulary.
"""

from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
import torch

from gptlab import lens
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures.lens import GRID, lens_grid, whole_percents
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

MOST_ROWS = 24
CAME, SAID = "the token that came", "the token shown"


class Lens(FigureApp):
    """Rows of tokens, columns of layers; two buttons choose which probability colours them."""

    def __init__(self, prompt: Prompt, *above: widgets.Widget) -> None:
        self.prompt = prompt
        # Buttons, not a menu: in a menu the arrow keys would be JupyterLab's, which goes to another cell.
        self.colour = control(widgets.ToggleButtons, "colour: probability of", options=[CAME, SAID])
        self.colour.style.button_width = "auto"
        self._read()
        super().__init__(*above, self.colour)
        self.colour.observe(self.choose, "value")
        prompt.follow(self.read)
        self.line.say(self.remark())

    def read(self) -> None:
        """Take in a new prompt: follows the box."""
        self.attempt(lambda: (self._read(), self._redraw()))

    def choose(self, change: Any = None) -> None:
        """Colour by what the buttons say: their handler, without a forward pass."""
        self.attempt(lambda: self.change(GRID, z=whole_percents(self.colour.value, self._shares[self.colour.value])))

    def draw(self) -> go.Figure:
        return self._grid([self.colour.value])

    def still(self) -> go.Figure:
        return self._grid(sorted(self._shares, key=lambda name: name != self.colour.value))

    def remark(self) -> str:
        cut = self.prompt.reading.ids.shape[1] - len(self._pieces)
        shown = f"Shown are the last {MOST_ROWS} tokens. " if cut else ""
        return f"{shown}In the last row nothing has come yet: there, it is what the model says in the end."

    def _grid(self, names: list[str]) -> go.Figure:
        return lens_grid(self._said, {name: self._shares[name] for name in names}, self._pieces)

    def _read(self) -> None:
        reading = self.prompt.reading
        layers = [logits[0].softmax(-1) for logits in lens.logit_lens(reading.model, reading.ids, last=MOST_ROWS)]
        layers = torch.stack(layers, 1)  # (T,L+1,V)
        said = layers.max(-1)
        came = torch.cat([reading.ids[0, 1:], said.indices[-1:, -1]])[-MOST_ROWS:]
        came_shares = layers.gather(-1, came[:, None, None].expand(-1, layers.shape[1], 1))[..., 0]
        self._said = [[reading.tok.pieces([id])[0] for id in row] for row in said.indices.tolist()]
        self._shares = {CAME: came_shares, SAID: said.values}
        self._pieces = reading.pieces[-MOST_ROWS:]


def logit_lens(model: GPT, tok: Tokenizer, prompt: str) -> FigureApp:
    """A grid of what each layer would say after each token of the prompt."""
    box = Prompt(model, tok, prompt)
    return Lens(box, box)
