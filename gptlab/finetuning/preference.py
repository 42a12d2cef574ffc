"""Learning from preferences: two answers to a prompt, and which of them somebody liked better.

Bradley and Terry (1952): every answer has a reward r, and y_w is preferred to y_l with probability σ(r_w − r_l). Either
a reward model is fitted to the choices (Ouyang et al. 2022, equation 1), or, in DPO (Rafailov et al. 2023, equation 7),
the language model itself, whose reward is β log π(y | x)/π_ref(y | x):

    reward model    −log σ(r(x, y_w) − r(x, y_l))
    DPO             −log σ(β [(log π − log π_ref)(y_w | x) − (log π − log π_ref)(y_l | x)])

Axes: B pairs (or rows), T tokens, d model width.
"""

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.corpus import IGNORE, Batch
from gptlab.finetuning._descent import Descent, descend
from gptlab.finetuning.answers import Example, answer_batch, answer_log_probs
from gptlab.model import GPT, evaluation_mode
from gptlab.recipe import check_whole
from gptlab.tokenizer import Tokenizer


class Preference(NamedTuple):
    """A prompt and two answers to it, the preferred one first."""

    prompt: str
    chosen: str
    rejected: str


def preference_batches(pairs: Sequence[Preference], tok: Tokenizer) -> tuple[Batch, Batch]:
    """The preferred answers behind their prompts, and the others."""
    chosen = answer_batch([Example(pair.prompt, pair.chosen) for pair in pairs], tok)
    return chosen, answer_batch([Example(pair.prompt, pair.rejected) for pair in pairs], tok)


class RewardModel(nn.Module):
    """A GPT whose last token is asked for a number instead of a next token.

    The body is a copy of `model`, at its answer's end a linear map reads the reward: w·h. It starts at 0, so that at
    first every answer is worth 0. Only differences of rewards mean anything: a constant would change no preference.
    """

    def __init__(self, model: GPT) -> None:
        super().__init__()
        self.body = copy.deepcopy(model)
        self.config = model.config
        self.head = nn.Linear(model.config.d_model, 1, bias=False)
        nn.init.zeros_(self.head.weight)

    def forward(self, batch: Batch) -> Float[Tensor, " B"]:
        """The reward of each row's answer, read at its last token before the end: where the end is predicted."""
        place = torch.arange(batch.targets.shape[1])
        last = torch.where(batch.targets != IGNORE, place, -1).amax(1)
        hidden = self.body.hidden(batch.inputs)[torch.arange(len(last)), last]
        return self.head(hidden).squeeze(-1)


def bradley_terry_loss(chosen: Float[Tensor, " B"], rejected: Float[Tensor, " B"]) -> Float[Tensor, ""]:
    """−log σ(r_w − r_l), the mean over pairs, in nats: ln 2 where rewards are equal, never infinite."""
    return -F.logsigmoid(chosen - rejected).mean()


def dpo_loss(
    policy_chosen: Float[Tensor, " B"],
    policy_rejected: Float[Tensor, " B"],
    reference_chosen: Float[Tensor, " B"],
    reference_rejected: Float[Tensor, " B"],
    beta: float | int = 0.1,
) -> Float[Tensor, ""]:
    """−log σ(β · margin), the mean over pairs; margin = (log π − log π_ref)(y_w | x) − (log π − log π_ref)(y_l | x).

    Each argument is the log-probability of whole answers (`answer_log_probs`): no prompt, no padding. It is ln 2 where
    the policy is the reference, for every β; the gradient there is β/2 times that of the margin, so it goes to 0 with
    β, although the smaller β, the further from the reference lies the optimum. ValueError unless β is above 0.
    Source: Rafailov et al. 2023, equation 7.
    """
    if not 0 < beta < float("inf"):
        raise refuse("beta", beta, "a finite number above 0: at 0 every policy is as good as any other")
    margin = (policy_chosen - reference_chosen) - (policy_rejected - reference_rejected)
    return -F.logsigmoid(beta * margin).mean()


@dataclass(frozen=True)
class PreferenceStep:
    """One update from a batch of pairs. Everything is measured before it."""

    number: int  # 1, 2, …
    loss: float
    margin: float  # mean of r_w − r_l, or of the log-ratios' difference (without β)
    accuracy: float  # share of pairs whose preferred answer has the higher reward; a tie counts half
    gradient_norm: float  # before clipping


Draw = Callable[[random.Random], Preference]


def train_reward_model(
    model: RewardModel,
    tok: Tokenizer,
    draw: Draw,
    steps: int,
    *,
    batch_size: int = 16,
    learning_rate: float | int = 1e-3,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
) -> Iterator[PreferenceStep]:
    """Fit a reward model in place to pairs that `draw` gives, one update for each step that is asked for.

    The learning rate rises, then falls to a tenth. Stop by closing the generator, resume from `checkpoint`, as in
    `gptlab.train`. ValueError for options out of range.
    """

    def rewards(chosen: Batch, rejected: Batch) -> tuple[Tensor, Tensor, Tensor]:
        r_w, r_l = model(chosen), model(rejected)
        return bradley_terry_loss(r_w, r_l), r_w, r_l

    run, settings = Descent(model, steps, learning_rate, seed), {"kind": "reward model", "batch_size": batch_size}
    return descend(
        run, _round(run, tok, draw, batch_size, rewards), settings,
        checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume,
    )  # fmt: skip


def train_dpo(
    model: GPT,
    tok: Tokenizer,
    draw: Draw,
    steps: int,
    *,
    beta: float | int = 0.1,
    batch_size: int = 16,
    learning_rate: float | int = 3e-4,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
) -> Iterator[PreferenceStep]:
    """Train `model` in place by DPO on pairs that `draw` gives, one update for each step that is asked for.

    The reference is a copy of the model as it is now; to resume, `model` must be the one that the run began with.
    Dropout is off, else the policy would not be the reference at the start. The learning rate rises, then falls to a
    tenth. Stop by closing the generator, resume from `checkpoint`, as in `gptlab.train`. ValueError for options out of
    range.
    """
    nothing = torch.zeros(1)
    dpo_loss(nothing, nothing, nothing, nothing, beta)  # refuses it before the first step
    reference = copy.deepcopy(model)

    def rewards(chosen: Batch, rejected: Batch) -> tuple[Tensor, Tensor, Tensor]:
        policy = answer_log_probs(model, chosen), answer_log_probs(model, rejected)
        with torch.no_grad(), evaluation_mode(reference):
            fixed = answer_log_probs(reference, chosen), answer_log_probs(reference, rejected)
        return dpo_loss(*policy, *fixed, beta), policy[0] - fixed[0], policy[1] - fixed[1]

    run, settings = Descent(model, steps, learning_rate, seed), {"kind": "dpo", "beta": beta, "batch_size": batch_size}
    return descend(
        run, _round(run, tok, draw, batch_size, rewards), settings,
        checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume,
    )  # fmt: skip


def _round(
    run: Descent, tok: Tokenizer, draw: Draw, batch_size: int,
    rewards: Callable[[Batch, Batch], tuple[Tensor, Tensor, Tensor]],
) -> Callable[[int], PreferenceStep]:  # fmt: skip
    check_whole("batch_size", batch_size, at_least=1)

    def round_(number: int) -> PreferenceStep:
        rng = random.Random(f"{run.recipe.seed} pairs {number}")
        batches = preference_batches([draw(rng) for _ in range(batch_size)], tok)
        with evaluation_mode(run.model):
            loss, chosen, rejected = rewards(*batches)
            norm = run.update(loss)
        margin = (chosen - rejected).detach()
        right = (margin > 0).double() + 0.5 * (margin == 0)
        return PreferenceStep(number + 1, loss.item(), margin.mean().item(), right.mean().item(), norm)

    return round_
