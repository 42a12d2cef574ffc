"""A translation by a model that has learned nothing, with the rings of the right one."""

from functools import cache

import torch

from gptlab import apps
from gptlab.config import GPTConfig
from gptlab.relatives.encoder_decoder import EncoderDecoder
from gptlab.relatives.translator import Translator, velumi_tokenizer
from gptlab.tokenizer import Tokenizer


@cache
def translator() -> Translator:
    shape = {"context_length": 12, "n_layers": 1, "n_heads": 2, "d_model": 16}
    torch.manual_seed(0)
    source = GPTConfig(Tokenizer.small_world().vocab_size, causal=False, **shape)
    model = EncoderDecoder(source, GPTConfig(velumi_tokenizer().vocab_size, **shape))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)
    return Translator(model.eval())


def example():
    return apps.translation(translator(), "Tom Baker lived in the old meadow.")
