"""One query of an untrained model, step by step."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.attention_steps(*untrained(), "The cat saw the cat")
