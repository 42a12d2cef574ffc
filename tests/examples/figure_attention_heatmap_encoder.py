"""An encoder's: nothing is masked, and a token may look at later ones."""

from gptlab import figures


def example():
    weights = [
        [0.40, 0.50, 0.05, 0.05],
        [0.10, 0.10, 0.75, 0.05],
        [0.05, 0.60, 0.20, 0.15],
        [0.05, 0.15, 0.70, 0.10],
    ]
    return figures.attention_heatmap(weights, ["[CLS]", "the", "cat", "[SEP]"])
