"""Text ↔ ids ↔ pieces: what stands between a reader's words and the model's numbers.

A tokenizer is a list of tokens, each a string of bytes; the place in the list is the token's id. The list holds the 256
single bytes, so that any text can be encoded, then the merges in the order in which they were learned (`gptlab.bpe`),
and last ``<|endoftext|>``. So the vocabulary's size is 256 + merges + 1; for GPT-2 256 + 50,000 + 1 = 50,257.

Encoding cuts the text into words by GPT-2's pattern, and in each word joins the two neighbours that make the token of
the lowest id, again and again until no two make one; tiktoken does that. Decoding lays the bytes end to end. Text is
taken as it is: no character is normalised, no line end exchanged, no blank added or taken away.
"""

import base64
import codecs
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from operator import index
from pathlib import Path
from typing import NamedTuple, SupportsIndex

import regex
import tiktoken

from gptlab._refuse import refuse
from gptlab.bpe import BYTES, SPLIT_PATTERN, merges, well_formed
from gptlab.labels import label

END_OF_TEXT = "<|endoftext|>"
_FORMAT = "gptlab tokenizer, version 1"
_GPT2_SHA256 = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_ALL_BYTES = [bytes([byte]) for byte in range(BYTES)]

# tiktoken keeps a way back for each character of a run of white space that a word follows, and panics at a million.
_LONG_BLANK = regex.compile(r"(?<!\s)\s{100000,}+(?=\S)")


class Piece(NamedTuple):
    """A token in its place in a text, for pictures.

    ``shown`` is its label (`gptlab.labels.label`), never blank. ``text`` is what becomes readable with it: the texts of
    all pieces, joined, are the decoded text, and a piece that leaves a character unfinished has the text "".
    """

    id: int
    bytes: bytes
    shown: str
    text: str


class Tokenizer:
    """Turns text into ids and ids into text, by a list of byte strings, with ``<|endoftext|>`` as the last."""

    def __init__(self, tokens: Sequence[bytes]):
        # Without all the bytes tiktoken would panic at the first text that needs them, with what is no Exception.
        missing = set(_ALL_BYTES) - set(tokens)
        if missing:
            raise refuse("tokens", f"a list without {min(missing)!r}", "one that holds each of the 256 single bytes")
        ranks = {token: rank for rank, token in enumerate(tokens)}
        if len(ranks) < len(tokens) or b"" in ranks:
            raise refuse("tokens", "a list with a repeated or an empty token", "one of different tokens")
        self._tokens = (*tokens, END_OF_TEXT.encode())
        self._encoding = tiktoken.Encoding(
            "gptlab", pat_str=SPLIT_PATTERN, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: len(tokens)}
        )

    @classmethod
    @cache
    def gpt2(cls) -> "Tokenizer":
        """GPT-2's own 50,257 tokens, from the package's data."""
        return cls(_packaged("gpt2.tiktoken", sha256=_GPT2_SHA256))

    @classmethod
    @cache
    def small_world(cls) -> "Tokenizer":
        """The small world's tokens: each of its words is one token wherever it stands, other text goes byte by byte."""
        return cls(_packaged("small_world.tiktoken"))

    @classmethod
    def train(cls, text: str, vocab_size: int) -> "Tokenizer":
        """Learn ``vocab_size`` tokens from a text: 256 bytes, merges, and ``<|endoftext|>``.

        A text that has no more pairs to merge ends the training early; ``merge_count`` and ``vocab_size`` say where.
        ``<|endoftext|>`` in the text is read as ordinary text.
        """
        if vocab_size < BYTES + 1:
            raise refuse("vocab_size", vocab_size, f"at least {BYTES + 1}: the {BYTES} bytes and {END_OF_TEXT}")
        if not text:
            raise refuse("text", text, "some text to learn merges from")
        learned = islice(merges(text), vocab_size - BYTES - 1)
        return cls([*_ALL_BYTES, *(merge.token for merge in learned)])

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tokenizer":
        """Read a tokenizer that ``save`` has written; any other file, or a damaged one, is refused with the reason."""
        try:
            return cls.from_json(Path(path).read_bytes().decode())
        except ValueError as reason:
            raise refuse("path", str(path), f"a tokenizer file as Tokenizer.save writes it; {reason}") from reason

    def save(self, path: str | os.PathLike) -> None:
        """Write the tokenizer to one file, whole or not at all; missing folders are made."""
        from gptlab.storage import write_whole  # brings torch, which a tokenizer can do without

        write_whole(path, lambda unfinished: unfinished.write_text(self.to_json(), encoding="utf-8"))

    def to_json(self) -> str:
        """The tokenizer as text: its tokens in base64, in the order of their ids, and a checksum over them."""
        tokens = [base64.b64encode(token).decode() for token in self._tokens[:-1]]
        return json.dumps({"format": _FORMAT, "sha256": _checksum(tokens), "tokens": tokens}, indent=0)

    @classmethod
    def from_json(cls, text: str) -> "Tokenizer":
        """The tokenizer that ``to_json`` wrote down."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as reason:
            raise ValueError(f"this is no JSON, or is cut short ({reason})") from reason
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f"this does not say that it is a {_FORMAT!r}")
        tokens = content.get("tokens")
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise ValueError("this has no list of tokens")
        if content.get("sha256") != _checksum(tokens):
            raise ValueError("this has tokens that do not agree with its checksum: it was damaged or edited")
        return cls([base64.b64decode(token, validate=True) for token in tokens])

    @property
    def vocab_size(self) -> int:
        """How many ids there are, ``<|endoftext|>`` included: V."""
        return len(self._tokens)

    @property
    def merge_count(self) -> int:
        """How many merges were learned; fewer than asked for when the text had no more pairs."""
        return self.vocab_size - BYTES - 1

    @property
    def end_of_text(self) -> int:
        """The id of ``<|endoftext|>``, the last one."""
        return self.vocab_size - 1

    def __repr__(self) -> str:
        return f"<Tokenizer: {BYTES} bytes + {self.merge_count:,} merges + {END_OF_TEXT} = {self.vocab_size:,} tokens>"

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """The ids of a text. ``<|endoftext|>`` in it is ordinary text, and only if ``special`` the end-of-text token.

        Surrogates are put right first (`gptlab.bpe.well_formed`).
        """
        text = well_formed(text)
        if not special:
            return self._encode_ordinary(text)
        first, *others = text.split(END_OF_TEXT)
        ids = self._encode_ordinary(first)
        for other in others:
            ids += [self.end_of_text, *self._encode_ordinary(other)]
        return ids

    def _encode_ordinary(self, text: str) -> list[int]:
        # The pattern itself divides such a run before its last character, so cutting there changes no id.
        cuts = [0, *(run.end() - 1 for run in _LONG_BLANK.finditer(text)), len(text)]
        parts = (text[start:end] for start, end in zip(cuts, cuts[1:], strict=False))
        return [id for part in parts for id in self._encoding.encode_ordinary(part)]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of some ids. Bytes that are no UTF-8, as at a cut through a character, become U+FFFD."""
        return self.decode_bytes(ids).decode(errors="replace")

    def decode_bytes(self, ids: Iterable[SupportsIndex]) -> bytes:
        """The bytes of some ids, end to end."""
        return b"".join(self._tokens[id] for id in self._known(ids))

    def token_bytes(self, id: SupportsIndex) -> bytes:
        """The bytes of one token."""
        return self.decode_bytes([id])

    def _known(self, ids: Iterable[SupportsIndex]) -> list[int]:
        ids, last = [index(id) for id in ids], self.end_of_text
        for place, id in enumerate(ids):
            if not 0 <= id <= last:
                raise refuse(f"ids[{place}]", id, f"a token id, a whole number from 0 to {last}")
        return ids

    def pieces(self, text_or_ids: str | Iterable[SupportsIndex]) -> list[Piece]:
        """A text, or ids, as the pieces that a picture shows."""
        ids = self.encode(text_or_ids) if isinstance(text_or_ids, str) else self._known(text_or_ids)
        tokens = [self._tokens[id] for id in ids]
        decoder = _utf8_decoder()
        texts = [decoder.decode(token, final=place == len(ids)) for place, token in enumerate(tokens, start=1)]
        return [Piece(id, token, label(token), text) for id, token, text in zip(ids, tokens, texts, strict=True)]


class TextStream:
    """Decodes ids one at a time and holds back the bytes of a character until it is whole.

    All that came out, joined, is ``tok.decode`` of all ids; U+FFFD stands only for bytes that can be no character.
    """

    def __init__(self, tok: Tokenizer):
        self._tok = tok
        self._decoder = _utf8_decoder()

    def push(self, id: SupportsIndex) -> str:
        """The text that this id makes complete; often a word, sometimes nothing yet."""
        return self._decoder.decode(self._tok.token_bytes(id))

    def finish(self) -> str:
        """What is left when no more ids come: U+FFFD for a character that was never finished, otherwise nothing."""
        return self._decoder.decode(b"", final=True)


def read_text(path: str | os.PathLike) -> str:
    """A text file as UTF-8, whatever the platform's habit; line ends stay, a byte-order mark is taken off."""
    return Path(path).read_bytes().decode("utf-8-sig")


def _utf8_decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


def _packaged(name: str, *, sha256: str | None = None) -> list[bytes]:
    """The tokens of a file in tiktoken's format, one line a token: base64, blank, rank.

    Read here and not by tiktoken.load, which keeps a copy in the temporary folder and would serve it after a change.
    """
    content = (files("gptlab") / "data" / name).read_bytes()
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"gptlab/data/{name} is not the file that was shipped; install gptlab anew")
    lines = [line.split() for line in content.splitlines()]
    return [base64.b64decode(token) for token, _ in sorted(lines, key=lambda line: int(line[1]))]


def _checksum(tokens: list[str]) -> str:
    return hashlib.sha256("\n".join(tokens).encode()).hexdigest()
