"""What a training will cost, found by trying one step without taking it."""

from math import ceil
from time import perf_counter
from typing import NamedTuple

import torch

from gptlab.corpus import Corpus
from gptlab.loss import batch_loss, mean_loss
from gptlab.model import GPT, evaluation_mode

# Of each weight there are at the same time: the weight, its gradient, AdamW's two moments, and where it began.
COPIES = 5


class Cost(NamedTuple):
    """Of one step and of one validation, in seconds; of the whole training, in bytes."""

    step: float
    validation: float
    memory: int

    def seconds(self, steps: int, validate_every: int) -> float:
        """Of a training of so many steps."""
        return steps * self.step + ceil(steps / validate_every) * self.validation


def try_step(model: GPT, data: Corpus) -> Cost:
    """Time a step on the first batch and count the bytes that it keeps; the weights stay as they are."""
    batch = data.batch(0)
    parameters = list(model.parameters())
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with evaluation_mode(model):
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = batch_loss(model, batch)
        torch.autograd.grad(loss, parameters)  # the first only warms up
        began = perf_counter()
        torch.autograd.grad(batch_loss(model, batch), parameters)
        step, validation = perf_counter() - began, 0.0
        if data.held_out is not None:
            began = perf_counter()
            mean_loss(model, data.held_out.batches[:1])
            validation = (perf_counter() - began) * len(data.held_out.batches)
    memory = COPIES * sum(p.untyped_storage().nbytes() for p in parameters) + sum(kept.values())
    return Cost(step, validation, memory)
