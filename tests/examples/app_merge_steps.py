"""What byte-pair encoding learns from a line, merge by merge."""

from gptlab import apps


def example():
    return apps.merge_steps("she sells sea shells", merges=3)
