"""A real JupyterLab on a free port with a fresh profile, and a browser that can reach nothing but it.

    def test_something(open_notebook):
        page = open_notebook("00_start_here.ipynb")   # a Lab: the page and what one does on it
        page.run_all()
        assert page.problems == []

The lab serves a copy of `notebooks/`, so a test may run and save without touching the committed files.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import NONE, find
from tests.browser.lab import Lab

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
TOKEN = "browser-tests"
START_SECONDS = 60


@dataclass
class Server:
    """A running JupyterLab and the folder that it serves."""

    port: int
    folder: Path

    def address(self, notebook: str) -> str:
        """Of one notebook, in a workspace of its own, so that no test finds another's tabs open."""
        return f"http://{HOST}:{self.port}/lab/workspaces/{uuid.uuid4().hex}/tree/notebooks/{notebook}?token={TOKEN}"

    def kernels(self) -> list[dict]:
        return self._api("GET", "kernels")

    def shut_down_kernels(self) -> None:
        for session in self._api("GET", "sessions"):
            self._api("DELETE", f"sessions/{session['id']}")

    def _api(self, method: str, what: str) -> list[dict] | None:
        address = f"http://{HOST}:{self.port}/api/{what}"
        request = urllib.request.Request(address, method=method, headers={"Authorization": f"token {TOKEN}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("home")  # nobody has ever opened JupyterLab here
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", dirs_exist_ok=True)
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    fresh = {name: str(home / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    log = home / "lab.log"
    command = [sys.executable, str(ROOT / "scripts" / "lab.py"), f"--folder={folder}", "--no-browser", f"--ip={HOST}"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += ["--LabApp.expose_app_in_browser=True"]  # for Lab to call JupyterLab's own commands
    with log.open("w") as out:
        lab = subprocess.Popen(command, env={**os.environ, "HOME": str(home), **fresh}, stdout=out, stderr=out)
    try:
        wait_for_answer(lab, port, log)
        yield Server(port, folder)
    finally:
        lab.terminate()
        lab.wait(timeout=30)


def wait_for_answer(lab: subprocess.Popen, port: int, log: Path) -> None:
    """Until JupyterLab answers; if it ends or stays silent, its own log says why."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and lab.poll() is None:
        try:
            urllib.request.urlopen(f"http://{HOST}:{port}/api", timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not answer within {START_SECONDS} s:\n{log.read_text()}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find()
    if path is None:
        pytest.fail(NONE)
    arguments = [
        f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {HOST}",  # nothing else has an address
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    ]
    with sync_playwright() as playwright:
        sandbox = not (hasattr(os, "geteuid") and os.geteuid() == 0)  # Chromium's does not work for root
        browser = playwright.chromium.launch(executable_path=path, args=arguments, chromium_sandbox=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def open_notebook(server: Server, browser: Browser) -> Iterator[Callable[..., Lab]]:
    """A function that opens a notebook of the served folder in a browser that has seen nothing before."""
    contexts = []

    def open_(notebook: str, *, kernel: bool = True) -> Lab:
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        contexts.append(context)
        page = context.new_page()
        problems = watch(page)
        if not kernel:  # the page's wish for one is never answered
            page.route("**/api/sessions*", lambda route: None if route.request.method == "POST" else route.continue_())
        page.goto(server.address(notebook))
        return Lab(page, problems)

    yield open_
    for context in contexts:
        context.close()
    server.shut_down_kernels()


def watch(page: Page) -> list[str]:
    """Collect what must not happen: an error in the console or the page, a request that leaves the machine."""
    problems = []

    def request(request):
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != HOST:
            problems.append(f"request to {request.url}")

    def console(message):
        if message.type == "error":
            problems.append(f"console error: {message.text} ({message.location.get('url', '')})")

    page.on("request", request)
    page.on("console", console)
    page.on("pageerror", lambda error: problems.append(f"page error: {error}"))
    page.on("websocket", lambda socket: urlsplit(socket.url).hostname == HOST or problems.append(socket.url))
    return problems
