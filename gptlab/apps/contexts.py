"""A model that reads only the last k words: what it foretells as k grows, beside the truth, which knows them all."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import torch

from gptlab import figures
from gptlab.apps._frame import control
from gptlab.apps._text import Typed
from gptlab.decoding import prompt_ids
from gptlab.figures._rows import bar_lengths
from gptlab.figures.probabilities import N_TOKENS, likeliest
from gptlab.tokenizer import Tokenizer

Predict = Callable[[torch.Tensor, int], torch.Tensor]


class LastWords(Typed):
    """Bars of the next word under a slider for k. Each k takes one call of the model for a text, and is kept."""

    def __init__(self, predict: Predict, tok: Tokenizer, text: str, ks: Sequence[int], truth: Any) -> None:
        self._predict, self._tok, self._world, self._ks = predict, tok, truth, tuple(ks)
        self._read = (None, {}, None, "")
        self.k = control(widgets.SelectionSlider, "words that are read (k)", options=self._ks, value=self._ks[0])
        super().__init__(text, self.k)
        self.k.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        return self._bars()

    def still(self) -> go.Figure:
        return self._bars(still=True)

    def remark(self) -> str:
        return super().remark() or self._reading()[2]

    def _bars(self, **options: Any) -> go.Figure:
        models, truth, _ = self._reading()
        ids = likeliest(np.max(list(models.values()), axis=0), truth, N_TOKENS)  # of every k: the rows stay
        return figures.context_bars(
            self._tok.pieces(ids.tolist()),
            {k: bar_lengths(model, ids) for k, model in models.items()},
            words=self._tok.pieces(prompt_ids(self._tok, self.box.value)[0].tolist()),
            truth=None if truth is None else bar_lengths(truth, ids),
            n_others=self._tok.vocab_size - len(ids),
            k=self.k.value,
            **options,
        )

    def _reading(self) -> tuple[dict[int, np.ndarray], np.ndarray | None, str]:
        """What the model foretells for each k, the truth or None, and why there is none."""
        if self._read[0] != self.box.value:
            ids = prompt_ids(self._tok, self.box.value)
            with torch.no_grad():
                models = {k: self._predict(ids, k).softmax(-1).numpy() for k in self._ks}
            self._read = (self.box.value, models, *self._truth())
        return self._read[1:]

    def _truth(self) -> tuple[np.ndarray | None, str]:
        if self._world is None:
            return None, ""
        try:
            return self._world.next_token_distribution(self.box.value, self._tok), ""
        except ValueError as reason:
            return None, f"The truth is hidden: {reason}."


def last_words(
    predict: Predict, tok: Tokenizer, text: str, *, ks: Sequence[int] = (1, 2, 4, 8, 16), truth: Any = None
) -> LastWords:
    """Bars of the next word that follow a slider for k, the number of words that are read.

    predict: from ids (1,T), which begin with end-of-text, and k to logits (V,). truth: a world such as `gptlab.world`,
    whose diamonds stand beside the bars.
    """
    return LastWords(predict, tok, text, ks, truth)
