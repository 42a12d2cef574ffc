"""The tokens of what is typed."""

from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp, control
from gptlab.tokenizer import Piece, Tokenizer


class Strip(FigureApp):
    """Coloured boxes for the pieces that `pieces` gives."""

    def __init__(self, pieces: Any, *controls: widgets.Widget) -> None:
        self._pieces = pieces
        super().__init__(*controls)

    def draw(self) -> go.Figure:
        return figures.token_strip(self._pieces())


def token_strip(tok: Tokenizer, prompt: str) -> FigureApp:
    """The prompt as a strip of tokens that follows what is typed."""
    box = control(widgets.Text, "text", value=prompt, placeholder="type a text", layout={"width": "auto"})

    def pieces() -> list[Piece]:
        return tok.pieces(box.value)

    strip = Strip(pieces, box)
    box.observe(strip.refresh, "value")
    return strip
