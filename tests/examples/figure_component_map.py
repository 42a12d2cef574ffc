"""Points in space that can be turned, in two groups, one of them found."""

from gptlab import figures


def example():
    points = [[1, 0.2, 0.5], [1.2, 0.4, -0.3], [0.9, -0.1, 0.1], [-1, 0.5, 0.6], [-0.8, 0.1, -0.9], [-1.1, -0.4, 0.2]]
    words = ["dog", "cat", "horse", "red", "green", "grey"]
    return figures.component_map(points, words, ["animal"] * 3 + ["colour"] * 3, search="gre")
