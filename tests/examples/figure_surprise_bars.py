"""A text that is possible, and its words in two orders that are not."""

from math import inf, nan

from gptlab import figures


def example():
    text = (
        ["The", " cat", " saw", " the", " cat", "."],
        [1.9, 2.2, 1.1, 0.2, 0.7, 0.1],
        [1.8, 2.3, 1.0, 0.1, 0.7, 0.0],
    )
    others = [
        (["The", " saw", " cat", " the", " cat", "."], [1.9, 9.2, 6.1, 3.3, 1.9, 0.4], [1.8, inf, nan, nan, nan, nan]),
        (["The", " cat", " the", " saw", " cat", "."], [1.9, 2.2, 7.4, 6.8, 5.2, 0.9], [1.8, 2.3, inf, nan, nan, nan]),
    ]
    return figures.surprise_bars(figures.Scored(*text), [figures.Scored(*other) for other in others])
