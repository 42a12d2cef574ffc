"""Three tokens, two components a head, all five steps of the second."""

from gptlab import figures


def example():
    q = [[1.0, 0.0], [0.5, 1.0], [2.0, 1.0]]
    k = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]
    v = [[1.0, -1.0], [0.0, 2.0], [3.0, 0.5]]
    return figures.attention_steps(q, k, v, ["the", "␣cat", "␣saw"], query=1, step=5)
