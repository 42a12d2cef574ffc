"""A contraction as linguists cut it, by labels alone, and as GPT-2 does."""

from gptlab import figures
from gptlab.tokenizer import Tokenizer


def example():
    return figures.token_strips({"linguists": ["do", "n't"], "GPT-2": Tokenizer.gpt2().pieces("don't 👍")})
