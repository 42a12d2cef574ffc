"""Heads fall silent with a tick: what becomes of the next token, and of the loss.

Axes: L layers, H heads, V vocabulary.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import torch

from gptlab.apps._frame import FigureApp
from gptlab.apps._prompt import Prompt, Reading
from gptlab.corpus import HeldOut
from gptlab.figures._rows import bar_lengths
from gptlab.figures.ablations import ablation_bars
from gptlab.figures.probabilities import N_TOKENS, likeliest
from gptlab.labels import label
from gptlab.loss import mean_loss
from gptlab.model import GPT, evaluation_mode
from gptlab.probabilities import next_token_probabilities
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import intervene

HeadSet = frozenset[tuple[int, int]]

# Of more heads the still copy shows what is ticked alone: each of them costs a pass over the texts.
MOST_HEADS = 36
NONE = "none"


class Silencing(FigureApp):
    """A box a head, next-token bars and a loss. Whatever has been computed once is kept."""

    def __init__(self, prompt: Prompt, held_out: HeldOut) -> None:
        self.prompt, self._held_out = prompt, held_out
        config = prompt.reading.model.config
        self.boxes = {
            (layer, head): widgets.Checkbox(description=f"{layer}.{head}", indent=False, layout={"width": "auto"})
            for layer in range(config.n_layers)
            for head in range(config.n_heads)
        }
        self._losses: dict[HeadSet, float] = {}
        self._after: dict[HeadSet, np.ndarray] = {}
        self._reading = prompt.reading
        grid = widgets.GridBox(
            list(self.boxes.values()),
            layout={"grid_template_columns": f"repeat({config.n_heads}, minmax(72px, 120px))"},
        )
        super().__init__(prompt, widgets.Label("silence layer.head:"), grid)
        for box in self.boxes.values():
            box.observe(self.refresh, "value")
        prompt.follow(self.refresh)

    @property
    def ticked(self) -> HeadSet:
        """The heads that are silent now."""
        return frozenset(pair for pair, box in self.boxes.items() if box.value)

    def draw(self) -> go.Figure:
        return self._bars([self.ticked])

    def still(self) -> go.Figure:
        if len(self.boxes) > MOST_HEADS:
            return self.draw()
        each = [frozenset([pair]) for pair in self.boxes]
        return self._bars(dict.fromkeys([frozenset(), *each, self.ticked]))

    def _bars(self, settings: Iterable[HeadSet]) -> go.Figure:
        settings = list(settings)
        whole = self._probabilities(frozenset())
        # Words that come to the fore when heads are silent have rows too.
        ids = likeliest(whole, np.mean([self._probabilities(heads) for heads in settings], axis=0), N_TOKENS)
        tok = self.prompt.reading.tok
        labels = [label(tok.token_bytes(int(id))) for id in ids]
        return ablation_bars(
            labels,
            bar_lengths(whole, ids),
            {_name(heads): bar_lengths(self._probabilities(heads), ids) for heads in settings},
            whole_loss=self._loss(frozenset()),
            silent_losses={_name(heads): self._loss(heads) for heads in settings},
            n_others=len(whole) - len(ids),
            floor=self._held_out.floor,
            shown=_name(self.ticked),
        )

    def _probabilities(self, heads: HeadSet) -> np.ndarray:
        """(V,), of the token after the prompt."""
        reading: Reading = self.prompt.reading
        if reading is not self._reading:
            self._reading, self._after = reading, {}
        if heads not in self._after:
            with self._silent(heads):
                logits = reading.model(reading.ids)[0, -1]
            self._after[heads] = next_token_probabilities(logits).numpy()
        return self._after[heads]

    def _loss(self, heads: HeadSet) -> float:
        if heads not in self._losses:
            with self._silent(heads):
                self._losses[heads] = mean_loss(self.prompt.reading.model, self._held_out.batches)
        return self._losses[heads]

    @contextmanager
    def _silent(self, heads: HeadSet) -> Iterator[None]:
        model = self.prompt.reading.model
        with evaluation_mode(model), torch.no_grad(), intervene(model, heads=heads):
            yield


def _name(heads: HeadSet) -> str:
    return ", ".join(f"{layer}.{head}" for layer, head in sorted(heads)) or NONE


def ablate_heads(model: GPT, tok: Tokenizer, prompt: str, held_out: HeldOut) -> FigureApp:
    """A box for each head, which silences it: the next token's bars and the loss on held-out texts, before and after.

    held_out: batches and their floor, of a corpus such as `gptlab.corpus.StoryCorpus`. A tick takes one pass over them.
    """
    return Silencing(Prompt(model, tok, prompt), held_out)
