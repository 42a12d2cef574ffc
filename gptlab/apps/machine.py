"""The whole machine: prompt, tokens, attention, next token, text, all of one prompt box."""

from typing import Any

import ipywidgets as widgets

from gptlab.apps._frame import bundle
from gptlab.apps._prompt import Prompt
from gptlab.apps.bars import NextToken
from gptlab.apps.heads import Heads
from gptlab.apps.strip import Strip
from gptlab.apps.writing import Writing
from gptlab.figures._canvas import description
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer


class Machine(widgets.VBox):
    """A prompt box and what follows from it, on one page or a part a cell: each part shows itself and its still copy.

    `tokens` begins with the box, which is `prompt` by itself; `attention`, `next_token` and `text` follow what is typed
    there, wherever they are shown. `truth` is a world such as `gptlab.world`. The tokens are those that the model
    reads, end-of-text before the prompt included.
    """

    def __init__(
        self, model: GPT, tok: Tokenizer, prompt: str, truth: Any = None, *, max_new_tokens: int = 40, seed: int = 0
    ) -> None:
        self.prompt = Prompt(model, tok, prompt, truth)
        self.tokens = Strip(lambda: self.prompt.reading.pieces, self.prompt)
        self.attention = Heads(lambda: self.prompt.reading)
        self.next_token = NextToken(self.prompt)
        self.text = Writing(self.prompt, max_new_tokens=max_new_tokens, seed=seed)
        for part in (self.tokens, self.attention):
            self.prompt.follow(part.refresh)
        super().__init__([self.tokens, self.attention, self.next_token, self.text])

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Of one output's still figures one is shown: the bars, with their temperature."""
        parts = (self.tokens, self.attention, self.next_token, self.text)
        for part in parts[:3]:
            part.figure.bring_up_to_date()
        stills = [part.still() for part in parts]
        words = " ".join(description(still) for still in stills)
        return bundle(super()._repr_mimebundle_(**options), stills[parts.index(self.next_token)], words)
