"""An edge filter and the largest of 2 × 2, over a picture of 4 × 4."""

import numpy as np

from gptlab import apps


def example():
    return apps.sliding_window(9 * np.tri(4), {"edge": [[-1, 0, 1]] * 3, "largest of 2 × 2": 2})
