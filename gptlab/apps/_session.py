"""One model's training, as four buttons see it: begun, held, ended, gone on with; no widget in it."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path

from gptlab.apps._background import Background
from gptlab.apps._cost import try_step
from gptlab.apps.films import Film
from gptlab.corpus import Corpus
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.training import Step, train


class Session:
    """Trains copies of `untrained` in the background; `model` is the latest and `film` what was seen of it.

    `state` is "ready", or what `Background` says; "stopped" too where a checkpoint was left by an earlier kernel.
    """

    def __init__(
        self,
        model: GPT,
        tok: Tokenizer,
        data: Corpus,
        *,
        prompt: str,
        look_every: int,
        seed: int,
        checkpoint: str | Path | None,
    ) -> None:
        self.untrained, self.tok, self.data, self.prompt = deepcopy(model), tok, data, prompt
        self.look_every, self.seed = look_every, seed
        self.run: Background | None = None
        self._renew()
        self.cost = try_step(self.model, data)
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self._clear_away = lambda: None
        self._recipe: dict[str, int | float] = {}

    @property
    def state(self) -> str:
        if self.run is not None:
            return self.run.state
        return "stopped" if self.checkpoint is not None and self.checkpoint.exists() else "ready"

    @property
    def busy(self) -> bool:
        """Whether a training is under way, if only held."""
        return self.run is not None and self.run.alive

    @property
    def progress(self) -> float:
        """From 0 to 1."""
        return self.run.number / self.run.n_steps if self.run else 0.0

    def start(self, steps: int, learning_rate: float) -> None:
        """Begin at the beginning; nothing happens if a training is under way."""
        if not self.busy:
            self._renew()
            self._begin({"steps": steps, "learning_rate": learning_rate}, resume=False)

    def resume(self, steps: int, learning_rate: float) -> None:
        """Go on after a pause or from the checkpoint, there with the settings that the training began with.

        Those given here count only where an earlier kernel has left the checkpoint.
        """
        if self.state == "paused":
            self.run.go_on()
        elif self.state == "stopped":
            self._begin(self._recipe or {"steps": steps, "learning_rate": learning_rate}, resume=True)

    def pause(self) -> None:
        """Take no step until told to go on."""
        if self.run is not None:
            self.run.pause()

    def stop(self) -> None:
        """End the training; its work is kept in the checkpoint."""
        if self.run is not None:
            self.run.stop()

    def close(self) -> None:
        """End the training, wait for that, and clear away what was only for this session."""
        if self.run is not None:
            self.run.stop()
            self.run.wait()
        self._clear_away()

    def _renew(self) -> None:
        self.model = deepcopy(self.untrained)
        self.film = Film(self.model, self.tok, self.prompt, every=self.look_every)

    def _begin(self, recipe: dict[str, int | float], *, resume: bool) -> None:
        if self.checkpoint is None:
            folder = Path(tempfile.mkdtemp(prefix="gptlab-"))
            self._clear_away = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.checkpoint = folder / "training.safetensors"
        run = train(
            self.model, self.data, **recipe, seed=self.seed, validate_every=self.look_every,
            checkpoint=self.checkpoint, checkpoint_every=self.look_every, resume=resume,
        )  # fmt: skip
        self._recipe = recipe
        self.run = Background(lambda: _watched(run, self.film), recipe["steps"])
        self.run.start()

    # What to say about it -------------------------------------------------------------------------------------------

    def describe(self, steps: int) -> str:
        """Where the training stands, in a sentence or two; before it, what `steps` steps will cost."""
        run, state = self.run, self.state
        if run is None and state == "stopped":
            return f"A training that was stopped is kept in {self.checkpoint}: Resume goes on with it."
        if run is None:
            seconds, megabytes = self.cost.seconds(steps, self.look_every), self.cost.memory / 1e6
            cost = f"{steps:,} steps will take about {_spoken(seconds)} here and {megabytes:.0f} MB of memory."
            return f"Nothing runs yet. {cost}"
        at = f"step {run.number:,} of {run.n_steps:,}"
        if state == "stopped" and run.pushed_out:
            return f"Another training was started, so this one has stopped after {at}. Its work is kept: Resume."
        return {
            "running": f"Training: {at}{self._pace(run)}.",
            "paused": f"Paused after {at}. Resume goes on.",
            "stopping": f"Stopping after {at}, and writing the checkpoint.",
            "stopped": f"Stopped after {at}. Its work is kept: Resume goes on from there, Start anew forgets it.",
            "finished": f"Done, {at}. The trained model is the app's `model`.",
            "failed": f"The training has failed after {at}: {run.problem}",
        }[state]

    def _pace(self, run: Background) -> str:
        if run.seconds_left is None:
            return ""
        last = self.film.steps[-1]
        speed = f"learning rate {last.learning_rate:.2g}, {last.tokens_per_second:,.0f} tokens a second"
        return f", about {_spoken(run.seconds_left)} left; {speed}"


def _watched(run: Iterator[Step], film: Film) -> Iterator[Step]:
    """In the thread: hand on each step when the film has it, and look at the model when all is over."""
    try:
        with closing(run):
            for step in run:
                film.take(step)
                yield step
    finally:
        film.look()


def _spoken(seconds: float) -> str:
    if seconds < 1.5:
        return "1 second"
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
