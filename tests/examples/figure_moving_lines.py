"""Operations of a layer over the length of a text, for a width that a slider chooses."""

import numpy as np

from gptlab import figures


def example():
    n = np.array([16, 64, 256, 1024])
    views = {d: {"attention": n * n * d, "recurrence": n * d * d} for d in (64, 256)}
    return figures.moving_lines(n, views, control="width", x_name="tokens", y_name="operations", log_x=True, log_y=True)
