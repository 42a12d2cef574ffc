"""What the sliders leave of the first word of a story."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.sampling_cut(*untrained(), "")
