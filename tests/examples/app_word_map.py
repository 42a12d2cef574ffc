"""Words of three categories on a map that can be turned and searched."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    groups = {"animal": ["dog", "cat", "horse"], "colour": ["red", "green"], "place": ["garden", "tower", "cave"]}
    return apps.word_map(*untrained(), groups, search="gar")
