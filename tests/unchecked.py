"""Leave out the checks of annotations, for a while.

They make a call ten times slower. A test that tells the world's stories by the hundred thousand words does without
them; others tell the same stories with them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxtyping import config


@contextmanager
def unchecked() -> Iterator[None]:
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)
