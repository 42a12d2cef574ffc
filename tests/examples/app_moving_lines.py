"""What is left of a gradient after so many steps that each multiply it."""

import numpy as np

from gptlab import apps


def example():
    distance = np.arange(41)
    return apps.moving_lines(
        distance,
        lambda factor: {"gradient": factor**distance},
        [0.5, 0.9, 1.0, 1.1],
        start=0.9,
        control="factor",
        x_name="steps back",
        y_name="gradient",
        log_y=True,
        y_range=(1e-6, 1e3),
    )
