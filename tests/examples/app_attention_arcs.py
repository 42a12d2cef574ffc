"""The arcs of an untrained model."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.attention_arcs(*untrained(), "The cat saw the cat")
