"""Training: a loop of steps that its reader drives.

`train` is a generator. Each turn of it is one update of the weights and yields what is worth looking at; to pause is
not to ask for the next step, to stop is to close the generator or to leave the loop. Batch and dropout of step i are
functions of the seed and i, so a run that goes on from a checkpoint takes the very steps of the unbroken one.

Axes: B batch, T tokens.
"""

import math
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from weakref import WeakKeyDictionary

import torch
from torch import nn

from gptlab._refuse import refuse
from gptlab.corpus import Batch, Corpus
from gptlab.distributed import Replica, Team
from gptlab.loss import batch_loss, mean_loss, next_token_loss, perplexity
from gptlab.model import evaluation_mode
from gptlab.optimizer import AdamW, clip_by_norm
from gptlab.recipe import Recipe, check_whole
from gptlab.training_state import load_state, save_state

__all__ = ["Step", "next_token_loss", "perplexity", "train"]

_updates_of: WeakKeyDictionary[nn.Module, int] = WeakKeyDictionary()  # so that Step can tell a model trained before


@dataclass(frozen=True)
class Step:
    """One update. Losses in nats per token: `loss` of its batch before it, `val_loss` of held-out text after it."""

    number: int  # updates of this run so far, this one included: 1, 2, …
    loss: float
    val_loss: float | None  # None between validations
    floor: float | None  # the lowest val_loss there can be, where the truth is known
    learning_rate: float
    gradient_norm: float  # before clipping
    tokens_seen: int  # targets learned from so far
    tokens_per_second: float  # of this step alone, validation and pauses not counted
    earlier_steps: int  # updates that this model object had from earlier runs: not 0 when a cell is run twice


def train(
    model: nn.Module,
    data: Corpus,
    steps: int,
    *,
    learning_rate: float | int = 1e-3,
    final_learning_rate: float | int | None = None,
    warmup: int | None = None,
    betas: tuple[float | int, float | int] = (0.9, 0.95),
    weight_decay: float | int = 0.1,
    clip: float | int | None = 1.0,
    seed: int = 0,
    validate_every: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    precision: str = "float32",
    team: Team | None = None,
) -> Iterator[Step]:
    """Train `model` in place by AdamW, one update for each `Step` that is asked for.

    `data` gives the batches (`gptlab.corpus`). The learning rate rises over `warmup` steps (a twentieth of all, if
    None), then falls along a cosine to `final_learning_rate` (a tenth, if None); gradients longer than `clip` are
    shortened. `val_loss` comes every `validate_every` steps and after the last one, where `data` holds something out.
    `seed` is for dropout; the global random state stays as it is, and so does the model's mode between the steps.
    `precision` is "float32", "bfloat16" (products in half precision, weights in float32) or "auto": the faster of the
    two on this processor.

    The run begins with the weights that `model` has: a second call goes on from what the first has learned, with new
    moments and a new schedule, and `Step.earlier_steps` says so. With `checkpoint` the state is written to that path
    every `checkpoint_every` steps, after the last one, and when the generator is closed or interrupted; with
    `resume=True` the run goes on from there, if the file exists, and takes the very steps of a run that never stopped.

    A `team` (`gptlab.distributed.joined`) shares each batch among its processes; its leader alone validates and writes.

    Raises ValueError for settings out of range and for a checkpoint of another run, both before the first step, and
    FloatingPointError when the loss or the gradient is not finite: the weights are then those after the last good step.
    ConnectionError when another process of the team is gone; the leader then leaves a checkpoint.
    """
    recipe = Recipe(steps, learning_rate, final_learning_rate, warmup, betas, weight_decay, clip, seed, precision)
    for name, every in (("validate_every", validate_every), ("checkpoint_every", checkpoint_every)):
        if every is not None:
            check_whole(name, every, at_least=1)
    if checkpoint is None and (resume or checkpoint_every is not None):
        raise refuse("checkpoint", None, "a path to write to, or to resume from")
    checkpoint = None if checkpoint is None else Path(checkpoint)
    if checkpoint is not None and checkpoint.is_dir():
        raise refuse("checkpoint", str(checkpoint), "the path of a file; this is a folder")
    run = _Run(model, data, recipe, team)
    if not run.leads:
        checkpoint = None
    if resume and checkpoint is not None and checkpoint.exists():
        run.restore(checkpoint)
    if team is not None:
        run.follow_leader()
    if run.precision == "auto" and run.number < steps:
        run.choose_precision()
    return _steps(run, validate_every, checkpoint, checkpoint_every)


def _steps(
    run: "_Run", validate_every: int | None, checkpoint: Path | None, checkpoint_every: int | None
) -> Iterator[Step]:
    def due(every: int | None) -> bool:
        return run.number == run.recipe.steps or (every is not None and run.number % every == 0)

    held_out, saved = run.data.held_out if run.leads else None, run.number
    try:
        while run.number < run.recipe.steps:
            measured = run.update()
            val_loss = None
            if held_out is not None and due(validate_every):
                with evaluation_mode(run.model):
                    val_loss = mean_loss(run.model, (batch.to(run.device) for batch in held_out.batches))
            if checkpoint is not None and due(checkpoint_every):
                run.save(checkpoint)
                saved = run.number
            yield Step(val_loss=val_loss, floor=held_out.floor if held_out else None, **measured)
    except (GeneratorExit, KeyboardInterrupt, ConnectionError):
        if checkpoint is not None and run.number > saved and not run.midway:
            run.save(checkpoint)
        raise


class _Run:
    """A model, its data and its optimizer between two steps."""

    def __init__(self, model: nn.Module, data: Corpus, recipe: Recipe, team: Team | None):
        self.model, self.data, self.recipe, self.team = model, data, recipe, team
        self.replica = None if team is None else Replica(model, team)
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.device = self.parameters[0].device
        self.optimizer = AdamW(self.parameters, betas=recipe.betas, weight_decay=recipe.weight_decay)
        self.tokens_seen = 0
        self.earlier_steps = _updates_of.get(model, 0)
        self.precision = recipe.precision
        self.midway = False  # whether some weights have moved and others have not

    @property
    def number(self) -> int:
        """Updates done."""
        return self.optimizer.steps

    @property
    def leads(self) -> bool:
        """Whether this process validates and writes."""
        return self.team is None or self.team.leads

    def update(self) -> dict:
        """Take one step; gives the fields of `Step` that it determines."""
        began, step = perf_counter(), self.number
        batch = self.data.batch(step)
        rate = self.recipe.learning_rate_at(step)
        loss, gradients = self._gradients(batch, self.precision)
        norm = clip_by_norm(gradients, self.recipe.clip)
        self._refuse_infinite(loss, norm, rate)
        self.midway = True
        self.optimizer.step(gradients, rate)
        self.tokens_seen += batch.n_targets
        self.midway = False
        _updates_of[self.model] = _updates_of.get(self.model, 0) + 1
        return {
            "number": self.number,
            "loss": loss,
            "learning_rate": rate,
            "gradient_norm": norm,
            "tokens_seen": self.tokens_seen,
            "tokens_per_second": batch.n_targets / (perf_counter() - began),
            "earlier_steps": self.earlier_steps,
        }

    def choose_precision(self) -> None:
        """Try both on a few rows of the next batch, and take the faster; the weights stay as they are."""
        n_rows = 8 if self.team is None else 8 * self.team.size
        batch = Batch(*(part[:n_rows] for part in self.data.batch(self.number)))
        seconds = {}
        for precision in ("float32", "bfloat16", "float32", "bfloat16"):  # the first of each only warms up
            began = perf_counter()
            self._gradients(batch, precision)
            seconds[precision] = perf_counter() - began
        faster = min(seconds, key=seconds.get)
        self.precision = faster if self.team is None else self.team.of_leader(faster)

    def save(self, path: Path) -> None:
        """Write what the run needs to go on."""
        progress = {"tokens_seen": self.tokens_seen, "precision": self.precision}
        save_state(path, self.model, self.optimizer, progress=progress, settings=self._settings())

    def restore(self, path: Path) -> None:
        """Go on from what `save` wrote."""
        progress = load_state(path, self.model, self.optimizer, settings=self._settings())
        self.tokens_seen, self.precision = progress["tokens_seen"], progress["precision"]
        self.earlier_steps = 0
        _updates_of[self.model] = self.number

    def follow_leader(self) -> None:
        """Take over the state of the process that has read the checkpoint."""
        self.team.copy_leader([*self.model.parameters(), *self.model.buffers()])
        self.team.copy_leader([*self.optimizer.first, *self.optimizer.second])
        state = (self.optimizer.steps, self.tokens_seen, self.precision)
        self.optimizer.steps, self.tokens_seen, self.precision = self.team.of_leader(state)

    def _gradients(self, batch: Batch, precision: str) -> tuple[float, list[torch.Tensor]]:
        batch = batch.to(self.device)
        with _training_mode(self.model), self._dropout():
            autocast = torch.autocast(self.device.type, torch.bfloat16, enabled=precision == "bfloat16")
            if self.replica is not None:
                return self.replica.loss_and_gradients(batch, self.parameters, autocast)
            with autocast:
                loss = batch_loss(self.model, batch)
            return loss.item(), list(torch.autograd.grad(loss, self.parameters, materialize_grads=True))

    def _dropout(self) -> AbstractContextManager[None]:
        """What this step's dropout draws from; where there is none for sure, torch's random state is left alone.

        It belongs to all threads: another one's draws would be disturbed.
        """
        declared = getattr(getattr(self.model, "config", None), "dropout", 1)
        if declared == 0 and not any(isinstance(m, nn.Dropout) and m.p > 0 for m in self.model.modules()):
            return nullcontext()
        rank = "" if self.leads else f" {self.team.rank}"
        return _seeded(f"dropout {self.recipe.seed} {self.number}{rank}", self.device)

    def _refuse_infinite(self, loss: float, norm: float, rate: float) -> None:
        for name, value in (("loss", loss), ("gradient's length", norm)):
            if not math.isfinite(value):
                raise FloatingPointError(
                    f"the {name} is {value} at step {self.number + 1}, learning rate {rate:g}; the model has the "
                    f"weights of step {self.number}. A lower learning rate, a longer warm-up or other data may help"
                )

    def _settings(self) -> dict:
        config = self.model.config.to_dict() if hasattr(self.model, "config") else type(self.model).__name__
        return asdict(self.recipe) | {"data": self.data.settings, "model": config}


@contextmanager
def _training_mode(model: nn.Module) -> Iterator[None]:
    resting = [module for module in model.modules() if not module.training]
    for module in resting:
        module.training = True
    try:
        yield
    finally:
        for module in resting:
            module.training = False


@contextmanager
def _seeded(name: str, device: torch.device) -> Iterator[None]:
    """Draw from a seed of this name inside, and leave torch's global random state as it was."""
    seed = random.Random(name).getrandbits(63)
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            torch.cuda.manual_seed(seed)
        yield
