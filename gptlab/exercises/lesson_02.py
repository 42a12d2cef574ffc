"""Exercises of lesson 02: bytes and characters, the winning pair, one merge, encoding by merges in their order."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise

import torch
from torch import Tensor

from gptlab.bpe import merges
from gptlab.exercises._check import Exercise, Mistake

Pair = tuple[int, int]
BORROWED = "naïve café 👍"


def winner(ids: Tensor) -> tuple[int, int, int]:
    """The most frequent pair of neighbours and its count; of equals the one that is met first."""
    ids = ids.tolist()
    counts = {}
    for k in range(len(ids) - 1):
        pair = (ids[k], ids[k + 1])
        counts[pair] = counts.get(pair, 0) + 1
    best = None
    for pair in counts:
        if best is None or counts[pair] > counts[best]:
            best = pair
    return (*best, counts[best])


def merge(ids: Tensor | list[int], pair: Pair, new: int) -> list[int]:
    """The ids with `new` wherever the pair stands, from the left."""
    ids = list(map(int, ids))
    merged, k = [], 0
    while k < len(ids):
        if tuple(ids[k : k + 2]) == tuple(pair):
            merged.append(new)
            k += 2
        else:
            merged.append(ids[k])
            k += 1
    return merged


def encode(word: str, pairs: list[Pair]) -> list[int]:
    """The ids of a word: its bytes, then every merge in the order in which they were learned."""
    ids = list(word.encode())
    for rank, pair in enumerate(pairs):
        ids = merge(ids, pair, 256 + rank)
    return ids


def _rows() -> Iterator[tuple[Tensor]]:
    for row in ([1, 2], [1, 1, 1, 2, 3, 2, 3], [5, 4, 3, 2], [2, 1, 3, 2, 1, 3], [7, 7, 7, 7]):
        yield (torch.tensor(row),)
    generator = torch.Generator().manual_seed(0)
    for size in range(4, 30):
        yield (torch.randint(2 + size // 5, (size,), generator=generator),)


def _merges_to_do() -> Iterator[tuple[Tensor, Pair, int]]:
    yield torch.tensor([1, 2, 1, 2, 3]), (1, 2), 9
    yield torch.tensor([1, 1, 1]), (1, 1), 9
    yield torch.tensor([2, 1, 1, 1, 1, 1, 2]), (1, 1), 9
    yield torch.tensor([1, 2]), (2, 1), 9
    for (row,) in _rows():
        yield row, winner(row)[:2], 99


def _words_to_encode() -> Iterator[tuple[str, list[Pair]]]:
    a, b, c = b"abc"
    yield "abc", [(a, b)]
    yield "abc", [(b, c), (a, b)]
    yield "abc", [(b, c), (a, b), (257, c)]
    yield "aaaaa", [(a, a), (256, a)]
    yield "é", [(0xC3, 0xA9)]
    text = "she sells sea shells by the sea shore; ein Mädchen läuft, ein Bär läuft"
    learned = [found.pair for found in islice(merges(text), 25)]
    for word in ("she", " shells", " seashore", " Läufer", " läuft", "sell", "hhh"):
        yield word, learned
    generator = torch.Generator().manual_seed(0)
    for size in range(3, 20):
        drawn = bytes((torch.randint(3, (40,), generator=generator) + a).tolist()).decode()
        yield drawn[:size], [found.pair for found in islice(merges(drawn[20:]), 6)]


def _without_overlaps(ids: Tensor) -> tuple[int, int, int]:
    pair = winner(ids)[:2]
    return (*pair, merge(ids, pair, -1).count(-1))


def _smallest_of_equals(ids: Tensor) -> tuple[int, int, int]:
    pairs, counts = torch.stack([ids[:-1], ids[1:]]).unique(dim=1, return_counts=True)
    return (*pairs[:, counts.argmax()].tolist(), int(counts.max()))


def _last_of_equals(ids: Tensor) -> tuple[int, int, int]:
    counts = Counter(pairwise(ids.tolist()))
    best = max(reversed(counts), key=counts.__getitem__)
    return (*best, counts[best])


def _in_a_ring(ids: Tensor) -> tuple[int, int, int]:
    counts = Counter(zip(ids.tolist(), ids.roll(-1).tolist(), strict=True))
    best, count = counts.most_common(1)[0]
    return (*best, count)


def _all_at_once(ids: Tensor, pair: Pair, new: int) -> Tensor:
    starts = (ids[:-1] == pair[0]) & (ids[1:] == pair[1])
    no = torch.zeros(1, dtype=torch.bool)
    return torch.where(torch.cat([starts, no]), new, ids)[~torch.cat([no, starts])]


def _from_the_right(ids: Tensor, pair: Pair, new: int) -> list[int]:
    return merge(ids.flip(0), pair[::-1], new)[::-1]


def _only_once(ids: Tensor, pair: Pair, new: int) -> list[int]:
    ids = ids.tolist()
    starts = [k for k in range(len(ids) - 1) if (ids[k], ids[k + 1]) == pair]
    return ids[: starts[0]] + [new] + ids[starts[0] + 2 :] if starts else ids


def _second_kept(ids: Tensor, pair: Pair, new: int) -> list[int]:
    return [new if follows == pair else follows[0] for follows in pairwise([*ids.tolist(), -1])]


def _latest_first(word: str, pairs: list[Pair]) -> list[int]:
    ids = list(word.encode())
    for rank in reversed(range(len(pairs))):
        ids = merge(ids, pairs[rank], 256 + rank)
    return ids


def _longest_first(word: str, pairs: list[Pair]) -> list[int]:
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in pairs:
        tokens.append(tokens[left] + tokens[right])
    ids, rest = [], word.encode()
    while rest:
        fitting = [id for id, token in enumerate(tokens) if rest.startswith(token)]
        ids.append(max(fitting, key=lambda id: len(tokens[id])))
        rest = rest[len(tokens[ids[-1]]) :]
    return ids


def _leftmost_first(word: str, pairs: list[Pair]) -> list[int]:
    ids, known = list(word.encode()), True
    while known:
        known = next((pair for pair in pairwise(ids) if pair in pairs), None)
        if known:
            ids = _only_once(torch.tensor(ids), known, 256 + pairs.index(known))
    return ids


def _characters(word: str, pairs: list[Pair]) -> list[int]:
    ids = [ord(character) for character in word]
    for rank, pair in enumerate(pairs):
        ids = merge(ids, pair, 256 + rank)
    return ids


EXERCISES = (
    Exercise(
        "02.bytes",
        len(BORROWED.encode()),
        mistakes=(
            Mistake(len(BORROWED), "You counted characters. One that is not ASCII takes two bytes or more."),
            Mistake(len(BORROWED) + 2, "The accents take two bytes each, but the emoji takes four."),
            Mistake(len(BORROWED.encode()) - 2, "The two blanks are bytes as well."),
            Mistake(len(BORROWED.encode("utf-16-le")), "These are the bytes of UTF-16; tokenizers of GPTs read UTF-8."),
        ),
        hints=("text.encode() gives the bytes.", "ï and é take two bytes each, 👍 takes four."),
    ),
    Exercise(
        "02.winner",
        winner,
        _rows,
        mistakes=(
            Mistake(_without_overlaps, "Count overlapping places too: 1, 1, 1 holds the pair (1, 1) twice."),
            Mistake(_smallest_of_equals, "Of equally frequent pairs the one met first wins, not the smallest."),
            Mistake(_last_of_equals, "Of equally frequent pairs the one met first wins, not the last."),
            Mistake(_in_a_ring, "The last token and the first are no neighbours."),
        ),
        hints=(
            "zip(ids[:-1], ids[1:]), or itertools.pairwise, gives the neighbours.",
            "A Counter keeps the order in which it met its keys, and most_common(1) respects it.",
        ),
    ),
    Exercise(
        "02.merge",
        merge,
        _merges_to_do,
        mistakes=(
            Mistake(_all_at_once, "In 1, 1, 1 the places overlap: once two are joined, only one token is left."),
            Mistake(_from_the_right, "Join from the left: 1, 1, 1 becomes new, 1."),
            Mistake(_only_once, "Join the pair wherever it stands, not at its first place alone."),
            Mistake(_second_kept, "The new token stands for both: the right one of the pair has to go."),
        ),
        hints=(
            "starts = (ids[:-1] == a) & (ids[1:] == b) says where the pair stands.",
            "Only for a == b can places overlap: of a run of them keep the first, the third, and so on.",
        ),
    ),
    Exercise(
        "02.encode",
        encode,
        _words_to_encode,
        mistakes=(
            Mistake(_latest_first, "Early merges come first: they are what the later ones are made of."),
            Mistake(_longest_first, "BPE does not take the longest token that fits: go by the order of the merges."),
            Mistake(_leftmost_first, "Not from left to right: first the merge that was learned first, wherever it is."),
            Mistake(_characters, "Begin with the bytes of the word, word.encode(), not with its characters."),
        ),
        hints=(
            "Begin with list(word.encode()).",
            "for rank, pair in enumerate(pairs): join the pair wherever it stands; its id is 256 + rank.",
        ),
    ),
)
