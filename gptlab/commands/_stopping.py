"""Stopping between two steps: Ctrl-C and SIGTERM are wishes, and nothing is broken off half-way."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # the exit code, as shells count: 128 and the number of the signal


class Stop:
    """Whether somebody has asked to stop."""

    def __init__(self, silent: bool) -> None:
        self.silent = silent
        self.asked: int | None = None  # the first signal that came

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal; a second Ctrl-C is no wish any more."""
        if number == signal.SIGINT and self.asked == signal.SIGINT:
            raise KeyboardInterrupt
        if self.asked is None and number == signal.SIGINT and not self.silent:
            os.write(2, b"\nstopping after this step; once more to break it off\n")  # print might be interrupted itself
        self.asked = self.asked or number


@contextmanager
def stop_on_request(*, silent: bool) -> Iterator[Stop]:
    """Inside the block the two signals are noted, not obeyed; an answer is given unless silent."""
    stop = Stop(silent)
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
