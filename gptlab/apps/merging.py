"""Byte-pair encoding of a short text, one merge after the other."""

from collections import Counter
from itertools import islice, pairwise
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._text import Typed
from gptlab.bpe import BYTES, merges, split, well_formed
from gptlab.figures.merging import traces_at

# What a picture holds whose tokens are to be read, and whose still copy is to stay small.
MOST_BYTES = 240
MOST_MERGES = 40

Word = list[bytes]


class Training:
    """What `gptlab.bpe` learns from a text, and how the text stands after each merge.

    words: for each state, the words as tokens. pairs: for each state, neighbours and their count, the winner first.
    """

    def __init__(self, text: str) -> None:
        encoded = well_formed(text).encode()
        read = encoded[:MOST_BYTES].decode(errors="ignore")
        self.cut = len(encoded) > MOST_BYTES
        self.words = [[[bytes([byte]) for byte in word.encode()] for word in split(read)]]
        tokens = [bytes([byte]) for byte in range(BYTES)]
        for merge in islice(merges(read), MOST_MERGES):
            left, right = (tokens[id] for id in merge.pair)
            tokens.append(merge.token)
            self.words.append([_joined(word, left, right) for word in self.words[-1]])
        self.pairs = [_counted(words) for words in self.words]


def _joined(word: Word, left: bytes, right: bytes) -> Word:
    """The word with the pair made one token wherever it stands; what was just joined is not joined again."""
    joined: Word = []
    for token in word:
        if joined and (joined[-1], token) == (left, right):
            joined[-1] = left + right
        else:
            joined.append(token)
    return joined


def _counted(words: list[Word]) -> list[tuple[bytes, bytes, int]]:
    """Pairs of neighbours with their count, the most frequent first; of equals the one that is met first."""
    counts = Counter(pair for word in words for pair in pairwise(word))
    return [(*pair, count) for pair, count in counts.most_common()]


class Merging(Typed):
    """The text after as many merges as the slider says."""

    def __init__(self, text: str, n_merges: int) -> None:
        self.training = Training(text)
        last = len(self.training.words) - 1
        self.merges = control(widgets.IntSlider, "merges", value=min(n_merges, last), min=0, max=last)
        super().__init__(text, self.merges)
        self.merges.observe(self.move, "value")

    def refresh(self, change: Any = None) -> None:
        """Learn from what is typed now: the box's handler."""
        self.attempt(self._learn)

    def _learn(self) -> None:
        self.training = Training(self.box.value)
        self.merges.max = len(self.training.words) - 1
        self._redraw()

    def move(self, change: Any = None) -> None:
        """Show the state that the slider says: its handler."""
        self.attempt(self._move)

    def _move(self) -> None:
        with self.figure.batch_update():
            for trace, now in enumerate(traces_at(self.training.words, self.training.pairs, self.merges.value)):
                self.change(trace, **now)

    def draw(self) -> go.Figure:
        return self._steps(own_slider=False)

    def still(self) -> go.Figure:
        return self._steps(own_slider=True)

    def _steps(self, *, own_slider: bool) -> go.Figure:
        words, pairs = self.training.words, self.training.pairs
        return figures.merge_steps(words, pairs, merges=self.merges.value, own_slider=own_slider)

    def remark(self) -> str:
        sentences = [super().remark()]
        if self.training.cut:
            sentences.append(f"Only the first {MOST_BYTES} bytes are read.")
        if self.training.pairs[-1]:
            sentences.append(f"Only the first {MOST_MERGES} merges are shown.")
        return " ".join(sentences).strip()


def merge_steps(text: str, merges: int = 0) -> FigureApp:
    """Learn byte-pair encoding from a text: a slider over the merges, the text as its tokens, and the next pairs."""
    return Merging(text, merges)
