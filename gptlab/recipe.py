"""Recipe: the settings that decide what a training run does to the weights, valid or not made at all.

Two runs with the same recipe, model and data take the same steps; a checkpoint therefore keeps the recipe and is
refused under another.
"""

import math
from dataclasses import dataclass

from gptlab._refuse import refuse
from gptlab.optimizer import cosine_schedule


@dataclass(frozen=True)
class Recipe:
    """The options of `gptlab.train` of the same names; None stands for a value that follows from the others."""

    steps: int
    learning_rate: float | int
    final_learning_rate: float | int | None
    warmup: int | None
    betas: tuple[float | int, float | int]
    weight_decay: float | int
    clip: float | int | None
    seed: int
    precision: str

    def __post_init__(self):
        if self.final_learning_rate is None:
            object.__setattr__(self, "final_learning_rate", self.learning_rate / 10)
        if self.warmup is None:
            object.__setattr__(self, "warmup", self.steps // 20)
        for name in ("steps", "warmup"):
            check_whole(name, getattr(self, name), at_least=0)
        for name in ("learning_rate", "final_learning_rate", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise refuse(name, getattr(self, name), "a finite number of at least 0")
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise refuse("betas", self.betas, "two numbers of at least 0 and below 1")
        if self.clip is not None and not self.clip > 0:
            raise refuse("clip", self.clip, "a number above 0, or None to leave gradients as they are")
        if self.precision not in ("float32", "bfloat16", "auto"):
            raise refuse("precision", self.precision, "one of 'float32', 'bfloat16', 'auto'")

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of step 0, 1, 2, …"""
        return cosine_schedule(
            step, peak=self.learning_rate, final=self.final_learning_rate, warmup=self.warmup, decay=self.steps
        )


def check_whole(name: str, value: object, *, at_least: int) -> None:
    """Refuse what is not a whole number of at least so much."""
    if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
        raise refuse(name, value, f"a whole number of at least {at_least}")
