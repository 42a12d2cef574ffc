"""Perplexity that falls with the length of the context, above the floor."""

from gptlab import figures


def example():
    lines = {"training": [230, 31, 8.2, 3.9, 2.4], "held out": [232, 33, 11.5, 9.1, 12.7]}
    return figures.line_chart([1, 2, 3, 4, 5], lines, x_name="n", y_name="perplexity", levels={"floor": 2.1})
