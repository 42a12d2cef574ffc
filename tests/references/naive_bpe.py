"""Byte-pair encoding as one would write it on the first day: recount everything before each merge."""

import regex

GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def naive_merges(text, limit, pattern=GPT2):
    """Up to ``limit`` merges as (pair of ids, bytes, count): most frequent, then met first; joined from the left."""
    words = [list(word.encode("utf-8")) for word in regex.findall(pattern, text)]
    spelling = {byte: bytes([byte]) for byte in range(256)}
    steps = []
    while len(steps) < limit:
        counts = {}
        for word in words:
            for k in range(len(word) - 1):
                pair = (word[k], word[k + 1])
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = None
        for pair in counts:  # a dict keeps the order in which its keys were first met
            if best is None or counts[pair] > counts[best]:
                best = pair
        new = 256 + len(steps)
        spelling[new] = spelling[best[0]] + spelling[best[1]]
        steps.append((best, spelling[new], counts[best]))
        words = [naive_join(word, best, new) for word in words]
    return steps


def naive_join(word, pair, new):
    joined = []
    k = 0
    while k < len(word):
        if k + 1 < len(word) and (word[k], word[k + 1]) == pair:
            joined.append(new)
            k += 2
        else:
            joined.append(word[k])
            k += 1
    return joined


def naive_encode(text, steps, pattern=GPT2):
    """Ids of a text under learned merges: in each word, apply the merges one after another in the order of learning."""
    ids = []
    for word in regex.findall(pattern, text):
        symbols = list(word.encode("utf-8"))
        for rank, (pair, _, _) in enumerate(steps):
            symbols = naive_join(symbols, pair, 256 + rank)
        ids.extend(symbols)
    return ids
