"""Heads held against the world: how much they look at what a word really depends on.

Which position looks? The one that predicts. A story's tokens are end-of-text and then its words, so word i stands at
token i + 1, and the model guesses it at token i, the word before. For a link from word i to its source, word j, a head
must therefore look from token i at token j + 1; whoever takes the row of the word itself measures the prediction of the
word after it.

Beside the links of the world stand two habits that need no world to be seen: looking at the previous token, and at the
first one.
Axes: K kinds, L layers, H heads, T tokens.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.decoding import prompt_ids
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import trace
from gptlab.world import ENGLISH_WORLD, World

PREVIOUS, FIRST = "previous", "first"


@dataclass(frozen=True, eq=False)
class HeadScores:
    """Mean attention to each kind of source; printed, a table with the best head of each kind."""

    kinds: tuple[str, ...]
    scores: Float[Tensor, "K L H"]
    base: Float[Tensor, " K"]  # of a head that looks at all it may see alike
    counts: Int[Tensor, " K"]  # places that the means are over

    def __getitem__(self, kind: str) -> Float[Tensor, "L H"]:
        """The scores of all heads for one kind."""
        return self.scores[self._index(kind)]

    def best(self, kind: str) -> tuple[int, int]:
        """(layer, head) with the highest score for a kind."""
        return divmod(int(self[kind].argmax()), self.scores.shape[2])

    def __repr__(self) -> str:
        lines = [f"{'kind':<15} places   even  best head  score"]
        for kind, base, count in zip(self.kinds, self.base.tolist(), self.counts.tolist(), strict=True):
            layer, head = self.best(kind)
            lines.append(f"{kind:<15} {count:6}  {base:5.2f}  {f'{layer}.{head}':>9}  {self[kind][layer, head]:5.2f}")
        return "\n".join(lines)

    def _index(self, kind: str) -> int:
        if kind not in self.kinds:
            raise refuse("kind", kind, "one of " + ", ".join(self.kinds))
        return self.kinds.index(kind)


def looking_places(text: str, world: World = ENGLISH_WORLD) -> dict[str, list[tuple[int, int]]]:
    """By kind, (query, key) of each look that would serve: positions in end-of-text and the words of the text.

    The kinds are those of `World.links`, "previous" and "first" token. ValueError for a text that the world
    cannot tell.
    """
    places = defaultdict(list)
    readings = world.analyse(text)
    for token in range(1, len(readings) + 1):
        places[PREVIOUS].append((token, token - 1))
        places[FIRST].append((token, 0))
    for word, reading in enumerate(readings):
        for source, kind in reading.links:
            places[kind].append((word, source + 1))
    return dict(places)


def score_heads(model: GPT, tok: Tokenizer, texts: Iterable[str], world: World = ENGLISH_WORLD) -> HeadScores:
    """Score every head by its mean attention, over texts of the world, from where a word is predicted to its source.

    `tok` has one token for each word of the world. The base rate of a place is 1 / (tokens that its query may see).
    ValueError for no text at all, for a text that the world cannot tell, and for a tokenizer that cuts words.
    """
    sums: dict[str, Tensor] = {}
    even, counts = defaultdict(float), defaultdict(int)
    for text in texts:
        places = looking_places(text, world)
        ids = prompt_ids(tok, text)
        if ids.shape[1] != len(world.analyse(text)) + 1:
            raise refuse("tok", tok, "a tokenizer with one token for each word of the world")
        attention = trace(model, ids, keep={"attention"}).attention[:, 0]
        for kind, looks in places.items():
            sums[kind] = sums.get(kind, 0) + mean_attention(attention, looks) * len(looks)
            even[kind] += sum(1 / (query + 1) for query, _ in looks)
            counts[kind] += len(looks)
    if not sums:
        raise refuse("texts", [], "at least one text, of at least one word")
    kinds = (PREVIOUS, FIRST, *sorted(set(sums) - {PREVIOUS, FIRST}))
    n = torch.tensor([counts[kind] for kind in kinds])
    scores = torch.stack([sums[kind] for kind in kinds]) / n[:, None, None]
    return HeadScores(kinds, scores, torch.tensor([even[kind] for kind in kinds]) / n, n)


def mean_attention(attention: Float[Tensor, "L H T T"], places: Sequence[tuple[int, int]]) -> Float[Tensor, "L H"]:
    """Each head's mean weight over (query, key) places."""
    queries, keys = zip(*places, strict=True)
    return attention[:, :, list(queries), list(keys)].mean(-1)
