"""A training in a thread of its own, so that the page stays alive; one at a time in a kernel.

The thread computes and touches no widget. Whoever watches asks for `state`; `pause`, `go_on` and `stop` are wishes that
are met when the step under way has been taken.
"""

import atexit
import threading
from collections.abc import Callable, Iterator
from time import perf_counter

from gptlab.training import Step

_turn = threading.Lock()
_latest: list["Background"] = []


class Background:
    """The steps of a training, taken in a thread, and closed there: that is when its checkpoint is written.

    At most one runs: `start` stops the one before it, which keeps what it has learned and is `pushed_out`.
    """

    def __init__(self, begin: Callable[[], Iterator[Step]], n_steps: int) -> None:
        self.n_steps, self.number = n_steps, 0  # of the whole training; of the last step taken
        self.problem: Exception | None = None
        self.pushed_out = False
        self._begin, self._taken, self._seconds = begin, 0, 0.0
        self._allowed, self._stopping = threading.Event(), threading.Event()
        self._allowed.set()
        self._thread = threading.Thread(target=self._run, name="gptlab training", daemon=True)

    @property
    def alive(self) -> bool:
        """Whether it could take another step."""
        return self._thread.is_alive()

    @property
    def state(self) -> str:
        """One of "running", "paused", "stopping", "stopped", "finished" and "failed", the last with a `problem`."""
        if self.alive:
            return "stopping" if self._stopping.is_set() else "running" if self._allowed.is_set() else "paused"
        if self.problem is not None:
            return "failed"
        return "finished" if self.number >= self.n_steps else "stopped"

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far, pauses not counted; None before the first step."""
        return (self.n_steps - self.number) * self._seconds / self._taken if self._taken else None

    def start(self) -> None:
        """Begin, when the training that runs elsewhere has stopped."""
        with _turn:
            for other in _latest:
                if other.alive:
                    other.pushed_out = True
                    other.stop()
                    other.wait()
            _latest[:] = [self]
            self._thread.start()

    def pause(self) -> None:
        """Take no further step for now."""
        self._allowed.clear()

    def go_on(self) -> None:
        """Go on after a pause."""
        self._allowed.set()

    def stop(self) -> None:
        """Take no further step at all."""
        self._stopping.set()
        self._allowed.set()

    def wait(self) -> None:
        """Until the last step has been taken and its checkpoint is written."""
        if self._thread.ident is not None:  # else it was never started
            self._thread.join()

    def _run(self) -> None:
        try:
            steps = self._begin()
            try:
                self._take(steps)
            finally:
                steps.close()
        except Exception as problem:  # a thread has nobody to raise to; the watcher will say it
            self.problem = problem

    def _take(self, steps: Iterator[Step]) -> None:
        while not self._stopping.is_set():
            began = perf_counter()
            step = next(steps, None)
            if step is None:
                return
            self.number, self._taken = step.number, self._taken + 1
            self._seconds += perf_counter() - began
            self._allowed.wait()


@atexit.register
def stop_training() -> None:
    """Stop the training that runs, if one does, and wait for its checkpoint."""
    for one in _latest:
        one.stop()
        one.wait()
