"""A sentence and its words scrambled, scored word by word."""

from gptlab import apps, world
from tests.examples._model import untrained


def example():
    return apps.score_words(*untrained(), "There was once a guard.", truth=world)
