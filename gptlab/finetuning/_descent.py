"""The loop that preference learning and GRPO share: rounds that a reader drives, stopped and resumed without a trace.

`gptlab.train` takes its loss from a batch of text; here a round makes its own losses, one or several, and measures
what it likes. What a round does is a function of the seed, its number and the weights, so a run that goes on from a
checkpoint takes the very rounds of the unbroken one.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.optimizer import AdamW, clip_by_norm
from gptlab.recipe import Recipe, check_whole
from gptlab.training_state import load_state, save_state

Step = TypeVar("Step")


class Descent:
    """A model with its optimizer, between two updates of its weights."""

    def __init__(self, model: nn.Module, steps: int, learning_rate: float | int, seed: int) -> None:
        # As in `gptlab.train` the rate rises, then falls to a tenth; weights do not decay, which would pull them away
        # from the reference.
        self.recipe = Recipe(steps, learning_rate, None, None, (0.9, 0.95), 0.0, 1.0, seed, "float32")
        self.model = model
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = AdamW(self.parameters, betas=self.recipe.betas, weight_decay=0.0)
        self.rounds = 0  # done
        self.midway = False  # whether a round has moved the weights and not ended

    def update(self, loss: Tensor) -> float:
        """Move the weights against the gradient of a loss; gives its length before clipping.

        FloatingPointError for a loss or a gradient that is not finite; the weights are then as they were.
        """
        gradients = list(torch.autograd.grad(loss, self.parameters, materialize_grads=True))
        norm = clip_by_norm(gradients, self.recipe.clip)
        for name, value in (("loss", loss.item()), ("gradient's length", norm)):
            if not math.isfinite(value):
                raise FloatingPointError(f"the {name} is {value} in round {self.rounds + 1}: try a lower learning rate")
        self.midway = True
        self.optimizer.step(gradients, self.recipe.learning_rate_at(self.rounds))
        return norm


def descend(
    run: Descent,
    round_: Callable[[int], Step],
    settings: dict,
    *,
    checkpoint: str | Path | None,
    checkpoint_every: int | None,
    resume: bool,
) -> Iterator[Step]:
    """Yield what `round_(0)`, `round_(1)`, … give; each moves the weights by `run.update`.

    With `checkpoint` the state is written there every `checkpoint_every` rounds, after the last one, and when the
    generator is closed or interrupted between two rounds. ValueError, before the first round, for options that
    contradict one another and for a checkpoint of another run.
    """
    if checkpoint_every is not None:
        check_whole("checkpoint_every", checkpoint_every, at_least=1)
    if checkpoint is None and (resume or checkpoint_every is not None):
        raise refuse("checkpoint", None, "a path to write to, or to resume from")
    path = None if checkpoint is None else Path(checkpoint)
    settings = asdict(run.recipe) | settings
    if resume and path.exists():
        run.rounds = load_state(path, run.model, run.optimizer, settings=settings)["rounds"]
    return _rounds(run, round_, settings, path, checkpoint_every)


def _rounds(
    run: Descent, round_: Callable[[int], Step], settings: dict, path: Path | None, every: int | None
) -> Iterator[Step]:
    def save() -> int:
        save_state(path, run.model, run.optimizer, progress={"rounds": run.rounds}, settings=settings)
        return run.rounds

    saved = run.rounds
    try:
        while run.rounds < run.recipe.steps:
            step = round_(run.rounds)
            run.rounds += 1
            run.midway = False
            last = run.rounds == run.recipe.steps
            if path is not None and (last or (every is not None and run.rounds % every == 0)):
                saved = save()
            yield step
    except (GeneratorExit, KeyboardInterrupt):
        if path is not None and run.rounds > saved and not run.midway:
            save()
        raise
