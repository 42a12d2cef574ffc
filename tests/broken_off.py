"""`gptlab`, whose training is ended by a signal at one of its steps: at that very step, however busy the machine is.

    python tests/broken_off.py STEP SIGNAL WHOM train --data …

WHOM is the rank of the process that gets the signal ("0" where there is only one), or "torchrun", which passes it on.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing

from gptlab import training
from gptlab.__main__ import main
from gptlab.training import Step, train

RANK, STARTER = os.environ.get("RANK", "0"), os.getppid()


def broken_off(steps: Iterator[Step], number: int, sent: int, whom: str) -> Iterator[Step]:
    """The steps of a training; when all has been done with one of them, the signal comes."""
    with closing(steps):
        for step in steps:
            yield step
            if step.number == number and whom == RANK:
                os.kill(os.getpid(), sent)
            if step.number == number and whom == "torchrun" and RANK == "0":
                os.kill(STARTER, sent)
                while signal.getsignal(sent).asked is None:  # until it has come back from there
                    time.sleep(0.01)


if __name__ == "__main__":
    number, sent, whom = sys.argv[1:4]
    del sys.argv[1:4]
    training.train = lambda *args, **options: broken_off(train(*args, **options), int(number), int(sent), whom)
    sys.exit(main())
