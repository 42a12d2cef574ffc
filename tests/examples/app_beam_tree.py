"""The likeliest beginnings of a story, for a model that has learned nothing."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.beam_tree(*untrained(), "", max_new_tokens=3, width=2)
