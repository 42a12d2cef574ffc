"""What softmax takes, with -inf where a token may not look."""

import numpy as np

from gptlab import figures


def example():
    scores = np.array([[1.0, -np.inf, -np.inf], [0.5, 2.0, -np.inf], [-1.0, 0.0, 0.5]])
    return figures.attention_heatmap(scores, ["the", "␣cat", "␣saw"], values="scores")
