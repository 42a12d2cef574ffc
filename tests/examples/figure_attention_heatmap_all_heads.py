"""Two layers with three heads, each looking at another distance back; sliders in the browser alone."""

import numpy as np

from gptlab import figures


def example():
    tokens = ["the", "␣cat", "␣saw", "␣the", "␣cat"]
    weights = np.zeros((2, 3, 5, 5))
    for layer in range(2):
        for head in range(3):
            for query in range(5):
                weights[layer, head, query, max(query - head, 0)] += 0.8 - 0.3 * layer
                weights[layer, head, query, 0] += 0.2 + 0.3 * layer
    return figures.attention_heatmap(weights, tokens, layer=1, head=2)
