"""A hidden word before "was calm": four words may stand there, until what stands behind the gap is read."""

from gptlab import figures


def example():
    model = {0: [0.5, 0.25, 0.15, 0.1], 1: [0.05, 0.55, 0.35, 0.05], 2: [0.01, 0.97, 0.01, 0.01]}
    truth = {0: [0.56, 0.2, 0.14, 0.1], 1: [0, 0.58, 0.42, 0], 2: [0, 1, 0, 0]}
    labels, before, after = [" His", " He", " There"], [" quiet", " hotel", "."], [" was", " calm"]
    return figures.gap_bars(labels, model, before=before, after=after, truth=truth, n_others=97, k=1, still=True)
