"""Cross-entropy of three models as entropy and Kullback–Leibler divergence, stacked."""

from gptlab import figures


def example():
    bars = {"entropy": [0.73, 0.73, 0.73], "KL": [4.1, 1.2, 0.02]}
    return figures.bar_chart(["unigram", "trigram", "GPT"], bars, y_name="nats per token", stacked=True)
