"""How far a training is: lines that stay, and on a terminal a bar that is written over; and each loss in a file."""

import sys
from pathlib import Path
from time import perf_counter

from gptlab.training import Step

BAR = 24  # characters
QUIET = 10.0  # seconds without a line, where there is no bar, then one is due


class Progress:
    """Says of each step what is worth saying: a line for a validation, a bar meanwhile."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.began = self.said = perf_counter()
        self.first: int | None = None
        self.bar = sys.stderr.isatty()

    def show(self, step: Step) -> None:
        """Tell of one step."""
        if self.first is None:
            self.first = step.number
        now = perf_counter()
        left = (now - self.began) / (step.number - self.first + 1) * (self.steps - step.number)
        line = f"step {step.number:,} of {self.steps:,}, loss {step.loss:.4f}"
        if step.val_loss is not None:
            line += f", held out {step.val_loss:.4f}"
        line += f", {step.tokens_per_second:,.0f} tokens a second, {in_words(left)} left"
        if self.bar:
            print(end="\r\x1b[K", file=sys.stderr, flush=True)
        if step.val_loss is not None or step.number == self.first or not self.bar and now - self.said > QUIET:
            print(line, flush=True)
            self.said = now
        elif self.bar:
            done = BAR * step.number // self.steps
            print(f"[{'#' * done}{'.' * (BAR - done)}] {line}", end="", file=sys.stderr, flush=True)


class Losses:
    """A table of all steps in a file, for a plot or a spreadsheet; steps taken again stand there once.

    Numbers are written in full, so that two runs can be compared to the last bit.
    """

    COLUMNS = "step,loss,val_loss,learning_rate,tokens_seen"

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, None

    def add(self, step: Step) -> None:
        """One more line."""
        if self.file is None:
            self._begin(step.number)
        val_loss = "" if step.val_loss is None else step.val_loss
        self.file.write(f"{step.number},{step.loss},{val_loss},{step.learning_rate},{step.tokens_seen}\n")
        self.file.flush()

    def close(self) -> None:
        """Nothing more comes."""
        if self.file is not None:
            self.file.close()

    def _begin(self, number: int) -> None:
        """Keep the lines of the steps before this one: those after the checkpoint are taken again."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        kept = [line for line in lines[1:] if int(line.split(",")[0]) < number]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("w", encoding="utf-8")
        self.file.write("\n".join([self.COLUMNS, *kept]) + "\n")


def in_words(seconds: float | int) -> str:
    """A time as one says it: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
