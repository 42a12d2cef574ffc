"""What a model foretells that reads one word, two or four."""

from gptlab import apps, world
from tests.examples._model import untrained


def example():
    model, tok = untrained()
    return apps.last_words(lambda ids, k: model(ids[:, -k:])[0, -1], tok, "There was once a", ks=(1, 2, 4), truth=world)
