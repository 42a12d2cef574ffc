"""Attention that is there already, as an array of one layer with two heads: of a translation to another text."""

import numpy as np

from gptlab import apps


def example():
    straight = np.full((4, 5), 0.05)
    straight[range(4), [0, 2, 1, 4]] = 0.8
    return apps.attention(
        [[straight, np.full((4, 5), 0.2)]], "le chat noir dort".split(), keys="the black cat is asleep".split()
    )
