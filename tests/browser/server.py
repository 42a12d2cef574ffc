"""JupyterLab as a newcomer gets it, on a free port with a fresh profile, and a browser that can reach nothing else."""

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from scripts.classroom import running
from tests.browser.chromium import NONE, find
from tests.browser.lab import OPEN_MS, Lab

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
TOKEN = "browser-tests"
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

    url: str
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
        address, headers = f"{self.url}api/{what}", {"Authorization": f"token {TOKEN}"}
        with urlopen(Request(address, method=method, headers=headers), timeout=OPEN_MS / 1000) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@contextmanager
def running_lab(home: Path, folder: Path) -> Iterator[Server]:
    """`scripts/lab.py` for somebody whose home is empty, serving a folder."""
    # The last option is for Lab to call JupyterLab's own commands.
    options = [f"--ip={HOST}", f"--IdentityProvider.token={TOKEN}", "--LabApp.expose_app_in_browser=True"]
    with running(home, folder, *options) as lab:
        yield Server(lab.url, folder)


@contextmanager
def running_browser() -> Iterator[Browser]:
    path = find()
    if path is None:
        raise RuntimeError(NONE)
    sandbox = not (hasattr(os, "geteuid") and os.geteuid() == 0)  # Chromium's does not work for root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=CHROMIUM, chromium_sandbox=sandbox, timeout=OPEN_MS
        )
        yield browser
        browser.close()


@contextmanager
def opened(server: Server, browser: Browser, notebook: str, *, kernel: bool = True) -> Iterator[Lab]:
    """A notebook, in a workspace of its own, in a browser that has seen nothing before."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(OPEN_MS)
    problems = watch(page)
    if not kernel:  # the page's wish for one is never answered
        page.route("**/api/sessions*", lambda route: None if route.request.method == "POST" else route.continue_())
    workspace = uuid.uuid4().hex
    page.goto(f"{server.url}lab/workspaces/{workspace}/tree/{notebook}?token={TOKEN}")
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
