"""Every head's map of what is typed; one is enlarged by the slider or a click."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.all_heads(*untrained(), "The cat saw the cat")
