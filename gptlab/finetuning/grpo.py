"""GRPO: learning from rewards alone, an answer being judged against the other answers to the same question.

For each question the model samples a group of answers, each gets a reward R, and its advantage is how far it is above
the group's mean. Likelier become answers with a positive advantage, less likely the others:

    maximize the mean over answers and their tokens of  min(r A, clip(r, 1 − ε, 1 + ε) A) − β KL(π‖π_ref)

r = π(o_t | q, o_<t) / π_old(o_t | q, o_<t) is the ratio of a token's probability now to the one that it was sampled
with. The ratio is clipped, not ratio × reward; and the KL is to the reference, the model that training began with.
Source: Shao et al. 2024 (DeepSeekMath), section 4.1.

Axes: Q questions, G answers to each, B = Q·G rows, T tokens.
"""

import copy
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.corpus import IGNORE, Batch
from gptlab.decoding import prompt_ids
from gptlab.finetuning._descent import Descent, descend
from gptlab.finetuning.answers import masked_batch, sample_answers, token_log_probs
from gptlab.model import GPT, evaluation_mode
from gptlab.recipe import check_whole
from gptlab.tokenizer import Tokenizer

_ROUNDING = 1e-6  # rewards that differ by no more are equal


class Asked(Protocol):
    """A question: what the model reads; a reward may look at whatever else it holds."""

    prompt: str


Reward = Callable[[Asked, str], Mapping[str, float]]


def grpo_advantages(rewards: Float[Tensor, "Q G"], *, delta: float = 1e-8) -> Float[Tensor, "Q G"]:
    """(R − mean R) / (std R + δ) within each group (a row): each row sums to 0.

    The deviation is the population's, √(mean (R − mean R)²). Where all rewards of a group are equal, or it has only
    one answer, its advantages are 0: there is nothing to choose. Source: Shao et al. 2024, section 4.1.2.
    """
    if not rewards.isfinite().all():
        raise refuse("rewards", rewards.tolist(), "finite numbers")
    exact = rewards.double()
    centred = exact - exact.mean(1, keepdim=True)
    advantages = centred / (centred.square().mean(1, keepdim=True).sqrt() + delta)
    spread = exact.amax(1, keepdim=True) - exact.amin(1, keepdim=True)
    return advantages.masked_fill(spread <= _ROUNDING, 0.0).to(rewards.dtype)


def clipped_objective(
    ratio: Float[Tensor, "*B"], advantage: Float[Tensor, "*B"], epsilon: float | int = 0.2
) -> Float[Tensor, "*B"]:
    """min(r A, clip(r, 1 − ε, 1 + ε) A): what moving a probability further than by ε adds is not counted.

    It is a lower bound of r A: a good answer pays up to 1 + ε, a bad one stops paying at 1 − ε, and a step in the wrong
    direction is counted in full. Source: Schulman et al. 2017 (PPO), equation 7.
    """
    _check_weights(epsilon, beta=0)
    return torch.minimum(ratio * advantage, ratio.clamp(1 - epsilon, 1 + epsilon) * advantage)


def kl_k3(log_probs: Float[Tensor, "*B"], reference: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """An estimate of KL(π‖π_ref) from tokens sampled from π: ρ − ln ρ − 1 with ρ = π_ref / π.

    Its mean is the divergence, it scatters less than −ln ρ, and it is never negative. Source: Schulman 2020
    ("Approximating KL divergence", the third estimator), used in Shao et al. 2024, equation 4.
    """
    log_ratio = reference - log_probs
    return log_ratio.exp() - log_ratio - 1


def grpo_loss(
    log_probs: Float[Tensor, "B T"],
    old: Float[Tensor, "B T"],
    reference: Float[Tensor, "B T"],
    advantages: Float[Tensor, " B"],
    counted: Bool[Tensor, "B T"],
    *,
    epsilon: float | int = 0.2,
    beta: float | int = 0.04,
) -> Float[Tensor, ""]:
    """The negative of GRPO's objective: the mean over a row's counted tokens, then over rows.

    log_probs: of the sampled tokens under the model that learns. old: when they were sampled. reference: under the
    model that it should stay near to. Both are constants. counted: which tokens belong to an answer. At the first
    update on fresh samples r = 1, so the value is −mean A + β KL = β KL, and 0 as long as nothing has been learned; its
    gradient is not 0. ValueError for a row without a counted token and for options out of range.
    """
    _check_weights(epsilon, beta)
    if not counted.any(1).all():
        raise refuse("counted", counted.sum(1).tolist(), "such that each row has a token that counts")
    log_probs, old, reference = (x.where(counted, 0.0) for x in (log_probs, old.detach(), reference.detach()))
    ratio = (log_probs - old).exp()
    gain = clipped_objective(ratio, advantages[:, None].expand_as(ratio), epsilon)
    per_token = gain - beta * kl_k3(log_probs, reference)
    per_row = per_token.where(counted, 0.0).sum(1) / counted.sum(1)
    return -per_row.mean()


@dataclass(frozen=True)
class GRPOStep:
    """One round: a group of answers to each question, and what was learned from them."""

    number: int  # 1, 2, …
    loss: float  # at the first update of the round
    rewards: dict[str, float]  # means over all answers, by name, before the round's updates
    kl: float  # k3 to the reference, mean over tokens, before the updates
    silent: float  # share of groups whose rewards are all equal: nothing is learned from them
    clipped: float  # share of tokens, at the last update, whose ratio is outside 1 ± ε
    gradient_norm: float  # at the first update, before clipping


def train_grpo(
    model: GPT,
    tok: Tokenizer,
    draw: Callable[[random.Random], Asked],
    reward: Reward,
    steps: int,
    *,
    questions: int = 8,
    group: int = 8,
    max_new_tokens: int = 16,
    updates: int = 2,
    learning_rate: float | int = 1e-3,
    epsilon: float | int = 0.2,
    beta: float | int = 0.04,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
) -> Iterator[GRPOStep]:
    """Train `model` in place by GRPO, one round for each `GRPOStep` that is asked for.

    A round draws `questions`, samples a `group` of answers to each at temperature 1, and makes `updates` of the weights
    from them; with one update the ratio is always 1 and nothing is ever clipped. `reward(question, answer)` gives named
    numbers, whose sum is R; the answer is text, and ends in the end-of-text mark if the model came to it.

    The reference is a copy of the model as it is now; to resume, `model` must be the one that the run began with. The
    learning rate rises, then falls to a tenth; dropout is off. Stop by closing the generator, resume from `checkpoint`,
    as in `gptlab.train`. ValueError for options out of range.
    """
    options = _Options(questions, group, max_new_tokens, updates, epsilon, beta)
    run = Descent(model, steps, learning_rate, seed)
    rounds = _Rounds(run, copy.deepcopy(model), tok, draw, reward, options)
    settings = {"kind": "grpo"} | asdict(options)
    return descend(run, rounds.next, settings, checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume)


@dataclass(frozen=True)
class _Options:
    """The options of `train_grpo` of the same names, valid or not made at all."""

    questions: int
    group: int
    max_new_tokens: int
    updates: int
    epsilon: float | int
    beta: float | int

    def __post_init__(self) -> None:
        for name in ("questions", "max_new_tokens", "updates"):
            check_whole(name, getattr(self, name), at_least=1)
        check_whole("group", self.group, at_least=2)  # an answer alone has nothing to be compared with
        _check_weights(self.epsilon, self.beta)


class _Rounds:
    """A model that is asked, answers, is judged and learns, again and again."""

    def __init__(
        self, run: Descent, reference: GPT, tok: Tokenizer, draw: Callable[[random.Random], Asked], reward: Reward,
        options: _Options,
    ) -> None:  # fmt: skip
        self.run, self.reference, self.tok = run, reference, tok
        self.draw, self.reward, self.options = draw, reward, options

    def next(self, number: int) -> GRPOStep:
        """Round 0, 1, 2, …"""
        rng = random.Random(f"{self.run.recipe.seed} round {number}")
        asked = [question for _ in range(self.options.questions) for question in [self.draw(rng)] * self.options.group]
        prompts = [question.prompt for question in asked]
        with evaluation_mode(self.run.model), evaluation_mode(self.reference):
            answers = sample_answers(
                self.run.model, self.tok, prompts, self.options.max_new_tokens, generator=rng.getrandbits(60)
            )
            batch = masked_batch([prompt_ids(self.tok, prompt)[0].tolist() for prompt in prompts], answers)
            texts = [self.tok.decode(ids) for ids in answers]
            rewards = [dict(self.reward(*judged)) for judged in zip(asked, texts, strict=True)]
            means = {name: fmean(one[name] for one in rewards) for name in rewards[0]}
            total = torch.tensor([float(sum(one.values())) for one in rewards]).view(-1, self.options.group)
            return self._learn(number, batch, grpo_advantages(total), means)

    def _learn(
        self, number: int, batch: Batch, advantages: Float[Tensor, "Q G"], rewards: dict[str, float]
    ) -> GRPOStep:
        counted, epsilon = batch.targets != IGNORE, self.options.epsilon
        with torch.no_grad():
            fixed = token_log_probs(self.reference, batch)
        old, losses, norms = None, [], []
        for _ in range(self.options.updates):
            now = token_log_probs(self.run.model, batch)
            old = now.detach() if old is None else old
            loss = grpo_loss(now, old, fixed, advantages.flatten(), counted, epsilon=epsilon, beta=self.options.beta)
            norms.append(self.run.update(loss))
            losses.append(loss.item())
        ratio = (now.detach() - old).exp()[counted]
        return GRPOStep(
            number=number + 1,
            loss=losses[0],
            rewards=rewards,
            kl=kl_k3(old, fixed)[counted].mean().item(),
            silent=(advantages == 0).all(1).float().mean().item(),
            clipped=((ratio - 1).abs() > epsilon).float().mean().item(),
            gradient_norm=norms[0],
        )


def _check_weights(epsilon: float | int, beta: float | int) -> None:
    if not 0 < epsilon < 1:
        raise refuse("epsilon", epsilon, "a number above 0 and below 1")
    if not 0 <= beta < math.inf:
        raise refuse("beta", beta, "a finite number of at least 0")
