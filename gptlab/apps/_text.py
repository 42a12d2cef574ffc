"""A box for any text, for apps that show what becomes of it before a model reads it."""

import ipywidgets as widgets

from gptlab.apps._frame import FigureApp, control
from gptlab.bpe import well_formed


class Typed(FigureApp):
    """A picture of what is typed into `box`, drawn anew after each change."""

    def __init__(self, text: str, *controls: widgets.Widget) -> None:
        self.box = control(widgets.Text, "text", value=text, placeholder="type a text", layout={"width": "auto"})
        super().__init__(self.box, *controls)
        self.box.observe(self.refresh, "value")
        self.line.say(self.remark())

    def remark(self) -> str:
        if well_formed(self.box.value) == self.box.value:
            return ""
        return "Halves of characters (surrogates) stand in this text: two are joined, one alone is read as \ufffd."
