"""From the small world's English to Velumi, its second language: vocabulary, sentences, the trained model.

The language is one of rules (`gptlab.world.translation`), so each sentence has exactly one translation, each of its
words has known partners, and the lowest loss there can be is 0. A twentieth of all sentences, chosen by a checksum of
their text, is never trained on.

Axes: B sentences of a batch, S tokens of the source, T of the target, L layers, H heads.
"""

import json
import math
import random
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.config import GPTConfig
from gptlab.corpus import IGNORE
from gptlab.relatives.encoder_decoder import EncoderDecoder, cross_attention, greedy_translation
from gptlab.storage import damaged, read_tensors, sha256, write_tensors, write_whole
from gptlab.tokenizer import Piece, Tokenizer
from gptlab.world import ENGLISH, SentencePair, sample, translate
from gptlab.world.second_language import PARTICLE, QUOTATION_MARKS, vocabulary

WEIGHTS = "model.safetensors"
_HELD_OUT = 20  # one sentence of so many is never trained on


@cache
def velumi_tokenizer() -> Tokenizer:
    """A tokenizer with one token for each word of a Velumi sentence that stands alone; other text goes byte by byte."""
    words = {PARTICLE}
    for entry in vocabulary(ENGLISH).values():
        for word in entry.words:
            words |= {word[:-1] + ending for ending in ("a", "o", "an", "on")} if word.endswith("-") else {word}
    forms = sorted({form.encode() for word in words for form in _written(word)})
    return Tokenizer([*(bytes([byte]) for byte in range(256)), *(form for form in forms if len(form) > 1)])


def _written(word: str) -> tuple[str, ...]:
    if word[0].isalpha():
        return f" {word}", word[0].upper() + word[1:]
    return (word, f" {word}") if word in {opening for opening, _ in QUOTATION_MARKS.values()} else (word,)


class PairBatch(NamedTuple):
    """What the encoder reads, what the decoder reads, and what the decoder should say after each token of that.

    The inputs begin with the end-of-text token, the targets end with it and are IGNORE where nothing is to be said.
    """

    source: Int[Tensor, "B S"]
    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]

    @property
    def n_targets(self) -> int:
        return int((self.targets != IGNORE).sum())


def is_held_out(sentence: str) -> bool:
    """Whether this sentence is one of those that no training sees."""
    return zlib.crc32(sentence.encode()) % _HELD_OUT == 0


def sentence_pairs(seeds: Iterable[int], *, held_out: bool) -> list[SentencePair]:
    """The different sentences of these stories with their translations, in the order in which they first come."""
    pairs = {"".join(pair.source): pair for seed in seeds for pair in translate(sample(seed)).sentences}
    return [pair for sentence, pair in pairs.items() if is_held_out(sentence) == held_out]


class SentencePairs:
    """Batches of pairs to learn from, each a function of (seed, step). The sources of a batch are of one length."""

    def __init__(self, pairs: Sequence[SentencePair], *, tokens_per_batch: int = 1_024, seed: int = 0):
        if not pairs:
            raise refuse("pairs", pairs, "at least one pair of sentences")
        if tokens_per_batch < 1:
            raise refuse("tokens_per_batch", tokens_per_batch, "a whole number of at least 1")
        self.tokens_per_batch, self.seed = tokens_per_batch, seed
        self._of_length = defaultdict(list)
        for pair in pairs:
            self._of_length[len(pair.source)].append(pair)

    def batch(self, step: int) -> PairBatch:
        """The batch of step 0, 1, 2, …: sentences of a length that is drawn by the root of how many there are of it.

        By their number alone, the few long ones, in which somebody counts to twenty, would hardly ever come.
        """
        rng = random.Random(f"{self.seed} {step}")
        lengths = list(self._of_length)
        length = rng.choices(lengths, [math.sqrt(len(self._of_length[one])) for one in lengths])[0]
        return pair_batch(rng.choices(self._of_length[length], k=max(1, self.tokens_per_batch // length)))


def pair_batch(pairs: Sequence[SentencePair]) -> PairBatch:
    """Pairs as ids; ValueError if their sources differ in length."""
    lengths = {len(pair.source) for pair in pairs}
    if len(lengths) != 1:
        raise refuse("the lengths of the sources", sorted(lengths), "one and the same: an encoder would see padding")
    english, velumi = Tokenizer.small_world(), velumi_tokenizer()
    end = velumi.end_of_text
    targets = [[_id(velumi, word) for word in pair.target] for pair in pairs]
    longest = max(map(len, targets))
    return PairBatch(
        torch.tensor([[_id(english, word) for word in pair.source] for pair in pairs]),
        torch.tensor([[end, *ids, *[end] * (longest - len(ids))] for ids in targets]),
        torch.tensor([[*ids, end, *[IGNORE] * (longest - len(ids))] for ids in targets]),
    )


@cache
def _id(tok: Tokenizer, word: str) -> int:
    ids = tok.encode(word)
    if len(ids) != 1:
        raise refuse("word", word, "a word of the small world or of Velumi, which is one token")
    return ids[0]


class Look(NamedTuple):
    """A sentence, its translation by the model, and where each word of the translation looked while it was told."""

    source: list[Piece]
    target: list[Piece]
    attention: Float[Tensor, "L H T S"]


class Translator:
    """A trained encoder–decoder with both its tokenizers."""

    def __init__(self, model: EncoderDecoder):
        self.model, self.english, self.velumi = model, Tokenizer.small_world(), velumi_tokenizer()

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """The greedy translation of each sentence. ValueError for an empty one and for one beyond the context."""
        sources, rows = [self._source(sentence) for sentence in sentences], defaultdict(list)
        for row, source in enumerate(sources):
            rows[len(source)].append(row)
        told = [""] * len(sentences)
        for same_length in rows.values():
            ids = torch.tensor([sources[row] for row in same_length])
            for row, target in zip(same_length, self._told(ids), strict=True):
                told[row] = self.velumi.decode(target)
        return told

    def look(self, sentence: str) -> Look:
        """One translation with its cross-attention: row t of it is the look from which word t was told."""
        source = torch.tensor([self._source(sentence)])
        target = next(self._told(source))
        inputs = torch.tensor([[self.velumi.end_of_text, *target]])
        attention = cross_attention(self.model, source, inputs)[:, 0, :, : max(len(target), 1)]
        return Look(self.english.pieces(source[0].tolist()), self.velumi.pieces(target or [inputs[0, 0]]), attention)

    def _told(self, source: Int[Tensor, "B S"]) -> Iterator[list[int]]:
        end = self.velumi.end_of_text
        for row in greedy_translation(self.model, source, end=end)[:, 1:].tolist():
            yield row[: row.index(end)] if end in row else row

    def _source(self, sentence: str) -> list[int]:
        ids, most = self.english.encode(sentence), self.model.encoder.config.context_length
        if not 1 <= len(ids) <= most:
            raise refuse("sentence", sentence, f"of 1 to {most} tokens, and has {len(ids)}")
        return ids


def agreement(weights: Float[Tensor, "T S"], alignment: Collection[tuple[int, int]]) -> float:
    """The share of target words whose largest weight lies on one of their partners.

    alignment: pairs (index in the target, index in the source), as `SentencePair` has them.
    """
    return sum((t, s) in alignment for t, s in enumerate(weights.argmax(-1).tolist())) / len(weights)


def save_translator(folder: str | PathLike, model: EncoderDecoder, dtype: torch.dtype = torch.float16) -> None:
    """Write the weights with what they need to be read again: both configs and the checksums of both vocabularies."""
    about = {"encoder": model.encoder.config.to_dict(), "decoder": model.decoder.config.to_dict()}
    metadata = {"configs": json.dumps(about), "vocabularies": _vocabularies()}
    weights = {name: weight.to(dtype) for name, weight in model.state_dict().items()}
    write_whole(Path(folder) / WEIGHTS, lambda unfinished: write_tensors(unfinished, weights, metadata))


def load_translator(folder: str | PathLike | None = None) -> Translator:
    """The translator that comes with gptlab, or one that `save_translator` wrote; float32, in evaluation mode.

    ValueError, with the path, for a file that is missing, damaged, no translator, or made for other vocabularies.
    """
    path = Path(str(files("gptlab") / "data" / "translator") if folder is None else folder) / WEIGHTS
    if not path.is_file():
        raise refuse("folder", str(path.parent), f"one with {WEIGHTS} in it, as save_translator writes it")
    weights, metadata = read_tensors(path, checksum_optional=False)
    if "configs" not in metadata:
        raise damaged(path, "is no translator: it does not say how its encoder and decoder are made")
    if metadata.get("vocabularies") != _vocabularies():
        raise damaged(path, "was made for other vocabularies than gptlab now has; train it again")
    about = json.loads(metadata["configs"])
    with torch.random.fork_rng(devices=[]):  # a new model's weights are drawn, here to be overwritten
        model = EncoderDecoder(GPTConfig.from_dict(about["encoder"]), GPTConfig.from_dict(about["decoder"]))
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise damaged(path, f"holds other weights than its own configs describe: {error}") from error
    return Translator(model.eval())


@cache
def _vocabularies() -> str:
    return " ".join(sha256(tok.to_json().encode()) for tok in (Tokenizer.small_world(), velumi_tokenizer()))
