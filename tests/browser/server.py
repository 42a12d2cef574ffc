"""JupyterLab as a newcomer gets it, on a free port with a fresh profile, and a browser that can reach nothing else."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import NONE, find
from tests.browser.lab import Lab

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
TOKEN = "browser-tests"
START_SECONDS = 60
CHROMIUM = [
    f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {HOST}",  # nothing else has an address
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Server:
    """A running JupyterLab and the folder that it serves."""

    port: int
    folder: Path

    def copy(self, lesson: str) -> str:
        """A copy of a lesson under a name of its own, for JupyterLab keeps one kernel a file."""
        name = f"{uuid.uuid4().hex[:8]}_{lesson}"
        shutil.copy(ROOT / "notebooks" / lesson, self.folder / name)
        return name

    def shut_down(self, notebook: str) -> None:
        """End the kernel of a notebook, if it has one."""
        for session in self._api("GET", "sessions"):
            if session["path"] == notebook:
                self._api("DELETE", f"sessions/{session['id']}")

    def _api(self, method: str, what: str) -> list[dict] | None:
        address = f"http://{HOST}:{self.port}/api/{what}"
        request = urllib.request.Request(address, method=method, headers={"Authorization": f"token {TOKEN}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@contextmanager
def running_lab(home: Path, folder: Path) -> Iterator[Server]:
    """`scripts/lab.py` for somebody whose home is empty, serving a folder."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    fresh = {name: str(home / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    command = [sys.executable, str(ROOT / "scripts" / "lab.py"), f"--folder={folder}", "--no-browser", f"--ip={HOST}"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += ["--LabApp.expose_app_in_browser=True"]  # for Lab to call JupyterLab's own commands
    log = home / "lab.log"
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
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not answer within {START_SECONDS} s:\n{log.read_text()}")


@contextmanager
def running_browser() -> Iterator[Browser]:
    path = find()
    if path is None:
        raise RuntimeError(NONE)
    sandbox = not (hasattr(os, "geteuid") and os.geteuid() == 0)  # Chromium's does not work for root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM, chromium_sandbox=sandbox)
        yield browser
        browser.close()


@contextmanager
def opened(server: Server, browser: Browser, notebook: str, *, kernel: bool = True) -> Iterator[Lab]:
    """A notebook, in a workspace of its own, in a browser that has seen nothing before."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    problems = watch(page)
    if not kernel:  # the page's wish for one is never answered
        page.route("**/api/sessions*", lambda route: None if route.request.method == "POST" else route.continue_())
    workspace = uuid.uuid4().hex
    page.goto(f"http://{HOST}:{server.port}/lab/workspaces/{workspace}/tree/{notebook}?token={TOKEN}")
    yield Lab(page, notebook, problems)
    context.close()


def watch(page: Page) -> list[str]:
    """Collect what must not happen: an error in the console or the page, a request that leaves the machine."""
    problems = []

    def request(url: str) -> None:
        address = urlsplit(url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != HOST:
            problems.append(f"request to {url}")

    def console(message):
        if message.type == "error":
            problems.append(f"console error: {message.text} ({message.location.get('url', '')})")

    page.on("request", lambda sent: request(sent.url))
    page.on("websocket", lambda socket: request(socket.url))
    page.on("console", console)
    page.on("pageerror", lambda error: problems.append(f"page error: {error}"))
    return problems
