"""The tokens of what is typed, from one tokenizer or from several."""

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp
from gptlab.apps._text import Typed
from gptlab.tokenizer import Tokenizer


class Strip(FigureApp):
    """Coloured boxes for the pieces that `pieces` gives."""

    def __init__(self, pieces: Any, *controls: widgets.Widget) -> None:
        self._pieces = pieces
        super().__init__(*controls)

    def draw(self) -> go.Figure:
        return figures.token_strip(self._pieces())


class TypedStrips(Typed):
    """What each tokenizer makes of the text in the box."""

    def __init__(self, toks: Mapping[str, Tokenizer], text: str) -> None:
        self._toks = dict(toks)
        super().__init__(text)

    def draw(self) -> go.Figure:
        return figures.token_strips({name: tok.pieces(self.box.value) for name, tok in self._toks.items()})


class TypedStrip(Typed):
    """What one tokenizer makes of the text in the box."""

    def __init__(self, tok: Tokenizer, text: str) -> None:
        self._tok = tok
        super().__init__(text)

    def draw(self) -> go.Figure:
        return figures.token_strip(self._tok.pieces(self.box.value))


def token_strip(tok: Tokenizer, prompt: str) -> FigureApp:
    """The prompt as a strip of tokens that follows what is typed."""
    return TypedStrip(tok, prompt)


def token_strips(toks: Mapping[str, Tokenizer], prompt: str) -> FigureApp:
    """The prompt as cut by several tokenizers, a strip below the other, which follow what is typed."""
    return TypedStrips(toks, prompt)
