"""Tokenizers in the layout of Hugging Face: vocab.json with merges.txt, or tokenizer.json, read and written.

A vocabulary there maps letters to ids, and each byte has a letter of its own (GPT-2's habit: what prints stands for
itself, the others follow from U+0100 on). Ours knows tokens by the order in which they were merged; the two agree when
the ids are in that order and `<|endoftext|>` is last, as in GPT-2. Any other tokenizer is wrapped as it is, by the
library `tokenizers`.
"""

import json
from pathlib import Path
from typing import Any

from gptlab._refuse import refuse
from gptlab.bpe import BYTES
from gptlab.storage import damaged
from gptlab.tokenizer import END_OF_TEXT, Tokenizer
from gptlab.wrapped_tokenizer import END_OF_WORD, WrappedTokenizer

VOCABULARY, MERGES, WHOLE, SETTINGS = "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json"
UNKNOWN = "<unk>"  # what GPT-1 says for a character that it does not have
Pair = tuple[str, str]


def letters() -> dict[int, str]:
    """The letter that stands for each byte (Radford et al. 2019: byte-level BPE, as published with GPT-2)."""
    printing = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(BYTES) if byte not in printing]
    return {byte: chr(byte) for byte in printing} | {byte: chr(256 + n) for n, byte in enumerate(others)}


LETTERS = letters()
BYTE_OF = {letter: byte for byte, letter in LETTERS.items()}


def write_tokenizer(folder: Path, tok: Tokenizer) -> None:
    """Write vocab.json, merges.txt and tokenizer_config.json."""
    tokens = [tok.token_bytes(id) for id in range(tok.end_of_text)]
    vocabulary = {_written(token): id for id, token in enumerate(tokens)} | {END_OF_TEXT: tok.end_of_text}
    merges = [f"{_written(left)} {_written(right)}\n" for left, right in merged_pairs(tokens)]
    settings = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False}
    settings |= dict.fromkeys(("bos_token", "eos_token", "unk_token"), END_OF_TEXT)
    (folder / VOCABULARY).write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    (folder / MERGES).write_text("".join(["#version: 0.2\n", *merges]), encoding="utf-8")
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2), encoding="utf-8")


def merged_pairs(tokens: list[bytes]) -> list[tuple[bytes, bytes]]:
    """For each token of more than a byte, in the order of ranks, the two tokens that it is merged from.

    They are the last two parts when BPE joins the bytes of the token. ValueError for a token that does not come about.
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    never = len(tokens)
    pairs = []
    for token in tokens:
        if len(token) == 1:
            continue
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            joined = [ranks.get(one + other, never) for one, other in zip(parts, parts[1:], strict=False)]
            place = min(range(len(joined)), key=joined.__getitem__)
            if joined[place] == never:
                raise refuse("a token", token, "one that two other tokens make")
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        pairs.append((parts[0], parts[1]))
    return pairs


def read_tokenizer(folder: Path, kind: str) -> Tokenizer | None:
    """The tokenizer in a folder of a model of that kind ("gpt2", "openai-gpt"); None where there is none.

    ValueError with the path for files that are damaged or do not belong together; ImportError that says what to
    install where the tokenizer must be wrapped and the library for that is missing.
    """
    try:
        return _read(folder, kind)
    except ImportError:
        raise
    except OSError as error:
        raise damaged(folder, f"has {VOCABULARY} but no {MERGES} beside it") from error
    except Exception as error:  # the library knows no narrower class for what it cannot read
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise damaged(folder, f"has a tokenizer that cannot be read: {reason}") from error


def _read(folder: Path, kind: str) -> Tokenizer | None:
    if (folder / WHOLE).exists():
        content = json.loads((folder / WHOLE).read_bytes())
        ours = _ours(*_byte_level(content)) if kind == "gpt2" else None
        return ours or WrappedTokenizer(_library().Tokenizer.from_str(json.dumps(content)))
    if not (folder / VOCABULARY).exists():
        return None
    vocabulary = json.loads((folder / VOCABULARY).read_bytes())
    lines = (folder / MERGES).read_text(encoding="utf-8").splitlines()
    merges = [_pair(line) for line in lines if line and not line.startswith("#version")]
    ours = _ours(vocabulary, merges) if kind == "gpt2" else None
    return ours or WrappedTokenizer(_built(vocabulary, merges, kind))


def _ours(vocabulary: dict[str, int], merges: list[Pair]) -> Tokenizer | None:
    """Our tokenizer, if ids are in the order of merges and end-of-text is the last."""
    written = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in written] != list(range(len(written))) or written[-1:] != [END_OF_TEXT]:
        return None
    written.pop()
    if {*written[:BYTES]} != {*BYTE_OF} or ["".join(pair) for pair in merges] != written[BYTES:]:
        return None
    tokens = [bytes(BYTE_OF[letter] for letter in token) for token in written]
    return Tokenizer(tokens)


def _byte_level(content: dict[str, Any]) -> tuple[dict[str, int], list[Pair]]:
    """Vocabulary and merges of a tokenizer.json; both empty if it does more than GPT-2's."""
    model, before = content["model"], content.get("pre_tokenizer") or {}
    plain = (
        model.get("type") == "BPE"
        and content.get("normalizer") is None
        and before.get("type") == "ByteLevel"
        and not before.get("add_prefix_space")
        and before.get("use_regex", True)
        and not model.get("ignore_merges")
        and {added["content"] for added in content.get("added_tokens", ())} <= {END_OF_TEXT}
    )
    if not plain:
        return {}, []
    added = {added["content"]: added["id"] for added in content.get("added_tokens", ())}
    merges = [_pair(merge) if isinstance(merge, str) else (merge[0], merge[1]) for merge in model["merges"]]
    return model["vocab"] | added, merges


def _built(vocabulary: dict[str, int], merges: list[Pair], kind: str) -> Any:
    """The wrapped tokenizer that these files describe, as `transformers` builds it for the kind of model."""
    library = _library()
    if kind == "gpt2":
        inner = library.Tokenizer(library.models.BPE(vocabulary, merges, fuse_unk=False))
        inner.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = library.decoders.ByteLevel()
        return inner
    unknown = {"unk_token": UNKNOWN} if UNKNOWN in vocabulary else {}
    inner = library.Tokenizer(
        library.models.BPE(vocabulary, merges, end_of_word_suffix=END_OF_WORD, fuse_unk=False, **unknown)
    )
    inner.normalizer = library.normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    inner.decoder = library.decoders.BPEDecoder(suffix=END_OF_WORD)
    return inner


def _library() -> Any:
    try:
        import tokenizers
    except ImportError as missing:
        need = "this tokenizer is not of GPT-2's kind and needs the library tokenizers: pip install 'gptlab[hub]'"
        raise ImportError(need) from missing
    return tokenizers


def _pair(line: str) -> Pair:
    left, right = line.split(" ")
    return left, right


def _written(token: bytes) -> str:
    return "".join(LETTERS[byte] for byte in token)
