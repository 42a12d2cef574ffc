"""A hidden word, found by an encoder that has learned nothing, beside the truth."""

from functools import cache

import torch

from gptlab import apps, world
from gptlab.config import GPTConfig
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer


@cache
def encoder() -> tuple[GPT, Tokenizer]:
    tok = Tokenizer.small_world()
    torch.manual_seed(0)
    model = GPT(GPTConfig(tok.vocab_size, 32, n_layers=1, n_heads=2, d_model=16, causal=False))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)
    return model, tok


def example():
    text = "Leo Hall lived in the quiet hotel. _ was calm"
    return apps.hidden_word(*encoder(), text, truth=world.ENGLISH_WORLD)
