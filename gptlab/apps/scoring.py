"""The score of what is typed, word by word: by a model, and in truth; the same words scrambled beside it."""

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import torch

from gptlab import figures
from gptlab.apps._frame import control
from gptlab.apps._text import Typed
from gptlab.bpe import split
from gptlab.figures.surprises import Scored
from gptlab.model import GPT, evaluation_mode
from gptlab.tokenizer import Tokenizer
from gptlab.world import ImpossiblePrefix

MOST_WORDS = 24
ORDERS = 6


class Scores(Typed):
    """Surprises of the words that are typed, and of an order of them that a slider chooses."""

    def __init__(self, model: GPT, tok: Tokenizer, text: str, truth: Any) -> None:
        self._model, self._tok, self._world = model, tok, truth
        self.order = control(widgets.IntSlider, "order", value=1, min=1, max=ORDERS)
        super().__init__(text, self.order)
        self.order.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        words = self._words()
        return figures.surprise_bars(self._scored(words), [self._scored(scrambled(words, self.order.value))])

    def still(self) -> go.Figure:
        words = self._words()
        others = [self._scored(scrambled(words, seed)) for seed in range(1, ORDERS + 1)]
        return figures.surprise_bars(self._scored(words), others, other=self.order.value - 1)

    def remark(self) -> str:
        n_words = len(split(self.box.value))
        return super().remark() or (
            f"The text has {n_words:,} words; shown are the first {len(self._words())}."
            if n_words > len(self._words())
            else "Nothing typed: there is nothing to score."
            if n_words == 0
            else ""
        )

    def _words(self) -> list[str]:
        """The first words of the text, as many as the picture and the model hold."""
        words = split(self.box.value)[:MOST_WORDS]
        n_tokens = accumulate(len(self._tok.encode(word)) for word in words)
        return [word for word, n in zip(words, n_tokens, strict=True) if n <= self._model.config.context_length]

    def _scored(self, words: Sequence[str]) -> Scored:
        truth = None if self._world is None else true_surprises(self._world, words)
        return Scored([word.replace("\n", "⏎") for word in words], surprises(self._model, self._tok, words), truth)


def surprises(model: GPT, tok: Tokenizer, words: Sequence[str]) -> np.ndarray:
    """−ln P of each word after those before it, (N,): a word of several tokens has the sum of theirs."""
    pieces = [tok.encode(word) for word in words]
    ids = torch.tensor([tok.end_of_text, *(id for piece in pieces for id in piece)])
    owner = np.repeat(np.arange(len(words)), [len(piece) for piece in pieces])
    result = np.zeros(len(words))
    if len(ids) > 1:
        with evaluation_mode(model), torch.no_grad():
            log_p = model(ids[None, :-1])[0].log_softmax(-1)
        np.add.at(result, owner, -log_p.gather(1, ids[1:, None])[:, 0].double().numpy())
    return result


def true_surprises(world: Any, words: Sequence[str]) -> np.ndarray:
    """−ln P of each word in truth, (N,): infinite at the first that can never come, NaN after it."""
    result = np.full(len(words), np.nan)
    try:
        readings = world.analyse("".join(words))
    except ImpossiblePrefix as reason:
        readings = world.analyse("".join(words[: reason.position]))
        result[len(readings)] = np.inf
    result[: len(readings)] = [-np.log(reading.probability) for reading in readings]
    return result


def scrambled(words: Sequence[str], seed: int) -> list[str]:
    """The words in another order; the first stays, and a mark at the end, so that each is spelled as before."""
    first, middle, last = list(words[:1]), list(words[1:]), []
    if middle and not middle[-1].strip().isalnum():
        last = [middle.pop()]
    random.Random(seed).shuffle(middle)
    return [*first, *middle, *last]


def score_words(model: GPT, tok: Tokenizer, text: str, truth: Any = None) -> Scores:
    """Each word's −ln P for what is typed and for its words scrambled; `truth` is a world such as `gptlab.world`."""
    return Scores(model, tok, text, truth)
