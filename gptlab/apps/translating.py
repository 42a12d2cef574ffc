"""A sentence, its translation by a model, and where the model looked in the sentence for each word that it told.

Axes: L layers, H heads, T words of the translation, S words of the sentence.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np

from gptlab.apps._frame import FigureApp, control
from gptlab.apps.heads import Heads
from gptlab.figures._canvas import percents
from gptlab.relatives.translator import Translator
from gptlab.tokenizer import Piece
from gptlab.world import SentencePair, translate


class Told(NamedTuple):
    """A translation as `Heads` draws it, and what is known of the right one."""

    attention: np.ndarray  # (L,H,T,S) in whole per cents
    pieces: Sequence[Piece]
    keys: Sequence[Piece]
    marks: Collection[tuple[int, int]]
    remark: str


class Translating(Heads):
    """Cross-attention to the sentence in a box, with a slider for the head and, where there are several, the layer."""

    def __init__(self, translator: Translator, sentence: str, known: Sequence[SentencePair]) -> None:
        self._translator, self._known = translator, {"".join(pair.source): pair for pair in known}
        self._told = self._tell(sentence)
        self.box = control(
            widgets.Text, "sentence", value=sentence, placeholder="type a sentence", layout={"width": "auto"}
        )
        super().__init__(lambda: self._told, self.box)
        self.box.observe(self._read_box, "value")
        self.line.say(self.remark())

    def remark(self) -> str:
        return self._told.remark

    def _read_box(self, change: Any) -> None:
        self.attempt(self._take_in)

    def _take_in(self) -> None:
        self._told = self._tell(self.box.value)
        self._redraw()

    def _tell(self, sentence: str) -> Told:
        look = self._translator.look(sentence)
        told, pair = "".join(piece.text for piece in look.target), self._pair(sentence)
        if pair is None:
            marks, verdict = (), "the world begins no story so: nothing is ringed"
        elif told == "".join(pair.target):
            marks, verdict = pair.alignment, "right"
        else:
            marks, verdict = (), f"right is: {''.join(pair.target)}"
        return Told(percents(look.attention), look.target, look.source, marks, f"{told} ({verdict})")

    def _pair(self, sentence: str) -> SentencePair | None:
        """The sentence with its right translation, if it is known or a story can begin with it."""
        if sentence in self._known:
            return self._known[sentence]
        try:
            (pair,) = translate(sentence).sentences
        except ValueError:
            return None
        return pair


def translation(translator: Translator, sentence: str, *, known: Sequence[SentencePair] = ()) -> FigureApp:
    """A heatmap of the cross-attention by which a sentence is translated, with the words that belong together ringed.

    known: sentences with their right translations, beside those that a story of the world can begin with. ValueError
    for a sentence that is empty or too long.
    """
    return Translating(translator, sentence, known)
