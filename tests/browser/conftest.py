"""The lab and the browser, started once, and lessons opened in them.

    def test_something(open_notebook):
        lab = open_notebook("00_start_here.ipynb")   # a copy of its own, opened: the page and what one does on it
        lab.run_all()
        assert lab.errors == [] and lab.problems == []

The lab serves copies of the lessons, so a test may run and save without touching the committed files.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser

from tests.browser.lab import Lab
from tests.browser.server import Server, opened, running_browser, running_lab


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_lab(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def open_notebook(server: Server, browser: Browser) -> Iterator[Callable[[str], Lab]]:
    """A function that opens a copy of a lesson in a browser that has seen nothing before."""
    with ExitStack() as stack:

        def open_(lesson: str) -> Lab:
            notebook = server.copy(lesson)
            stack.callback(server.shut_down, notebook)
            return stack.enter_context(opened(server, browser, notebook))

        yield open_


@pytest.fixture(scope="module")
def open_again_without_kernel(server: Server, browser: Browser) -> Iterator[Callable[[Lab], Lab]]:
    """A function that closes a notebook, ends its kernel, and opens it where no kernel is to be had."""
    with ExitStack() as stack:

        def open_(lab: Lab) -> Lab:
            lab.page.close()
            server.shut_down(lab.notebook)
            return stack.enter_context(opened(server, browser, lab.notebook, kernel=False))

        yield open_


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, open_notebook: Callable[[str], Lab]) -> Lab:
    """The module's LESSON, opened on a fresh profile and run once, for the tests that only look or move a control."""
    lab = open_notebook(request.module.LESSON)
    lab.run_all()
    return lab
