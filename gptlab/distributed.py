"""Distributed training: several processes that torchrun has started take the steps of one.

Each process holds the whole model and draws the whole batch, which is a function of the seed and the step, and works on
its share of the rows. torch's DistributedDataParallel makes the gradients the same everywhere, so all take the same
step. One of them, the leader, alone validates, writes checkpoints and speaks.

    torchrun --nproc-per-node 2 -m gptlab train …

Axes: B batch, T tokens.
"""

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from gptlab._refuse import refuse
from gptlab.corpus import Batch
from gptlab.loss import batch_loss


class Team:
    """The processes of a run, seen by one of them: `rank` counts from 0, the leader, up to `size` - 1."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.size, self.device = distributed.get_rank(), distributed.get_world_size(), device

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def of_leader(self, value: Any) -> Any:
        """The leader's value, in every process."""
        values = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]

    def anyone(self, wishes: bool) -> bool:
        """Whether at least one process wishes it: the same answer in every process."""
        wish = torch.tensor(float(wishes), device=self.device)
        with _all_are_there():
            distributed.all_reduce(wish, distributed.ReduceOp.MAX)
        return bool(wish)

    def copy_leader(self, tensors: Iterable[Tensor]) -> None:
        """Put the leader's numbers into the tensors of every process."""
        for tensor in tensors:
            distributed.broadcast(tensor.detach(), src=0)


@contextmanager
def joined(device: torch.device) -> Iterator[Team | None]:
    """The team that this process belongs to, inside the block; None where torchrun has not started it.

    Processes speak by nccl where `device` is a GPU, each with one of its own, and by gloo elsewhere.
    """
    if not distributed.is_torchelastic_launched():
        yield None
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(device)
        distributed.barrier()  # nobody leaves while another still speaks
        gc.collect()  # a replica is a cycle of references: left alive, it would hold the group's threads past the end
    finally:
        distributed.destroy_process_group()


class Replica:
    """A process's copy of the model that they train together."""

    def __init__(self, model: nn.Module, team: Team) -> None:
        self.team, self.model = team, DistributedDataParallel(model)

    def loss_and_gradients(
        self, batch: Batch, parameters: Sequence[Tensor], autocast: AbstractContextManager
    ) -> tuple[float, list[Tensor]]:
        """Mean loss and gradients of the whole batch, the same in every process; each reads every size-th row.

        ValueError for a batch with fewer rows than processes; ConnectionError when another process is gone.
        """
        rank, size = self.team.rank, self.team.size
        if len(batch.inputs) < size:
            raise refuse("the rows of a batch", len(batch.inputs), f"at least one for each of the {size} processes")
        share = Batch(*(part[rank::size] for part in batch))
        with _all_are_there():
            with autocast:
                # Summed and divided by all targets: shares with more padding than others count no more for it.
                loss = batch_loss(self.model, share, "sum") / batch.n_targets
            (loss * size).backward()  # DistributedDataParallel takes the mean over the processes, we want the sum
            total = loss.detach()
            distributed.all_reduce(total)
        gradients = [p.grad for p in parameters]
        for p in parameters:
            p.grad = None
        return total.item(), gradients


@contextmanager
def _all_are_there() -> Iterator[None]:
    """Inside the block, a process that cannot be spoken to any more is a ConnectionError."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, distributed.DistError) or "gloo" in str(error):  # gloo has no type of its own
            raise ConnectionError("another process of this run is gone") from error
        raise
