"""What each layer of a model that has learned nothing would say next."""

from gptlab import apps
from tests.examples._model import untrained


def example():
    return apps.logit_lens(*untrained(), "The cat saw the cat")
