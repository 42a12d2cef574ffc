"""Loss: how surprised the model is by what comes next, in nats per token.

The output at position t stands before token t+1, so logits and ids are compared shifted by one. The loss of a text is
the sum −Σ_t log P(x_{t+1} | x_0 … x_t) (Radford et al. 2018, equation 1); its mean over the positions is what training
curves show, and `exp` of that mean is the perplexity.

Axes: B batch, T tokens, V vocabulary, d model width.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gptlab._refuse import refuse
from gptlab.corpus import IGNORE, Batch
from gptlab.model import GPT

_REDUCTIONS = ("mean", "sum", "none")
_ROWS_AT_ONCE = 512  # of logits: more leave the processor's own memory, fewer make its matrix products slow


def next_token_loss(
    logits: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"], reduction: str = "mean"
) -> Float[Tensor, ""] | Float[Tensor, "B T-1"]:
    """Cross-entropy of the next token: `ids[:, 1:]` predicted from `logits[:, :-1]`, in nats.

    A target of -100 (`gptlab.corpus.IGNORE`) is not counted: padding, or a prompt that is given and not learned.
    "mean" is over the counted targets, "sum" too; "none" gives each position of each row, 0 where ignored.
    No target of one row is predicted from another row. Logits in half precision are read as float32.

    Raises ValueError for ids without a next token, for a target outside the vocabulary (with its place), and for a mean
    over no target at all. Source: Radford et al. 2018 (GPT-1), equation 1, which is the "sum".
    """
    if reduction not in _REDUCTIONS:
        raise refuse("reduction", reduction, "one of 'mean', 'sum', 'none'")
    if ids.shape[1] < 2:
        raise refuse(
            "ids", tuple(ids.shape), "of shape (B, T) with at least two tokens: the second is the first target"
        )
    targets = ids[:, 1:].long()
    _check_targets(targets, logits.shape[2], lambda row, place: f"the target ids[{row}, {place + 1}]")
    if reduction == "mean" and bool((targets == IGNORE).all()):
        raise refuse("ids", f"of shape {tuple(ids.shape)}, every target {IGNORE}", "such that some target counts")
    return _cross_entropy(logits[:, :-1], targets, reduction)


def batch_loss(model: nn.Module, batch: Batch, reduction: str = "mean") -> Float[Tensor, ""]:
    """The loss on a batch of a model that turns (B,T) ids into (B,T,V) logits, over the targets that count.

    reduction: "mean" or "sum". Of a GPT no logits are made where no target counts, and none are kept.
    """
    if not _computes_as_written(model):
        logits = model(batch.inputs)
        _check_targets(batch.targets, logits.shape[2], lambda row, place: f"targets[{row}, {place}]")
        return _cross_entropy(logits, batch.targets, reduction)
    _check_targets(batch.targets, model.config.vocab_size, lambda row, place: f"targets[{row}, {place}]")
    x, targets = model.hidden(batch.inputs).flatten(0, 1), batch.targets.flatten()
    counted = (targets != IGNORE).nonzero().flatten()
    if len(counted) < len(targets):
        x, targets = x.index_select(0, counted), targets[counted]
    total = _UnembeddedLoss.apply(x, model.output_vectors, targets, torch.is_grad_enabled())
    return total / len(targets) if reduction == "mean" else total


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Iterable[Batch]) -> float:
    """Mean loss over every target of all batches: each token weighs the same, whatever batch it stands in."""
    total, count = 0.0, 0
    for batch in batches:
        total += batch_loss(model, batch, "sum").item()
        count += batch.n_targets
    if count == 0:
        raise refuse("batches", "without a target", "batches in which at least one target counts")
    return total / count


def scoring_windows(ids: Int[Tensor, " N"], context_length: int, *, stride: int | None = None) -> Iterator[Batch]:
    """Cut a text of any length into batches of one window, so that each token but the first is a target exactly once.

    Each window moves on by `stride` tokens (the context length, if None); what it shares with the one before is read
    again and not counted again. A smaller stride gives each target more to look back on and costs more forward passes.
    """
    stride = context_length if stride is None else stride
    if not 1 <= stride <= context_length:
        raise refuse("stride", stride, f"from 1 to the context length, {context_length}")
    scored = 0  # so many targets are behind us; the target of index i is ids[i + 1]
    while scored < len(ids) - 1:
        end = min(scored + (stride if scored else context_length), len(ids) - 1)
        start = max(0, end - context_length)
        targets = ids[start + 1 : end + 1].clone()
        targets[: scored - start] = IGNORE
        yield Batch(ids[None, start:end], targets[None])
        scored = end


def perplexity(loss: float | int) -> float:
    """exp of a mean loss in nats: among how many equally likely tokens the model hesitates.

    Average the losses of the tokens first, then take `exp` once: a mean of perplexities is another, larger number.
    A loss too large for a floating-point number (above 709) gives infinity, no error.
    """
    try:
        return math.exp(loss)
    except OverflowError:
        return math.inf


class _UnembeddedLoss(torch.autograd.Function):
    """Summed cross-entropy of the logits W·x_i, which are made some rows at a time and not kept.

    With p = softmax(W·x) the loss of a row is −ln p_t at its target t, and its gradient by the logits is p − e_t, where
    e_t is 1 at t and 0 elsewhere. So the gradients (p − e_t)·W by x and (p − e_t)ᵀ·x by W are at hand as soon as p is.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Float[Tensor, "N d"], weight: Float[Tensor, "V d"], targets: Int[Tensor, " N"], learning: bool
    ) -> Float[Tensor, ""]:
        by_x, by_weight = (torch.empty_like(x), torch.zeros_like(weight)) if learning else (x, weight)
        total = 0.0
        for rows, t, by_rows in zip(*(one.split(_ROWS_AT_ONCE) for one in (x, targets, by_x)), strict=True):
            logits = F.linear(rows, weight)
            log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
            total = total - log_p.gather(1, t[:, None]).sum()
            if learning:
                by_logits = log_p.exp_().scatter_add_(1, t[:, None], -log_p.new_ones(len(t), 1))
                by_rows.copy_(by_logits @ weight)
                by_weight += by_logits.T @ rows
        ctx.save_for_backward(by_x, by_weight)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_total: Float[Tensor, ""]) -> tuple[Tensor, Tensor, None, None]:
        by_x, by_weight = ctx.saved_tensors
        return by_x * by_total, by_weight * by_total, None, None


def _computes_as_written(model: nn.Module) -> bool:
    """Whether it is a GPT whose logits are its unembedded hidden vectors, and nobody waits for its call."""
    return type(model) is GPT and not (model._forward_hooks or model._forward_pre_hooks or "forward" in vars(model))


def _cross_entropy(logits: Float[Tensor, "B N V"], targets: Int[Tensor, "B N"], reduction: str) -> Tensor:
    exact = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = F.cross_entropy(exact.flatten(0, 1), targets.flatten(), ignore_index=IGNORE, reduction=reduction)
    return loss.view(targets.shape) if reduction == "none" else loss


def _check_targets(targets: Int[Tensor, "B N"], vocab_size: int, name: Callable[[int, int], str]) -> None:
    wrong = ((targets < 0) | (targets >= vocab_size)) & (targets != IGNORE)
    if bool(wrong.any()):
        row, place = wrong.nonzero()[0].tolist()
        would_do = f"an id from 0 to {vocab_size - 1}, or {IGNORE} for a target that does not count"
        raise refuse(name(row, place), int(targets[row, place]), would_do)
