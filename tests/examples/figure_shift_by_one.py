"""What is read and what is asked for, in a sentence of five tokens."""

from gptlab import figures


def example():
    return figures.shift_by_one(["The", "␣cat", "␣saw", "␣the", "␣dog"], [3.1, 1.2, 0.7, 2.4], position=1)
