"""Boxes that silence heads, above the next token and the loss on two short stories."""

import torch

from gptlab import apps
from gptlab.corpus import Batch, HeldOut
from tests.examples._model import untrained


def example():
    model, tok = untrained()
    ids = torch.tensor([tok.encode(text) for text in ("The cat saw the dog.", "The dog saw the cat.")])
    return apps.ablate_heads(model, tok, "The cat saw the cat", HeldOut([Batch(ids[:, :-1], ids[:, 1:])], floor=1.0))
