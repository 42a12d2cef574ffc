"""Two layers with three heads, each looking at another distance back, before and after they have learned it."""

import numpy as np

from gptlab import figures


def example():
    tokens = ["the", "␣cat", "␣saw", "␣the", "␣cat"]
    even = np.tri(5) / np.arange(1, 6)[:, None]
    learned = np.zeros((2, 3, 5, 5))
    for layer in range(2):
        for head in range(3):
            for query in range(5):
                learned[layer, head, query, max(query - head, 0)] += 0.8 - 0.3 * layer
                learned[layer, head, query, 0] += 0.2 + 0.3 * layer
    return figures.head_grid({"before": np.tile(even, (2, 3, 1, 1)), "after": learned}, tokens)
