"""Steps down a valley at three learning rates: too small, right, too large."""

import numpy as np

from gptlab import figures


def example():
    x, y = np.linspace(-2, 2, 41), np.linspace(-1, 1, 41)
    heights = (x**2 + 20 * y[:, None] ** 2) / 2
    paths = {rate: {"gradient descent": [(2 * (1 - rate) ** n * 0.9, 0.8 * (1 - 20 * rate) ** n) for n in range(20)]}
             for rate in (0.01, 0.09, 0.11)}  # fmt: skip
    return figures.descent_paths(x, y, heights, paths, learning_rate=0.09)
