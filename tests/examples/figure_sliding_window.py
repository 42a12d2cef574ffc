"""An average and an edge filter over a picture of 5 × 5, with zeros around it."""

import numpy as np

from gptlab import figures


def example():
    picture = 9 * np.tri(5)
    filters = {"average": np.full((3, 3), 1 / 9), "edge": [[-1, 0, 1]] * 3}
    return figures.sliding_window(picture, filters, padding="same", step=6)
