"""A model that has learned nothing, small enough to be made in every example."""

from functools import cache

import torch

from gptlab.config import GPTConfig
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer


@cache
def untrained(context_length: int = 32) -> tuple[GPT, Tokenizer]:
    """Two layers, two heads; its weights are large enough that pictures are not all alike."""
    tok = Tokenizer.small_world()
    torch.manual_seed(0)
    model = GPT(GPTConfig(tok.vocab_size, context_length, n_layers=2, n_heads=2, d_model=16))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)
    return model, tok
