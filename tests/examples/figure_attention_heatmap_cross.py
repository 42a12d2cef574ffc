"""Cross-attention: the tokens of a translation look at those of another text, in another order."""

from gptlab import figures


def example():
    weights = [
        [0.90, 0.04, 0.03, 0.02, 0.01],
        [0.05, 0.10, 0.80, 0.03, 0.02],
        [0.04, 0.85, 0.06, 0.03, 0.02],
        [0.02, 0.03, 0.05, 0.60, 0.30],
    ]
    return figures.attention_heatmap(
        weights, ["le", "chat", "noir", "dort"], keys=["the", "black", "cat", "is", "asleep"]
    )
