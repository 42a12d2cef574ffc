"""Top-p 0.6 of five tokens, with a slider for three values of it."""

import numpy as np

from gptlab import figures
from gptlab.figures.cuts import Setting

P = np.array([0.5, 0.3, 0.1, 0.06, 0.04])


def example():
    settings = [setting(p) for p in (0.5, 0.6, None)]
    labels = ["␣cat", "␣dog", "␣tree", ".", "␣the"]
    return figures.sampling_cut(P, labels, settings[1], sliders={"top-p": settings}, n=4)


def setting(top_p):
    n_kept = {0.5: 1, 0.6: 2, None: 5}[top_p]
    drawn = np.where(np.arange(5) < n_kept, P, 0)
    return Setting(1, None, top_p, P, drawn / drawn.sum())
