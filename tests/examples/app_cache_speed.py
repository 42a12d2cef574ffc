"""Speeds at three lengths, and a button that measures them on this machine."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.cache_speed(untrained()[0], {"lengths": [8, 16, 32], "kept": [900, 880, 850], "anew": [600, 400, 200]})
