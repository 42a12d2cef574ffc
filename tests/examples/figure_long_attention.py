"""Two texts in a row, whose tokens look at the one before and at the same place in the other text."""

import numpy as np

from gptlab import figures


def example():
    weights = np.zeros((24, 24))
    for query in range(24):
        weights[query, max(query - 1, 0)] += 0.6
        weights[query, query - 12 if query >= 12 else 0] += 0.4
    tokens = "The cat saw the dog and the dog saw the cat .".split() * 2
    return figures.long_attention(weights, tokens, {"first text": (0, 12), "second text": (12, 24)}, block=4)
