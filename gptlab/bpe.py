"""Byte-pair encoding: how a vocabulary is learned from a text, one merge at a time.

The text is cut into words by GPT-2's splitting pattern and each word into its bytes, which are the tokens 0 to 255.
Then, again and again, the pair of neighbours that occurs most often becomes a token of its own: 256, 257, … No token
ever reaches across the border of a word. (Sennrich, Haddow and Birch 2016, section 3.2; on bytes: Radford et al. 2019,
section 2.2.)

The rules that make the merges definite, in the order in which they are asked:

1. The pair with the highest count is merged. Every place where it stands counts, overlapping ones too: ``aaa`` holds
   (a, a) twice.
2. Of equally frequent pairs, the one that is met first when the text is read from its beginning.
3. Within a word pairs are joined from the left: ``aaaaa`` becomes ``aa aa a``.

Two merges never spell the same bytes: a token's bytes always come together along the same road, so that the second
would find them already joined. A vocabulary is therefore nothing but the tokens in the order of their making.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

import regex
from tiktoken_ext.openai_public import r50k_pat_str as SPLIT_PATTERN

BYTES = 256
Pair = tuple[int, int]
_NOTHING = -1  # stands between two words, and where a token was swallowed by the one to its left


@dataclass(frozen=True, slots=True)
class Merge:
    """One step of the training: from now on the two tokens of ``pair``, side by side, are the token ``id``."""

    id: int
    pair: Pair
    token: bytes
    count: int


def well_formed(text: str) -> str:
    """The text with its surrogates put right: a pair becomes the character it means, a lone one becomes U+FFFD.

    Such text comes out of PDF files and broken JSON; it has no UTF-8 form and so could not be cut into bytes.
    """
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def split(text: str, pattern: str = SPLIT_PATTERN) -> list[str]:
    """The words of a text as BPE sees them: ``It's two`` gives ``It``, ``'s`` and ``␣two`` (␣ is the blank)."""
    return regex.findall(pattern, text)


def merges(text: str, pattern: str = SPLIT_PATTERN) -> Iterator[Merge]:
    """Learn byte-pair merges from a text; the caller stops when the vocabulary is large enough.

    The iterator ends by itself when every word has become one token, at once if the text is empty.
    A step costs as much as the merged pair has places, not as much as the text is long.
    """
    row = _Row(split(well_formed(text), pattern))
    # A pair's places are all made in one step, by the younger of its two tokens, and afterwards only vanish. So an
    # entry of the heap may promise too much but never too little: it is enough to look again when it is at the top.
    heap = [row.standing(pair) for pair in row.counts]
    heapify(heap)
    tokens = [bytes([byte]) for byte in range(BYTES)]
    while heap:
        promised = heappop(heap)
        *_, pair = promised
        if not row.counts.get(pair):
            continue
        if (standing := row.standing(pair)) != promised:
            heappush(heap, standing)
            continue
        new = len(tokens)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        yield Merge(id=new, pair=pair, token=tokens[new], count=row.counts[pair])
        for born in row.join(pair, new):
            if row.counts[born]:
                heappush(heap, row.standing(born))


class _Row:
    """Each different word once, in one long row with gaps between, and where in it each pair of neighbours stands."""

    def __init__(self, words: list[str]):
        self.symbols, self.weights = [_NOTHING], [0]  # a token, and how often the word that it belongs to occurs
        for word, count in Counter(words).items():
            encoded = word.encode()
            self.symbols += [*encoded, _NOTHING]
            self.weights += [count] * len(encoded) + [0]
        self.left = list(range(-1, len(self.symbols) - 1))
        self.right = list(range(1, len(self.symbols) + 1))
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        self.places: defaultdict[Pair, list[int]] = defaultdict(list)  # ascending; some no longer hold the pair
        for place, pair in enumerate(pairwise(self.symbols)):
            if _NOTHING not in pair:
                self.counts[pair] += self.weights[place]
                self.places[pair].append(place)

    def standing(self, pair: Pair) -> tuple[int, int, Pair]:
        """The pair's place in the contest, smallest first: by count, then by where it is first met."""
        (a, b), places = pair, self.places[pair]
        gone = 0
        while self.symbols[places[gone]] != a or self.symbols[self.right[places[gone]]] != b:
            gone += 1
        del places[:gone]
        return -self.counts[pair], places[0], pair

    def join(self, pair: Pair, new: int) -> list[Pair]:
        """Put ``new`` wherever the pair stands, from the left, and recount around it; return the pairs that came up."""
        symbols, left, right, counts, places = self.symbols, self.left, self.right, self.counts, self.places
        a, b = pair
        born = {}
        for here in places.pop(pair):
            there = right[here]
            if symbols[here] != a or symbols[there] != b:
                continue
            before, after, weight = left[here], right[there], self.weights[here]
            symbols[here], symbols[there] = new, _NOTHING
            right[here], left[after] = after, here
            if (x := symbols[before]) != _NOTHING:
                counts[x, a] -= weight
                counts[x, new] += weight
                places[x, new].append(before)
                born[x, new] = None
            if (y := symbols[after]) != _NOTHING:
                counts[b, y] -= weight
                counts[new, y] += weight
                places[new, y].append(here)
                born[new, y] = None
        del counts[pair]
        return list(born)
