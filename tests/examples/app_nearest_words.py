"""The neighbours of what is typed."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.nearest_words(*untrained(), "dog", others=["red", "garden"], n=5)
