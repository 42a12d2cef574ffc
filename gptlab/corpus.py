"""Corpus: a world or a text, cut into batches of ids to learn from.

A batch is a pure function of (seed, step): nothing has to be remembered to go on where a training run stopped.
Each row of a story corpus is one whole story, `<|endoftext|>` + words + `<|endoftext|>`: the first word and the end are
learned as well, and no row begins in mid-story, where even a perfect model could not know what has been said before.

Axes: B batch, T tokens.
"""

import math
import random
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Int
from torch import Tensor

from gptlab._refuse import refuse

IGNORE = -100  # a target with this value is not counted in any loss
_STEPS_PER_POOL = 32  # stories for so many steps are drawn and sorted together, so that the rows of a batch match
_WIDTHS = 4  # rows of stories are padded to a multiple of this


class Batch(NamedTuple):
    """What the model reads and what it should say after each token of it; targets that do not count are IGNORE."""

    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]

    @property
    def n_targets(self) -> int:
        return int((self.targets != IGNORE).sum())

    def to(self, device: torch.device) -> "Batch":
        """The same on another device; itself where it is there already."""
        return Batch(*(part.to(device) for part in self))


class HeldOut(NamedTuple):
    """Batches that training never sees, and the floor: the mean loss of the truth over the same targets, if known."""

    batches: list[Batch]
    floor: float | None


@runtime_checkable
class Corpus(Protocol):
    """What `gptlab.train` learns from."""

    held_out: HeldOut | None
    settings: dict  # plain values that tell this corpus from another; stored with a checkpoint

    def batch(self, step: int) -> Batch: ...


class StoryCorpus:
    """Fresh stories of a world without end: no story is seen twice but by chance.

    `world` has `sample_words(rng)` and `log_probs(text)`; `tok` has one token for each of its words. A batch holds
    about `tokens_per_batch` tokens in rows of nearly equal length, so that little of it is padding. The held-out
    stories are drawn from seeds that training does not use. Raises ValueError for a story longer than
    `context_length` tokens of input, where that is given.
    """

    def __init__(
        self,
        world,
        tok,
        *,
        context_length: int | None = None,
        tokens_per_batch: int = 4096,
        held_out_stories: int = 200,
        seed: int = 0,
    ):
        for name, size in (("context_length", context_length), ("tokens_per_batch", tokens_per_batch)):
            if size is not None and size < 1:
                raise refuse(name, size, "a whole number of at least 1")
        if held_out_stories < 0:
            raise refuse("held_out_stories", held_out_stories, "a whole number of at least 0 (0: no validation)")
        self.world, self.tok, self.context_length = world, tok, context_length
        self.tokens_per_batch, self.held_out_stories, self.seed = tokens_per_batch, held_out_stories, seed
        self._id_of: dict[str, int] = {}
        self._pool: tuple[int, list[Batch]] = (-1, [])

    @property
    def settings(self) -> dict:
        told = "".join(word for n in range(10) for word in self._draw("sizes", n))
        return {
            "kind": "stories",
            "checksum": zlib.crc32(told.encode()),
            "tokens_per_batch": self.tokens_per_batch,
            "seed": self.seed,
        }

    def batch(self, step: int) -> Batch:
        """The batch of step 0, 1, 2, …"""
        pool, place = divmod(step, _STEPS_PER_POOL)
        if self._pool[0] != pool:
            rows = [self._story("training", pool, n) for n in range(sum(self._rows_per_batch))]
            batches = self._batches(rows, self._rows_per_batch)
            random.Random(f"{self.seed} order {pool}").shuffle(batches)
            self._pool = (pool, batches)
        return self._pool[1][place]

    @cached_property
    def held_out(self) -> HeldOut | None:
        if self.held_out_stories == 0:
            return None
        stories = [self._draw("held out", n) for n in range(self.held_out_stories)]
        log_probs = [p for words in stories for p in self.world.log_probs("".join(words))]
        rows = [self._ids(words) for words in stories]
        n_batches = min(len(rows), math.ceil(sum(map(len, rows)) / self.tokens_per_batch))
        return HeldOut(self._batches(rows, _even_parts(rows, n_batches)), -math.fsum(log_probs) / len(log_probs))

    @cached_property
    def _rows_per_batch(self) -> list[int]:
        """How many stories each batch of a pool takes, from the shortest to the longest: settled on one pool for all.

        So all pools have batches of nearly the same shapes. Half-precision kernels are prepared for each shape that
        comes and kept: with ever new shapes a long run would take gigabytes.
        """
        rows, n_tokens = [], 0
        while n_tokens < _STEPS_PER_POOL * self.tokens_per_batch or len(rows) < _STEPS_PER_POOL:
            rows.append(self._story("sizes", len(rows)))
            n_tokens += len(rows[-1])
        return _even_parts(rows, _STEPS_PER_POOL)

    def _batches(self, rows: list[list[int]], sizes: Sequence[int]) -> list[Batch]:
        rows, ends = sorted(rows, key=len), list(accumulate(sizes))
        return [_padded(rows[end - size : end], self.context_length) for end, size in zip(ends, sizes, strict=True)]

    def _story(self, *names: object) -> list[int]:
        return self._ids(self._draw(*names))

    def _draw(self, *names: object) -> list[str]:
        return self.world.sample_words(random.Random(" ".join(map(str, (self.seed, *names)))))

    def _ids(self, words: Sequence[str]) -> list[int]:
        return [self.tok.end_of_text, *map(self._id, words), self.tok.end_of_text]

    def _id(self, word: str) -> int:
        if word not in self._id_of:
            ids = self.tok.encode(word)
            if len(ids) != 1:
                raise refuse(
                    "tok", f"one with {len(ids)} tokens for {word!r}", "a tokenizer with one token for each word"
                )
            self._id_of[word] = ids[0]
        return self._id_of[word]


class TextCorpus:
    """Windows of any text: `batch_size` of them drawn anew at each step, each one token longer than the context.

    The last `held_out_share` of the tokens is kept for validation, cut into windows end to end. The rest, N tokens, has
    N − T windows for a context of T; a batch larger than that holds some of them twice. The truth about a text is not
    known, so its floor is None. Raises ValueError, naming N and T, if either part is too short for one window.
    """

    def __init__(
        self,
        text: str,
        tok,
        *,
        context_length: int,
        batch_size: int = 16,
        held_out_share: float | int = 0.1,
        seed: int = 0,
    ):
        for name, size in (("context_length", context_length), ("batch_size", batch_size)):
            if size < 1:
                raise refuse(name, size, "a whole number of at least 1")
        if not 0 <= held_out_share < 1:
            raise refuse("held_out_share", held_out_share, "at least 0 (no validation) and below 1")
        self.context_length, self.batch_size, self.seed = context_length, batch_size, seed
        ids = torch.tensor(tok.encode(text), dtype=torch.long)
        n_held_out = round(len(ids) * held_out_share)
        self._training, self._validation = ids[: len(ids) - n_held_out], ids[len(ids) - n_held_out :]
        self._refuse_short("to train on", len(self._training), len(ids), "a longer text or a shorter context")
        if held_out_share > 0:
            would_do = "a longer text, a shorter context, a larger share, or held_out_share=0 to go without validation"
            self._refuse_short(f"held out by held_out_share={held_out_share}", n_held_out, len(ids), would_do)

    @property
    def settings(self) -> dict:
        return {
            "kind": "text",
            "tokens": len(self._training),
            "checksum": zlib.crc32(self._training.numpy().tobytes()),
            "context_length": self.context_length,
            "batch_size": self.batch_size,
            "seed": self.seed,
        }

    @property
    def n_windows(self) -> int:
        """How many different windows training can draw."""
        return len(self._training) - self.context_length

    def batch(self, step: int) -> Batch:
        """The batch of step 0, 1, 2, …"""
        rng = random.Random(f"{self.seed} {step}")
        starts = [rng.randrange(self.n_windows) for _ in range(self.batch_size)]
        return self._windows(self._training, starts)

    @cached_property
    def held_out(self) -> HeldOut | None:
        if len(self._validation) == 0:
            return None
        starts = range(0, len(self._validation) - self.context_length, self.context_length)
        batches = [
            self._windows(self._validation, starts[i : i + self.batch_size])
            for i in range(0, len(starts), self.batch_size)
        ]
        return HeldOut(batches, floor=None)

    def _windows(self, ids: Int[Tensor, " N"], starts: Sequence[int]) -> Batch:
        rows = torch.stack([ids[i : i + self.context_length + 1] for i in starts])
        return Batch(rows[:, :-1], rows[:, 1:])

    def _refuse_short(self, part: str, n_part: int, n_tokens: int, would_do: str) -> None:
        if n_part < self.context_length + 1:
            raise refuse(
                f"the number of tokens {part} (of {n_tokens} in the text)",
                n_part,
                f"at least {self.context_length + 1}, the context_length of {self.context_length} and one token after "
                f"it: take {would_do}",
            )


def _even_parts(rows: Sequence[list[int]], n_parts: int) -> list[int]:
    """How many rows to take at a time, shortest rows first, for parts of about as many tokens each, none empty."""
    ends = list(accumulate(sorted(map(len, rows))))  # ends[i]: tokens in rows 0 … i
    cuts = [0]
    for part in range(1, n_parts + 1):
        cut = bisect_left(ends, ends[-1] * part / n_parts) + 1
        cuts.append(min(max(cut, cuts[-1] + 1), len(rows) - (n_parts - part)))
    return [stop - start for start, stop in pairwise(cuts)]


def _padded(rows: Sequence[list[int]], context_length: int | None) -> Batch:
    """Rows of unequal length side by side, as wide as the longest, rounded up to a width that comes again."""
    longest = max(map(len, rows)) - 1
    if context_length is not None and longest > context_length:
        raise refuse("context_length", context_length, f"at least {longest}, which a story of this world takes")
    width = min(math.ceil(longest / _WIDTHS) * _WIDTHS, max(longest, context_length or math.inf))
    # What stands in the padding of the inputs is never looked at: its targets do not count, and attention looks back.
    inputs = torch.zeros(len(rows), width, dtype=torch.long)
    targets = torch.full((len(rows), width), IGNORE)
    for i, row in enumerate(rows):
        ids = torch.tensor(row)
        inputs[i, : len(row) - 1], targets[i, : len(row) - 1] = ids[:-1], ids[1:]
    return Batch(inputs, targets)
