"""A loss that falls, and three looks on the way: the text finds its words, the head its token."""

import numpy as np

from gptlab import figures
from gptlab.figures.films import Curves, Frame


def example():
    steps = np.arange(1, 101)
    loss = 1.2 + 4 * np.exp(-steps / 20)
    val_loss = np.where(steps % 25 == 0, loss + 0.1, np.nan)
    rate = 0.01 * np.minimum(steps / 10, np.cos(steps / 75))
    curves = Curves(steps, loss, val_loss, np.full(100, 1.2), rate)
    texts = {0: " door seven the the", 50: " the cat in the", 100: " the garden."}
    spread = np.tri(4) / np.arange(1, 5)[:, None]
    frames = [Frame(step, text, (1 - step / 100) * spread + step / 100 * np.eye(4)) for step, text in texts.items()]
    return figures.training_film(curves, frames, "The cat saw", ["The", "␣cat", "␣saw", "␣the"])
