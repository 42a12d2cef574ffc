"""A loss that falls towards the floor."""

import numpy as np

from gptlab import figures


def example():
    steps = np.arange(200)
    loss = 1.2 + 4 * np.exp(-steps / 40) + 0.05 * np.sin(steps)
    validation = np.where(steps % 50 == 0, loss + 0.05, np.nan)
    return figures.loss_curve(steps, loss, validation, floor=1.2)
