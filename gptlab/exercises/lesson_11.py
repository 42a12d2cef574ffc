"""Exercises of lesson 11: which tokens of an answer are learned, DPO's loss, advantages in a group, a clipped ratio."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from gptlab.exercises._check import Exercise, Mistake

IGNORE = -100


def targets(ids: Tensor, n_prompt: int) -> list[int]:
    """What is predicted at each place of `ids` but the last: the next token if it belongs to the answer, else -100."""
    listed = ids.tolist()
    return [listed[i + 1] if i + 1 >= n_prompt else IGNORE for i in range(len(listed) - 1)]


def dpo(policy_w: Tensor, policy_l: Tensor, reference_w: Tensor, reference_l: Tensor, beta: float) -> float:
    """−log σ(β · margin), the mean over pairs."""
    total = 0.0
    columns = (column.tolist() for column in (policy_w, policy_l, reference_w, reference_l))
    for pw, pl, rw, rl in zip(*columns, strict=True):
        total += math.log(1 + math.exp(-beta * ((pw - rw) - (pl - rl))))
    return total / len(policy_w)


def advantages(rewards: Tensor) -> list[float]:
    """(R − mean) / deviation of one group, the deviation over all G answers; 0 where all rewards are equal."""
    listed = rewards.tolist()
    mean = sum(listed) / len(listed)
    deviation = math.sqrt(sum((r - mean) ** 2 for r in listed) / len(listed))
    return [(r - mean) / deviation if max(listed) > min(listed) else 0.0 for r in listed]


def objective(ratios: Tensor, advantages: Tensor, epsilon: float) -> list[float]:
    """min(r·A, clip(r, 1 − ε, 1 + ε)·A) of each token."""
    found = []
    for r, a in zip(ratios.tolist(), advantages.tolist(), strict=True):
        clipped = min(max(r, 1 - epsilon), 1 + epsilon)
        found.append(min(r * a, clipped * a))
    return found


def _masked(ids: Tensor, n_masked: int) -> Tensor:
    shifted = ids[1:].clone()
    shifted[:n_masked] = IGNORE
    return shifted


def _unshifted(ids: Tensor, n_prompt: int) -> Tensor:
    kept = ids.clone()
    kept[:n_prompt] = IGNORE
    return kept[:-1]


def _sequences() -> Iterator[tuple[Tensor, int]]:
    yield torch.tensor([9, 1, 2, 5, 9]), 3
    yield torch.tensor([9, 4, 9]), 1
    generator = torch.Generator().manual_seed(0)
    for length in range(4, 16):
        yield torch.randint(0, 50, (length,), generator=generator), length // 2


def _pairs() -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor, float]]:
    yield *(torch.tensor([x]) for x in (-3.0, -4.0, -5.0, -4.0)), 0.1
    yield *(torch.tensor([x, y]) for x, y in ((-2.0, -1.0), (-2.0, -6.0), (-3.0, -2.0), (-1.0, -5.0))), 1.0
    generator = torch.Generator().manual_seed(1)
    for n in range(1, 12):
        yield *(-6 * torch.rand(n, generator=generator) - 0.5 for _ in range(4)), 0.1 * n


def _groups() -> Iterator[tuple[Tensor]]:
    yield (torch.tensor([1.0, 0.0, 0.0, 0.0]),)
    yield (torch.tensor([1.0, 1.0, 1.0, 1.0]),)
    yield (torch.tensor([2.0, 1.0, 1.0, 0.0, 2.0]),)
    generator = torch.Generator().manual_seed(2)
    for size in range(2, 12):
        yield (torch.randint(0, 5, (size,), generator=generator).float().index_fill_(0, torch.tensor([0]), 7.0),)


def _ratios() -> Iterator[tuple[Tensor, Tensor, float]]:
    yield torch.tensor([1.0, 1.5, 0.5]), torch.tensor([1.0, 1.0, 1.0]), 0.2
    yield torch.tensor([1.0, 1.5, 0.5]), torch.tensor([-1.0, -1.0, -1.0]), 0.2
    generator = torch.Generator().manual_seed(3)
    for n in range(1, 12):
        ratios = torch.randn(2 * n, generator=generator).div(3).exp()
        yield ratios, torch.randn(2 * n, generator=generator), 0.05 + 0.03 * n


EXERCISES = (
    Exercise(
        "11.targets",
        targets,
        _sequences,
        mistakes=(
            Mistake(lambda ids, n: ids[1:], "The prompt is given: its tokens are no targets."),
            Mistake(
                lambda ids, n: _masked(ids, n),
                "Off by one: the first token of the answer is predicted at the prompt's last place, so that place "
                "counts.",
            ),
            Mistake(_unshifted, "Targets are shifted: at place i stands the token i + 1."),
            Mistake(lambda ids, n: torch.cat([ids[n:], torch.full((n - 1,), IGNORE)]), "Each target keeps its place."),
        ),
        hints=("ids[1:] are the targets of a text without a prompt.", "The first n_prompt − 1 of them are -100."),
    ),
    Exercise(
        "11.dpo",
        dpo,
        _pairs,
        mistakes=(
            Mistake(
                lambda pw, pl, rw, rl, beta: -torch.sigmoid(beta * (pw - pl)).log().mean(),
                "The reference is missing: what counts is how much likelier an answer has become.",
            ),
            Mistake(
                lambda pw, pl, rw, rl, beta: -torch.sigmoid((pw - rw) - (pl - rl)).log().mean(),
                "β multiplies the margin, inside the sigmoid.",
            ),
            Mistake(
                lambda pw, pl, rw, rl, beta: -beta * torch.sigmoid((pw - rw) - (pl - rl)).log().mean(),
                "β belongs inside the sigmoid; in front of the loss it is a learning rate.",
            ),
            Mistake(
                lambda pw, pl, rw, rl, beta: -torch.sigmoid(beta * ((pl - rl) - (pw - rw))).log().mean(),
                "The preferred answer's ratio comes first.",
            ),
            Mistake(
                lambda pw, pl, rw, rl, beta: -torch.sigmoid(beta * ((pw - rw) - (pl - rl))).mean(),
                "The logarithm of the sigmoid: the loss is a negative log-likelihood of the choices.",
            ),
        ),
        hints=(
            "Each argument is a log-probability already: a log-ratio is a difference.",
            "torch.nn.functional.logsigmoid stays finite where the logarithm of a sigmoid does not.",
        ),
    ),
    Exercise(
        "11.advantages",
        advantages,
        _groups,
        mistakes=(
            Mistake(
                lambda rewards: (rewards - rewards.mean()) / rewards.std(correction=0),
                "All rewards equal: 0/0 is NaN, which would end the training. There is nothing to learn there.",
            ),
            Mistake(
                lambda rewards: (rewards - rewards.mean()) / (rewards.std() + 1e-8),
                "torch.std divides by G − 1; here the group is all there is: correction=0.",
            ),
            Mistake(lambda rewards: rewards - rewards.mean(), "Divide by the group's deviation as well."),
            Mistake(
                lambda rewards: rewards / (rewards.std(correction=0) + 1e-8),
                "Take the group's mean away first: an answer is judged against the others.",
            ),
        ),
        hints=("rewards.std(correction=0) is the deviation.", "A small δ added to the deviation turns 0/0 into 0."),
    ),
    Exercise(
        "11.objective",
        objective,
        _ratios,
        mistakes=(
            Mistake(
                lambda r, a, epsilon: (r * a).clamp(1 - epsilon, 1 + epsilon),
                "That clips ratio × advantage, as the note has it: a bad answer would count as good.",
            ),
            Mistake(
                lambda r, a, epsilon: r.clamp(1 - epsilon, 1 + epsilon) * a,
                "Without the minimum a step in the wrong direction is not felt: there the clipped ratio has no slope.",
            ),
            Mistake(
                lambda r, a, epsilon: torch.maximum(r * a, r.clamp(1 - epsilon, 1 + epsilon) * a),
                "The smaller of the two: a bound from below.",
            ),
            Mistake(lambda r, a, epsilon: r * a, "Nothing is clipped here."),
        ),
        hints=("r.clamp(1 - epsilon, 1 + epsilon)", "torch.minimum of two products with A."),
    ),
)
