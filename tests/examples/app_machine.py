"""From the prompt to the text."""

from gptlab import apps, world
from tests.examples._model import untrained


def example():
    return apps.Machine(*untrained(), "The cat saw the cat", truth=world, max_new_tokens=8)
