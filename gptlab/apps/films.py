"""What is kept of a training: each step, and now and then a look at the model.

Axes: T tokens of the prompt, L layers, H heads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import torch

from gptlab._refuse import refuse
from gptlab.decoding import prompt_ids, stream
from gptlab.figures.curves import MOST_POINTS, thinned
from gptlab.figures.films import Curves, Frame, training_film
from gptlab.figures.heatmaps import percents
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import trace
from gptlab.training import Step

MOST_LOOKS = 400  # of a longer film every second look is let go, again and again


class Look(NamedTuple):
    """What the model makes of the prompt after `step` updates."""

    step: int
    text: str
    attention: np.ndarray  # (L,H,T,T) in whole per cents of 8 bits


class Film:
    """The steps of a training of `model`, and a look at it before the first and after each `every` of them.

    A look is how the model goes on behind `prompt` for `n_new` tokens, always with the same draws of chance, and what
    each head looks at in the prompt. Raises ValueError for a prompt that leaves the model no room, and for an `every`
    below 1.
    """

    def __init__(self, model: GPT, tok: Tokenizer, prompt: str, *, every: int = 25, n_new: int = 40) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise refuse("every", every, "a whole number of steps of at least 1")
        self.model, self.tok, self.prompt, self.every, self.n_new = model, tok, prompt, every, n_new
        ids = prompt_ids(tok, prompt)
        if ids.shape[1] > model.config.context_length:
            raise refuse("the number of tokens of prompt", ids.shape[1], f"at most {model.config.context_length}")
        self._ids, self.pieces = ids, tok.pieces(ids[0].tolist())
        self.steps: list[Step] = []
        self.looks = [self._look(0)]

    def take(self, step: Step) -> None:
        """Keep a step of the training, and look at the model if it is time to."""
        self.steps.append(step)
        if step.number % self.every == 0:
            self.look()

    def look(self) -> None:
        """Look at the model as it is now, if the last look is older."""
        number = self.steps[-1].number if self.steps else 0
        if number > self.looks[-1].step:
            self.looks.append(self._look(number))
        if len(self.looks) > MOST_LOOKS:
            self.looks = [*self.looks[:-1:2], self.looks[-1]]

    def _look(self, number: int) -> Look:
        text = "".join(
            stream(self.model, self.tok, self.prompt, self.n_new, generator=0, on_slide=lambda sentence: None)
        )
        with torch.no_grad():
            attention = trace(self.model, self._ids, keep={"attention"}).attention[:, 0]
        return Look(number, text, percents(attention))

    def picture(self, layer: int, head: int, looks: Sequence[Look] | None = None) -> go.Figure:
        """The film as a figure: the given looks (all, if None) at one head; the last is shown first."""
        frames = [Frame(look.step, look.text, look.attention[layer, head]) for look in looks or self.looks]
        return training_film(self._curves(), frames, self.prompt, self.pieces)

    def _curves(self) -> Curves:
        """The curves with all validations and, of many steps, those that a picture needs."""
        steps = self.steps[:]  # a training in the background goes on meanwhile
        loss = np.array([step.loss for step in steps])
        validated = np.array([n for n, step in enumerate(steps) if step.val_loss is not None], dtype=int)
        kept = np.union1d(thinned(loss, MOST_POINTS), validated[thinned(validated, MOST_POINTS)]).astype(int)
        shown = [steps[n] for n in kept]

        def column(name: str) -> np.ndarray:
            return np.array([getattr(step, name) for step in shown], dtype=float)

        return Curves(*(column(name) for name in ("number", "loss", "val_loss", "floor", "learning_rate")))
