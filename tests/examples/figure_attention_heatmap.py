"""One head of five tokens, two of them equal."""

from gptlab import figures


def example():
    weights = [
        [1.00, 0.00, 0.00, 0.00, 0.00],
        [0.30, 0.70, 0.00, 0.00, 0.00],
        [0.05, 0.75, 0.20, 0.00, 0.00],
        [0.60, 0.10, 0.10, 0.20, 0.00],
        [0.04, 0.80, 0.06, 0.05, 0.05],
    ]
    return figures.attention_heatmap(weights, ["the", "␣cat", "␣saw", "␣the", "␣cat"])
