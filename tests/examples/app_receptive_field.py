"""Four layers of 3, every other one with stride 2."""

from gptlab import apps


def example():
    return apps.receptive_field()
