"""Learning a vocabulary by byte-pair encoding from a text of the small world."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import gptlab
from benchmarks._measure import OURS, Comparison, seconds
from gptlab.bpe import split

STORIES, SIZE, FEW_MERGES = 1_000, 1_024, 10


def vocabulary() -> Iterator[Comparison]:
    text = "\n".join(gptlab.world.sample(seed) for seed in range(STORIES))
    n_bytes = len(text.encode())
    contestants = {
        OURS: lambda: gptlab.Tokenizer.train(text, SIZE),
        "tokenizers (Rust)": lambda: tokenizers_train(text),
        "rustbpe (Rust)": lambda: rustbpe_train(text),
    }
    yield Comparison(f"{SIZE - 256} merges from {n_bytes / 1e6:.1f} MB", "s", seconds(contestants, 8))
    few = {
        OURS: lambda: gptlab.Tokenizer.train(text, 257 + FEW_MERGES),
        "plain, as minbpe": lambda: plain_merges(text, FEW_MERGES),
    }
    yield Comparison(f"{FEW_MERGES} merges from {n_bytes / 1e6:.1f} MB", "s", seconds(few, 0))


def plain_merges(text: str, n_merges: int) -> dict[tuple[int, int], int]:
    """Byte-pair encoding as one writes it down first, in the manner of minbpe: all words anew at each merge."""
    words, merges = [list(word.encode()) for word in split(text)], {}
    for new in range(256, 256 + n_merges):
        counts = Counter(pair for word in words for pair in pairwise(word))
        pair = max(counts, key=counts.get)
        words, merges[pair] = [joined(word, pair, new) for word in words], new
    return merges


def joined(word: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out, place = [], 0
    while place < len(word):
        if tuple(word[place : place + 2]) == pair:
            out.append(new)
            place += 2
        else:
            out.append(word[place])
            place += 1
    return out


def tokenizers_train(text: str) -> object:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=alphabet, show_progress=False)
    tok.train_from_iterator([text], trainer)
    return tok


def rustbpe_train(text: str) -> object:
    from rustbpe import Tokenizer

    tok = Tokenizer()
    tok.train_from_iterator(iter([text]), SIZE)
    return tok
