"""Model, the model at temperatures from 0.5 to 2, and the truth, for a vocabulary of four."""

import numpy as np

from gptlab import figures


def example():
    logits = np.array([2.0, 1.0, 0.5, -1.0])
    after = {temperature: softmax(logits / temperature) for temperature in (0.5, 1.0, 2.0)}
    truth = [0.5, 0.5, 0.0, 0.0]
    labels = ["␣cat", "␣dog", "␣tree", "."]
    return figures.next_token_bars(softmax(logits), labels, after=after, truth=truth, n=3)


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum()
