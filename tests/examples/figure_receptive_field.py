"""Three layers of 3, with and without strides."""

from gptlab import figures


def example():
    return figures.receptive_field({"1 1 1": [(3, 1)] * 3, "2 1 2": [(3, 2), (3, 1), (3, 2)]}, shown="2 1 2")
