"""Cosine similarities of five vectors in the plane."""

import numpy as np

from gptlab import figures


def example():
    angles = np.array([0.0, 0.2, 1.6, 1.8, 3.0])
    words = [" dog", " cat", " red", " blue", " ran"]
    similarity = np.cos(angles[:, None] - angles)
    return figures.matrix_heatmap(similarity, words, words, name="cosine", diverging=True)
