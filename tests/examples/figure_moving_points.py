"""Points that run into one of two valleys, and on a sphere together."""

import numpy as np

from gptlab import figures


def example():
    times = np.arange(11) / 10
    start = np.stack([np.linspace(-1.9, 1.9, 8), np.cos(np.arange(8))], 1)
    goal = np.stack([np.sign(start[:, 0]), np.zeros(8)], 1)
    x = np.linspace(-2.05, 2.05, 31)
    valleys = (x**2 - 1) ** 2 + 2 * x[:, None] ** 2
    share = 1 - np.exp(-4 * times)[:, None, None]
    angle, height = np.pi * np.arange(8) / 4 * (1 - share[..., 0]), np.linspace(-0.9, 0.9, 8) * (1 - share[..., 0])
    wide = np.sqrt(1 - height**2)
    sphere = np.stack([wide * np.cos(angle), wide * np.sin(angle), height], -1)
    return figures.moving_points(
        times,
        {"two valleys": start + share * (goal - start), "a sphere": sphere},
        groups=["left", "right"] * 4,
        grounds={"two valleys": valleys},
    )
