"""A model that is about to be trained on a few stories."""

from gptlab import apps
from gptlab.corpus import StoryCorpus
from gptlab.world import ENGLISH_WORLD
from tests.examples._model import untrained


def example():
    model, tok = untrained(192)
    data = StoryCorpus(ENGLISH_WORLD, tok, tokens_per_batch=64, held_out_stories=2)
    return apps.training(model, tok, data, 6, prompt="The cat saw the cat", look_every=2)
