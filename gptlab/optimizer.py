"""Optimizer: AdamW, the learning rate along the way, and a bound on the length of the gradient.

AdamW is written out so that it can be read beside its formula, and so that its state is plain tensors that a checkpoint
can hold. It gives what `torch.optim.AdamW` gives, without that module's import of the compiler at the first step.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor


class AdamW:
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2), for gradients g at step t:

        m = β₁·m + (1 − β₁)·g          v = β₂·v + (1 − β₂)·g²
        θ = θ − η·λ·θ − η · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)

    The two divisions are drawn out of the fraction, as Kingma & Ba 2015 do at the end of section 2: so each number is
    read fewer times. λ applies to matrices only: pulling biases and the scales of a LayerNorm towards 0 has no use.
    `first` and `second` are m and v, one tensor for each parameter; `steps` is t.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        *,
        betas: tuple[float | int, float | int] = (0.9, 0.95),
        weight_decay: float | int = 0.1,
        epsilon: float = 1e-8,
    ):
        self.parameters = list(parameters)
        self.betas, self.weight_decay, self.epsilon = betas, weight_decay, epsilon
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.steps = 0

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor], learning_rate: float | int) -> None:
        """Move every parameter once, in place."""
        self.steps += 1
        beta1, beta2 = self.betas
        unbias1, root_unbias2 = 1 - beta1**self.steps, math.sqrt(1 - beta2**self.steps)
        for p, g, m, v in zip(self.parameters, gradients, self.first, self.second, strict=True):
            m.lerp_(g, 1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            if p.ndim >= 2:
                p.mul_(1 - learning_rate * self.weight_decay)
            p.addcdiv_(m, v.sqrt().add_(self.epsilon * root_unbias2), value=-learning_rate * root_unbias2 / unbias1)


def cosine_schedule(step: int, *, peak: float | int, final: float | int, warmup: int, decay: int) -> float:
    """The learning rate of step 0, 1, 2, …: a linear rise to `peak`, then half a cosine down to `final`.

    Step i of the rise has peak·(i + 1)/(warmup + 1), so that no step is lost to a rate of 0 and the peak itself comes
    at step `warmup`. From step `decay` on the rate is `final`. Source: Loshchilov & Hutter 2017 (SGDR), equation 5.
    """
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    if step >= decay:
        return float(final)
    progress = (step - warmup) / (decay - warmup)
    return final + (peak - final) * (1 + math.cos(math.pi * progress)) / 2


def clip_by_norm(gradients: Sequence[Tensor], limit: float | int | None) -> float:
    """Scale the gradients in place so that together they are no longer than `limit`; gives their length before that."""
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients])).item()
    if limit is not None and norm > limit:
        for g in gradients:
            g.mul_(limit / norm)
    return norm
