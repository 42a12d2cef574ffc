"""The tokens of what is typed."""

from gptlab import apps
from gptlab.tokenizer import Tokenizer


def example():
    return apps.token_strip(Tokenizer.gpt2(), "the cat saw the cat")
