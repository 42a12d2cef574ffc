"""Beam search before one's eyes: how many texts are followed, and how the tree of them grows."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.beam import BeamNode, BeamTree, beam_search
from gptlab.labels import label
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

WIDEST = 4


class Search(FigureApp):
    """The tree of a beam search under a slider for its width and one for the steps that are shown."""

    def __init__(self, prompt: Prompt, *above: widgets.Widget, max_new_tokens: int, width: int) -> None:
        self.prompt, self.max_new_tokens = prompt, max_new_tokens
        self._trees: dict[int, list[BeamNode]] = {}  # of this prompt, by width
        self.width = control(widgets.IntSlider, "width", value=width, min=1, max=WIDEST)
        self.steps = control(widgets.IntSlider, "steps", value=max_new_tokens, min=1, max=max_new_tokens)
        super().__init__(*above, self.width, self.steps)
        for slider in (self.width, self.steps):
            slider.observe(self.refresh, "value")
        prompt.follow(self.forget)

    def forget(self) -> None:
        """Search again, for the prompt is another one now."""
        self._trees.clear()
        self.refresh()

    def draw(self) -> go.Figure:
        nodes = self._nodes(self.width.value)
        return self._drawn_as(nodes, nodes)

    def still(self) -> go.Figure:
        every = {width: self._nodes(width) for width in range(1, WIDEST + 1)}
        return self._drawn_as(every, chain.from_iterable(every.values()), width=self.width.value)

    def _drawn_as(self, trees: Any, nodes: Iterable[BeamNode], **options: Any) -> go.Figure:
        tok = self.prompt.reading.tok
        labels = {id: label(tok.token_bytes(id)) for id in {node.token for node in nodes}}
        return figures.beam_tree(trees, labels, shown=self.steps.value, n_steps=self.max_new_tokens, **options)

    def _nodes(self, width: int) -> list[BeamNode]:
        """One search a width and prompt; the slider of the steps searches nothing."""
        if width not in self._trees:
            tree, reading = BeamTree(), self.prompt.reading
            options = {"stop_token": reading.tok.end_of_text, "on_step": tree.grow, "on_slide": lambda said: None}
            beam_search(reading.model, reading.ids, self.max_new_tokens, width, **options)
            self._trees[width] = tree.nodes
        return self._trees[width]


def beam_tree(model: GPT, tok: Tokenizer, prompt: str, max_new_tokens: int = 6, width: int = 3) -> FigureApp:
    """The tree of a beam search behind the prompt, with sliders for the width (1 to 4) and the steps shown.

    At width 1 it is greedy decoding. ValueError for fewer than 1 or more than 8 new tokens, for which there is no room.
    """
    if not 1 <= max_new_tokens <= 8:
        raise refuse("max_new_tokens", max_new_tokens, "a whole number from 1 to 8, a column of the picture each")
    if not 1 <= width <= WIDEST:
        raise refuse("width", width, f"a whole number from 1 to {WIDEST}")
    box = Prompt(model, tok, prompt)
    return Search(box, box, max_new_tokens=max_new_tokens, width=width)
