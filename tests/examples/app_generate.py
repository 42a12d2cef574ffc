"""A text that grows."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.generate(*untrained(), "The cat", max_new_tokens=8)
