"""A vector of five numbers and what LayerNorm makes of it."""

from gptlab import apps


def example():
    return apps.layer_norm([1.2, -0.4, 0.3, 2.0, -1.1])
