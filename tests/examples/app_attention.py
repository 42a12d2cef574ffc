"""Every head's attention to what is typed."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.attention(*untrained(), "The cat saw the cat")
