"""What comes after what is typed, and what the small world says."""

from gptlab import apps, world
from tests.examples._model import untrained


def example():
    return apps.next_token(*untrained(), "", truth=world)
