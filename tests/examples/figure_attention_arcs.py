"""Two layers with two heads over five tokens, two of them equal; sliders in the browser alone."""

import numpy as np

from gptlab import figures


def example():
    weights = np.zeros((2, 2, 5, 5))
    for layer in range(2):
        for head in range(2):
            for query in range(5):
                weights[layer, head, query, max(query - 1 - 2 * head, 0)] += 0.7 - 0.3 * layer
                weights[layer, head, query, query] += 0.3 + 0.3 * layer
    return figures.attention_arcs(weights, ["the", "␣cat", "␣saw", "␣the", "␣cat"], head=1)
