"""Make gptlab/data/small_world.tiktoken: the smallest vocabulary we can learn that has every word as one token.

    python scripts/make_small_world_tokenizer.py

A word is written in up to four ways: at a story's start or after an opening quote without a blank, inside a sentence
with one, and both with a capital. The merges are learned from the list of all these forms, each once, so that what
many forms share (an ending, a word in its plural) is joined first. Then every token is taken out that is no form and
that no form needs. What remains is a true BPE: joining the pair of lowest rank first makes each form one token.
The same lexicon gives the same file, byte for byte.
"""

import base64
from collections.abc import Iterable
from pathlib import Path

from gptlab.bpe import BYTES, merges
from gptlab.tokenizer import END_OF_TEXT
from gptlab.world.lexicon import ENGLISH

HERE = Path(__file__).resolve().parent.parent / "gptlab" / "data" / "small_world.tiktoken"


def forms(word: str) -> list[str]:
    """The ways in which a word is written: a name keeps its capital, punctuation stays as the lexicon has it."""
    if not word.isalpha():
        return [word]
    spellings = dict.fromkeys([word, word[0].upper() + word[1:]])
    return [blank + spelling for blank in ("", " ") for spelling in spellings]


def learn(words: Iterable[str]) -> list[bytes]:
    """The tokens, bytes first, in the order of their ranks."""
    written = dict.fromkeys(form for word in words if word != END_OF_TEXT for form in forms(word))
    tokens = [bytes([byte]) for byte in range(BYTES)]
    unmade = {form.encode() for form in written} - set(tokens)
    text = "\n".join(written)  # the pattern makes each line end a word of its own, so no two forms grow together
    for merge in merges(text):
        if not unmade:
            break
        tokens.append(merge.token)
        unmade.discard(merge.token)
    return prune(tokens, {form.encode() for form in written})


def prune(tokens: list[bytes], wanted: set[bytes]) -> list[bytes]:
    """Take out, as long as there are any, tokens without which each wanted one still comes together."""
    ranks = {token: rank for rank, token in enumerate(tokens)}
    before = None
    while before != len(ranks):
        before = len(ranks)
        for token in [token for token in ranks if len(token) > 1 and token not in wanted]:
            rank = ranks.pop(token)
            if not all(comes_together(other, ranks) for other in wanted if token in other):
                ranks[token] = rank
    return sorted(ranks, key=ranks.__getitem__)


def comes_together(word: bytes, ranks: dict[bytes, int]) -> bool:
    """Whether BPE, joining the neighbours of the lowest rank first, makes one token of a word."""
    parts = [bytes([byte]) for byte in word]
    while len(parts) > 1:
        joined = [left + right for left, right in zip(parts, parts[1:], strict=False)]
        place = min(range(len(joined)), key=lambda k: ranks.get(joined[k], float("inf")))
        if joined[place] not in ranks:
            return False
        parts[place : place + 2] = [joined[place]]
    return True


def main() -> None:
    tokens = learn(ENGLISH.words)
    HERE.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)))
    print(f"{HERE.name}: {BYTES} bytes + {len(tokens) - BYTES:,} merges + {END_OF_TEXT} = {len(tokens) + 1:,} tokens")


if __name__ == "__main__":
    main()
