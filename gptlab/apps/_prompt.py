"""The prompt box, and what a model makes of what is typed there.

Axes: T tokens, V vocabulary, L layers, H heads.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import ipywidgets as widgets
import numpy as np
import torch

from gptlab.apps._frame import Line, control
from gptlab.decoding import prompt_ids
from gptlab.figures._canvas import token_labels
from gptlab.figures.heatmaps import percents
from gptlab.labels import label
from gptlab.model import GPT, evaluation_mode
from gptlab.tokenizer import Piece, Tokenizer
from gptlab.tracing import trace

# Attention over more tokens would take half a gigabyte for GPT-2, and a page shows no more of them.
LONGEST = 512


class Reading:
    """What a model makes of a prompt. Each part is computed when it is first asked for, and kept.

    ids (1,T) begin with end-of-text, as the texts that a model learned from; of a prompt that is too long they are
    the last. `truth` is (V,), or None where there is no world or the world cannot tell the prompt.
    """

    def __init__(self, model: GPT, tok: Tokenizer, prompt: str, world: Any = None) -> None:
        self.model, self.tok, self.prompt, self.world = model, tok, prompt, world
        every = prompt_ids(tok, prompt)
        self.ids = every[:, -min(model.config.context_length, LONGEST) :]
        self.n_tokens = every.shape[1]

    @cached_property
    def pieces(self) -> list[Piece]:
        return self.tok.pieces(self.ids[0].tolist())

    @cached_property
    def logits(self) -> torch.Tensor:
        """(V,), of the token after the prompt; one forward pass."""
        with evaluation_mode(self.model), torch.no_grad():
            return self.model.unembed(self.model.hidden(self.ids)[0, -1])

    @cached_property
    def attention(self) -> np.ndarray:
        """(L,H,T,T) in whole per cents of 8 bits; one forward pass."""
        return percents(trace(self.model, self.ids, keep={"attention"}).attention[:, 0])

    @cached_property
    def _told(self) -> tuple[np.ndarray | None, str]:
        """The world's truth, or None and why."""
        if self.world is None:
            return None, ""
        try:
            return self.world.next_token_distribution(self.prompt, self.tok), ""
        except ValueError as reason:
            unknown = list(dict.fromkeys(word for _, word in self.world.unknown_words(self.prompt)))
            if unknown:
                few = ", ".join(map(_quoted, unknown[:8])) + ", …" * (len(unknown) > 8)
                return None, f"Not of the small world: {few}. The model reads on; the truth is hidden."
            if hasattr(reason, "word"):
                never = f"The small world never says {_quoted(reason.word)} there (word {reason.position + 1})"
                return None, f"{never}; the truth is hidden."
            return None, f"The truth is hidden: {reason}."

    @property
    def truth(self) -> np.ndarray | None:
        return self._told[0]

    @property
    def hidden_because(self) -> str:
        """Why there is no truth though there is a world; else nothing."""
        return self._told[1]

    @property
    def remark(self) -> str:
        """What the reader of a picture should know about this prompt: a sentence or two, or nothing."""
        sentences = []
        if self.n_tokens > self.ids.shape[1]:
            sentences.append(f"The prompt has {self.n_tokens:,} tokens; shown are the last {self.ids.shape[1]}.")
        if not self.prompt:
            sentences.append("Nothing typed: the model begins a text.")
        return " ".join([*sentences, self.hidden_because]).strip()


def _quoted(word: str) -> str:
    return f"‘{token_labels([label(word.encode(errors='replace'))])[0]}’"


class Prompt(widgets.VBox):
    """A text box; whoever follows it is called after each change, when `reading` is new."""

    def __init__(self, model: GPT, tok: Tokenizer, prompt: str, world: Any = None) -> None:
        self._read = lambda text: Reading(model, tok, text, world)
        self.reading = self._read(prompt)
        self.box = control(widgets.Text, "prompt", value=prompt, placeholder="type a text", layout={"width": "auto"})
        self.line = Line()
        self.line.say(self.reading.remark)
        self._followers: list[Callable[[], None]] = []
        super().__init__([self.box, self.line])
        self.add_class("gptlab-app")
        self.box.observe(self.read, "value")

    def follow(self, do: Callable[[], None]) -> None:
        """Call it after each change of the prompt."""
        self._followers.append(do)

    def read(self, change: Any = None) -> None:
        """Take in what the box says; an error is said in the line, and the old reading stays."""
        try:
            reading = self._read(self.box.value)
            remark = reading.remark
        except Exception as reason:
            self.line.say(f"This prompt cannot be read: {reason}")
            return
        self.reading = reading
        self.line.say(remark)
        for do in self._followers:
            do()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        remark = f" {self.reading.remark}" if self.reading.remark else ""
        return super()._repr_mimebundle_(**options) | {"text/plain": f"The prompt: {self.reading.prompt!r}.{remark}"}
