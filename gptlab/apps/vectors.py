"""Words as vectors: the nearest ones of a word, and all of them on a map.

Axes: V vocabulary, N words on the map, d model width.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
import torch

from gptlab import figures
from gptlab.apps._frame import FigureApp, control
from gptlab.embeddings import nearest_rows, principal_components
from gptlab.figures._canvas import token_labels
from gptlab.figures.maps import MOST_NAMED
from gptlab.labels import label
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer

MOST_NEIGHBOURS = 20


class NearestWords(FigureApp):
    """The tokens whose rows are nearest to that of a word, under a box for the word and a slider for how many."""

    def __init__(self, model: GPT, tok: Tokenizer, word: str, others: Sequence[str], n: int) -> None:
        self._table, self._tok = model.token_embedding.weight.detach(), tok
        self._token, self._others = one_token(tok, word), [one_token(tok, other) for other in others]
        most = min(MOST_NEIGHBOURS, len(self._table) - 1)
        self.word = control(widgets.Text, "word", value=word, placeholder="type a word", layout={"width": "auto"})
        self.n = control(widgets.IntSlider, "neighbours", value=n, min=1, max=most)
        super().__init__(self.word, self.n)
        for box in (self.word, self.n):
            box.observe(self.look, "value")

    def look(self, change: Any = None) -> None:
        """Show the neighbours of what the box says: the controls' handler. A word that will not do leaves the last."""
        self.attempt(self._look)

    def _look(self) -> None:
        self._token = one_token(self._tok, self.word.value)
        self._redraw()

    def draw(self) -> go.Figure:
        return self._bars([self._token])

    def still(self) -> go.Figure:
        return self._bars(list(dict.fromkeys([self._token, *self._others])))

    def _bars(self, tokens: Sequence[int]) -> go.Figure:
        found = [nearest_rows(self._table, token, self.n.value) for token in tokens]
        neighbours = [[self._label(place) for place in places.tolist()] for places, _ in found]
        similarities = torch.stack([cosines for _, cosines in found])
        return figures.neighbour_bars([self._label(token) for token in tokens], neighbours, similarities)

    def _label(self, token: int) -> str:
        return label(self._tok.token_bytes(token))


class WordMap(FigureApp):
    """Words along the first three principal components of their rows, under a box to search and a slider to turn."""

    def __init__(self, model: GPT, tok: Tokenizer, groups: Mapping[str, Sequence[str]], search: str) -> None:
        self._words = [word for words in groups.values() for word in words]
        self._groups = [name for name, words in groups.items() for _ in words]
        rows = model.token_embedding.weight.detach()[[one_token(tok, word) for word in self._words]]
        self._points = principal_components(rows, 3).coordinates
        self.search = control(widgets.Text, "search", value=search, placeholder="part of a word")
        self.turn = control(widgets.IntSlider, "turned by", min=0, max=360, step=5)
        super().__init__(self.search, self.turn)
        for box in (self.search, self.turn):
            box.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        return self._map(slides=False)

    def still(self) -> go.Figure:
        return self._map(slides=True)

    def remark(self) -> str:
        searched = self.search.value
        n_found = sum(searched.lower() in word.lower() for word in self._words) if searched else 0
        if searched and not n_found:
            return f"No word on the map contains ‘{searched}’."
        if n_found > MOST_NAMED:
            return f"{n_found} words contain ‘{searched}’, too many to name: type more, or point at them."
        return ""

    def _map(self, *, slides: bool) -> go.Figure:
        return figures.component_map(
            self._points, self._words, self._groups, turn=self.turn.value, search=self.search.value, slides=slides
        )


def nearest_words(model: GPT, tok: Tokenizer, word: str, *, others: Sequence[str] = (), n: int = 8) -> FigureApp:
    """Bars of the n tokens whose embeddings have the largest cosine with that of a word.

    others: words that a page without a kernel can choose as well. A word is taken as it stands inside a text, with a
    blank before it, or else without. ValueError for one that is several tokens: each of these has a row of its own.
    """
    return NearestWords(model, tok, word, others, n)


def word_map(model: GPT, tok: Tokenizer, groups: Mapping[str, Sequence[str]], *, search: str = "") -> FigureApp:
    """The embeddings of words along their first three principal components, in colours by group.

    groups: from the name of a group to its words, each one token, as `nearest_words` takes them. search: part of a word
    to begin with.
    """
    return WordMap(model, tok, groups, search)


def one_token(tok: Tokenizer, word: str) -> int:
    """The id of a word that is one token: with the blank before it that it has inside a text, or else without."""
    if not word.strip():
        raise ValueError("there is no word yet; type one")
    split = [tok.encode(text) for text in (f" {word.strip()}", word)]
    whole = [ids[0] for ids in split if len(ids) == 1]
    if whole:
        return whole[0]
    pieces = " | ".join(token_labels(tok.pieces(split[0][:8]))) + " …" * (len(split[0]) > 8)
    raise ValueError(
        f"‘{token_labels([label(word.encode(errors='replace'))])[0]}’ is {len(split[0])} tokens, {pieces}, "
        "each with a row of its own; choose a word that is one token"
    )
