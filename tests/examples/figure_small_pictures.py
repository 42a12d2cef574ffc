"""A small picture, its rows' differences, and an empty cell."""

import numpy as np

from gptlab import figures


def example():
    picture = np.add.outer(np.arange(3), np.arange(4)) % 4
    return figures.small_pictures({"picture": picture, "difference": np.diff(picture, axis=0), "one": [[np.nan, 2]]})
