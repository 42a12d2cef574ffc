"""Cross-attention, and rings around the words that belong together."""

from gptlab import figures


def example():
    weights = [[0.90, 0.05, 0.05], [0.10, 0.15, 0.75], [0.60, 0.30, 0.10]]
    return figures.attention_heatmap(
        weights, ["le", "chat", "noir"], keys=["the", "black", "cat"], marks=[(0, 0), (1, 2), (2, 1)]
    )
