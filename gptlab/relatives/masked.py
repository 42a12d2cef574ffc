"""Words hidden in a text, for an encoder to find from both sides (BERT: Devlin et al. 2018, section 3.1).

A GPT learns from each of its tokens, with the past as context. An encoder sees its whole input, so some tokens are
taken out of it, and these alone are learned: −Σ log P(x_i | the text without them) over the hidden i.

Axes: B texts of a batch, T tokens.
"""

import math
import random
import zlib
from collections.abc import Sequence
from functools import cached_property

import torch
from jaxtyping import Int, Int64
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.corpus import IGNORE, Batch, HeldOut
from gptlab.tokenizer import Tokenizer
from gptlab.world import ImpossiblePrefix, World, split_words

GAP = "_"  # how a hidden word is written; the small world has no such word, and its tokenizer a token for it
SHARE = 0.15


def gap_token(tok: Tokenizer) -> int:
    """The id that stands in the place of a hidden token: "named_ Hall" has one between its words."""
    return tok.encode(GAP)[0]


def mask_tokens(
    ids: Int64[Tensor, "B T"], mask: int, vocab_size: int, *, share: float | int = SHARE, generator: torch.Generator
) -> Batch:
    """Hide a share of the tokens: the inputs without them, and as targets these alone, IGNORE elsewhere.

    Of the chosen tokens 8 in 10 become `mask`, 1 in 10 any token at all, 1 in 10 stays, so that the encoder cannot know
    which of the words it sees are to be trusted (Devlin et al. 2018, section 3.1). The share is above 0 and at most 1;
    ValueError else.
    """
    if not 0 < share <= 1:
        raise refuse("share", share, "above 0 and at most 1")
    chosen = torch.rand(ids.shape, generator=generator) < share
    fate = torch.rand(ids.shape, generator=generator)
    inputs = ids.masked_fill(chosen & (fate < 0.8), mask)
    anything = torch.randint(vocab_size, ids.shape, generator=generator)
    inputs = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), anything, inputs)
    return Batch(inputs, ids.masked_fill(~chosen, IGNORE))


class MaskedTexts:
    """Beginnings of texts with hidden words, for `gptlab.train`. Each batch is a function of (seed, step).

    All rows of a batch are cut to one length, drawn anew for each, from `shortest` to `longest` tokens: no row needs
    padding, which an encoder would look at. The last `held_out_texts` are never trained on. Raises ValueError for too
    few texts that are `longest` tokens long.
    """

    def __init__(
        self,
        texts: Sequence[Sequence[int]],
        *,
        mask: int,
        vocab_size: int,
        share: float | int = SHARE,
        shortest: int = 8,
        longest: int = 48,
        tokens_per_batch: int = 1_024,
        held_out_texts: int = 200,
        seed: int = 0,
    ):
        if not 1 <= shortest <= longest:
            raise refuse("shortest", shortest, f"from 1 to longest, {longest}")
        rows = [text[:longest] for text in texts if len(text) >= longest]
        if len(rows) <= held_out_texts:
            what = f"more than the {held_out_texts} that are held out"
            raise refuse(f"the number of texts of {longest} tokens and more", len(rows), what)
        ids, n_training = torch.tensor(rows), len(rows) - held_out_texts
        self._training, self._validation = ids[:n_training], ids[n_training:]
        self.mask, self.vocab_size, self.share = mask, vocab_size, share
        self.shortest, self.longest = shortest, longest
        self.tokens_per_batch, self.seed = tokens_per_batch, seed

    @property
    def settings(self) -> dict:
        return {
            "kind": "masked texts",
            "checksum": zlib.crc32(self._training.numpy().tobytes()),
            "share": self.share,
            "lengths": [self.shortest, self.longest],
            "tokens_per_batch": self.tokens_per_batch,
            "seed": self.seed,
        }

    def batch(self, step: int) -> Batch:
        """The batch of step 0, 1, 2, …"""
        rng = random.Random(f"{self.seed} {step}")
        length = rng.randint(self.shortest, self.longest)
        rows = rng.choices(range(len(self._training)), k=max(1, self.tokens_per_batch // length))
        return self._hidden(self._training[rows, :length], rng.getrandbits(62))

    @cached_property
    def held_out(self) -> HeldOut | None:
        if not len(self._validation):
            return None
        parts = self._validation.split(max(1, self.tokens_per_batch // self.longest))
        return HeldOut([self._hidden(part, number) for number, part in enumerate(parts)], floor=None)

    def _hidden(self, ids: Int[Tensor, "B T"], seed: int) -> Batch:
        generator = torch.Generator().manual_seed(seed)
        return mask_tokens(ids, self.mask, self.vocab_size, share=self.share, generator=generator)


def gap_distribution(world: World, before: str, after: str) -> dict[str, float]:
    """What a hidden word of a story was, by the truth that knows both sides: word → probability, by Bayes' rule.

    P(w | before, after) ∝ P(w | before) · P(after | before, w). Words are as they are written, " Hall".
    Raises ImpossiblePrefix where the world cannot tell `before`, ValueError where no word fits between the two.
    """
    weights = {}
    for word, probability in world.next_word_distribution(before).items():
        start = before + word
        try:
            readings = world.analyse(start + after)
        except ImpossiblePrefix:
            continue
        after_it = readings[len(split_words(start)) :]
        weights[word] = probability * math.prod(reading.probability for reading in after_it)
    total = sum(weights.values())
    if not total:
        raise refuse("after", after, f"what can follow {before!r} and one more word")
    return {word: weight / total for word, weight in weights.items()}
