"""GPT-2's tokens of a sentence; the emoji takes two of them."""

from gptlab import figures
from gptlab.tokenizer import Tokenizer


def example():
    return figures.token_strip(Tokenizer.gpt2().pieces("I 👍 it,\nreally."))
