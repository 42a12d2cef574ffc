"""What every test can rely on: one thread, nothing that reaches beyond this machine, the same numbers each time."""

import os
import random
import socket

# Before torch is imported anywhere: two workers on two cores, each on one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The same examples each time, and no bound on the seconds of one: on a busy machine any may be kept waiting.
settings.register_profile("gptlab", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gptlab")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left alone with them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("lesson") is None)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Set the global seeds, though a test that draws had better have a generator of its own."""
    import torch

    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """A test that asks the network fails at once, wherever it runs."""
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"a test tried to reach {address}")
        return connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", only_here)
        yield


@pytest.fixture
def passes(request):
    """How often the first block of the model that the examples draw has run."""
    from tests.examples._model import untrained

    seen = []
    handle = untrained()[0].blocks[0].register_forward_hook(lambda *_: seen.append(1))
    request.addfinalizer(handle.remove)
    return seen


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    from tests.installing import build

    return build(tmp_path_factory.mktemp("source"))
