"""A word hidden in a text, and what an encoder makes of it that may read more and more of what stands behind it.

Axes: K numbers of words read behind the gap, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import torch

from gptlab import figures
from gptlab._refuse import refuse
from gptlab.apps._frame import control
from gptlab.apps._text import Typed
from gptlab.figures._rows import bar_lengths
from gptlab.figures.probabilities import N_TOKENS
from gptlab.model import GPT, evaluation_mode
from gptlab.relatives.masked import GAP, gap_distribution, gap_token
from gptlab.tokenizer import Piece, Tokenizer

MOST = 20  # words behind the gap


class Found(NamedTuple):
    """What the encoder and the truth, if it can be told, make of a gap with 0, 1, 2, … words behind it."""

    before: Sequence[Piece]
    after: Sequence[Piece]
    model: np.ndarray  # (K,V)
    truth: np.ndarray | None  # (K,V)
    hidden_because: str  # why there is no truth though there is a world


class HiddenWord(Typed):
    """Bars of the hidden word under a slider for the words behind it; each text is read once, at all its lengths."""

    def __init__(self, encoder: GPT, tok: Tokenizer, text: str, truth: Any) -> None:
        self._encoder, self._tok, self._world = encoder, tok, truth
        self._found = self._look(text)
        most = len(self._found.model) - 1
        self.k = control(widgets.IntSlider, "words that are read behind the gap", max=most, value=most)
        super().__init__(text, self.k)
        self.k.observe(self._slide, "value")

    def refresh(self, change: Any = None) -> None:
        """Read what is typed; what cannot be read is said in the line, and the old picture stays."""
        self.attempt(self._read)

    def _read(self) -> None:
        self._found = self._look(self.box.value)
        most = len(self._found.model) - 1
        with self.hold_trait_notifications():
            self.k.max = most
        if self.k.value == most:
            self._redraw()
        else:
            self.k.value = most

    def _slide(self, change: Any) -> None:
        self.attempt(self._redraw)

    def draw(self) -> go.Figure:
        return self._bars()

    def still(self) -> go.Figure:
        return self._bars(still=True)

    def remark(self) -> str:
        return super().remark() or self._found.hidden_because

    def _bars(self, **options: Any) -> go.Figure:
        found = self._found
        highest = found.model.max(0) if found.truth is None else np.maximum(found.model.max(0), found.truth.max(0))
        ids = np.argsort(-highest, kind="stable")[:N_TOKENS]  # of every k: the rows stay
        return figures.gap_bars(
            self._tok.pieces(ids.tolist()),
            {k: bar_lengths(one, ids) for k, one in enumerate(found.model)},
            before=found.before,
            after=found.after,
            truth=None if found.truth is None else {k: bar_lengths(one, ids) for k, one in enumerate(found.truth)},
            n_others=self._tok.vocab_size - len(ids),
            k=min(self.k.value, len(found.model) - 1),
            **options,
        )

    def _look(self, text: str) -> Found:
        before, gap, after = text.partition(GAP)
        if not gap or GAP in after:
            raise refuse("text", text, f"one with a single {GAP} in it, in the place of a word")
        before, mask = before.removesuffix(" "), gap_token(self._tok)
        start, rest = self._tok.encode(before), self._tok.encode(after)
        longest = self._encoder.config.context_length - len(start) - 2
        if longest < 0:
            raise refuse("text", text, f"shorter: the encoder reads {self._encoder.config.context_length} tokens")
        rest = rest[: min(MOST, longest)]
        row = [self._tok.end_of_text, *start, mask]
        with torch.no_grad(), evaluation_mode(self._encoder):
            texts = [torch.tensor([row + rest[:k]]) for k in range(len(rest) + 1)]
            model = torch.stack([self._encoder(ids)[0, len(row) - 1].softmax(-1) for ids in texts]).numpy()
        truth, because = self._truth(before, [self._tok.decode(rest[:k]) for k in range(len(rest) + 1)])
        return Found(self._tok.pieces(start), self._tok.pieces(rest), model, truth, because)

    def _truth(self, before: str, after: Sequence[str]) -> tuple[np.ndarray | None, str]:
        if self._world is None:
            return None, ""
        truth = np.zeros((len(after), self._tok.vocab_size))
        try:
            for row, read in zip(truth, after, strict=True):
                for word, probability in gap_distribution(self._world, before, read).items():
                    (id,) = self._tok.encode(word, special=True)
                    row[id] = probability
        except ValueError as reason:
            return None, f"The truth is hidden: {reason}."
        return truth, ""


def hidden_word(encoder: GPT, tok: Tokenizer, text: str, *, truth: Any = None) -> HiddenWord:
    """Bars of what an encoder finds for the word that `_` stands for, with a slider for how far it may read behind it.

    encoder: trained on hidden words (`gptlab.relatives.masked`). truth: a `World`, whose diamonds stand beside the bars
    where it can tell the text. ValueError for a text without a gap, with two, or too long.
    """
    return HiddenWord(encoder, tok, text, truth)
