"""One text, two tokenizers."""

from gptlab import apps
from gptlab.tokenizer import Tokenizer


def example():
    toks = {"GPT-2": Tokenizer.gpt2(), "small world": Tokenizer.small_world()}
    return apps.token_strips(toks, "The dragon's cat 👍")
