"""Who looks at whom: the attention of every layer and head, to a prompt that a model reads or as it is given."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._prompt import Prompt
from gptlab.figures._attentions import attention_of
from gptlab.figures.heatmaps import HEATMAP, attention_heatmap, percents

# Of more the still copy shows the chosen head alone: a page is to stay small.
MOST_BYTES = 300_000


@dataclass(frozen=True, eq=False)
class Given:
    """Attention that nobody has to compute: (L,H,T,S), and the tokens on its axes."""

    attention: np.ndarray
    pieces: Sequence[Any]
    keys: Sequence[Any] | None
    marks: Collection[tuple[int, int]] | None


class Heads(FigureApp):
    """The attention of the head that two sliders choose.

    read: gives what there is to see now: `attention` (L,H,T,S), `pieces`, and `keys` where those are others, and
    `marks` where cells are to be ringed.
    """

    def __init__(self, read: Callable[[], Any], *above: widgets.Widget) -> None:
        self._read = read
        n_layers, n_heads = read().attention.shape[:2]
        self.layer = control(widgets.IntSlider, "layer", min=0, max=n_layers - 1)
        self.head = control(widgets.IntSlider, "head", min=0, max=n_heads - 1)
        # With one layer or one head there is nothing to choose.
        super().__init__(*above, *(slider for slider in (self.layer, self.head) if slider.max))
        for slider in (self.layer, self.head):
            slider.observe(self.choose, "value")

    def choose(self, change: Any = None) -> None:
        """Show the head that the sliders say: their handler."""
        weights = self._read().attention[self.layer.value, self.head.value]
        if weights.dtype == np.uint8:
            self.attempt(lambda: self.change(HEATMAP, z=weights))
        else:  # some cells are masked, and are drawn so
            self.refresh()

    def draw(self) -> go.Figure:
        return self._map(self._read().attention[self.layer.value, self.head.value])

    def still(self) -> go.Figure:
        weights = self._read().attention
        if percents(weights).nbytes > MOST_BYTES:
            return self.draw()
        return self._map(weights, layer=self.layer.value, head=self.head.value)

    def _map(self, weights: np.ndarray, **chosen: int) -> go.Figure:
        seen = self._read()
        told = {name: getattr(seen, name, None) for name in ("keys", "marks")}
        return attention_heatmap(weights, seen.pieces, **told, **chosen)


def attention(
    model: Any,
    tok: Any,
    prompt: str | None = None,
    *,
    keys: Sequence[Any] | None = None,
    part: str | None = None,
    marks: Collection[tuple[int, int]] | None = None,
) -> FigureApp:
    """A heatmap of what each token looks at, with a slider for the layer and one for the head.

    Either `attention(model, tok, prompt)`, with a box for the prompt; or `attention(weights, tokens)` for attention
    that is there already, in any of the forms that `figures.attention_heatmap` takes, and with its `keys`, `part` and
    `marks`. ValueError, naming it, for what does not fit.
    """
    if prompt is not None:
        if keys is not None or part is not None:
            raise refuse("keys and part", (keys, part), "None where a prompt is given: a GPT has one kind of attention")
        if marks is not None:
            raise refuse("marks", marks, "None where a prompt is given, whose tokens may change")
        box = Prompt(model, tok, prompt)
        app = Heads(lambda: box.reading, box)
        box.follow(app.refresh)
        return app
    if hasattr(tok, "encode"):
        raise refuse("prompt", prompt, "a text for the model to read")
    given = _given(model, tok, keys, part, marks)
    return Heads(lambda: given)


def _given(
    weights: Any,
    tokens: Sequence[Any],
    keys: Sequence[Any] | None,
    part: str | None,
    marks: Collection[tuple[int, int]] | None,
) -> Given:
    """The attention with all its axes, in whole per cents if no cell is masked; what does not fit is refused."""
    weights = attention_of(weights, part)
    attention_heatmap(weights, tokens, keys=keys, marks=marks)
    weights = weights if weights.ndim == 4 else weights[None, None]
    return Given(percents(weights) if np.isfinite(weights).all() else weights, list(tokens), keys, marks)
