"""How many students fit on one server: N kernels run a lesson there at once. `make classroom N=10`, or

    python scripts/classroom.py [--students 10] [--notebook notebooks/00_start_here.ipynb]

Each student has a folder with a copy of the lessons, and a kernel that is asked for and talked to as a browser does
it: by the server's REST API and by websocket, cell after cell. All begin each stage together. After it the memory of
every kernel is read, and during it once a second. Memory is PSS, from /proc/PID/smaps_rollup, hence Linux: a page that
processes share, as those of the libraries, is divided among them, so the numbers may be added up. RSS would count it
once for each. Sizes are in MB of a million bytes. The exit code is 1 if a cell failed.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from gptlab.commands._lessons import FIRST, copy_lessons, shipped_lessons

# What a kernel does before the lesson, so that neither libraries nor weights are counted as the lesson's.
BEFORE = {
    "kernel": "",
    "imports": "import torch, plotly.graph_objects, ipywidgets, anywidget, gptlab.apps, gptlab.figures",
    "weights": "import gptlab; model, tok = gptlab.load('small-world')",
}
START_SECONDS, ASK_SECONDS, CELL_SECONDS, STOP_SECONDS = 300, 300, 600, 10
MACHINE_MB, SYSTEM_MB = 16_000, 1_000  # what is asked about, and what is left to the system and the hub


@dataclass
class Server:
    """A running Jupyter server."""

    url: str
    token: str
    pid: int

    async def ask(self, what: str, **content: object) -> dict:
        """GET, or POST where there is content."""
        body = {"method": "POST", "body": json.dumps(content)} if content else {}
        answer = await AsyncHTTPClient().fetch(self._request(f"{self.url}api/{what}", **body))
        return json.loads(answer.body)

    async def connect(self, kernel: str) -> WebSocketClientConnection:
        address = f"{self.url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels"
        return await websocket_connect(self._request(address), max_message_size=10**9)

    def _request(self, address: str, **more: object) -> HTTPRequest:
        seconds = {"connect_timeout": ASK_SECONDS, "request_timeout": ASK_SECONDS}
        return HTTPRequest(address, headers={"Authorization": f"token {self.token}"}, **seconds, **more)


def running(home: Path, folder: Path, *options: str) -> AbstractContextManager[Server]:
    """`scripts/lab.py` for somebody whose home is empty."""
    return started([sys.executable, Path(__file__).with_name("lab.py"), f"--folder={folder}", *options], home)


@contextmanager
def started(command: Sequence[str | Path], home: Path, **variables: str) -> Iterator[Server]:
    """A command that starts JupyterLab, in an empty home and on a free port; each kernel will have one thread."""
    command, log = [*command, "--no-browser", "--port=0"], home / "lab.log"
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | in_home(home) | variables
    with log.open("w") as out:
        lab = subprocess.Popen(command, cwd=home, env=environment, stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + START_SECONDS
        while (server := reached(Path(environment["JUPYTER_RUNTIME_DIR"]), lab.pid)) is None:
            if lab.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"JupyterLab did not start within {START_SECONDS} s:\n{log.read_text()}")
            time.sleep(0.1)
        yield server
    finally:
        lab.terminate()
        try:
            lab.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            lab.kill()  # it waits for a kernel that died; the kernels end when they see that it has gone
            lab.wait()


def in_home(home: Path) -> dict[str, str]:
    """The variables by which Jupyter finds nothing but what is in that home."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    return {"HOME": str(home)} | {name: str(home / name.lower()) for name in places}


def reached(folder: Path, pid: int) -> Server | None:
    """The server, if it answers: it writes down how to reach it a moment before."""
    try:
        said = json.loads((folder / f"jpserver-{pid}.json").read_text())
        urlopen(f"{said['url']}api", timeout=ASK_SECONDS).close()
    except (OSError, ValueError):  # no file, half a file, nobody at that address
        return None
    return Server(said["url"], said["token"], pid)


@dataclass
class Student:
    """An open notebook. The kernel's pid is asked for; `peak` is the most memory that was seen, in MB."""

    name: str
    cells: list[dict]
    socket: WebSocketClientConnection
    pid: int = 0
    peak: float = 0
    failures: list[str] = field(default_factory=list)

    async def run(self, stage: str, cells: list[dict]) -> None:
        """Run cells in their order, the later ones also when one has failed, and write down which did."""
        for number, cell in enumerate(cells, start=1):
            reply = await self._execute(cell["source"])
            if reply["status"] != "ok" and "raises-exception" not in cell["metadata"].get("tags", ()):
                why = f"{reply.get('ename', reply['status'])}: {reply.get('evalue', '')}"
                self.failures.append(f"{self.name}, {stage}, code cell {number}: {why}")

    async def ask_pid(self) -> None:
        reply = await self._execute("", user_expressions={"pid": "__import__('os').getpid()"})
        self.pid = int(reply["user_expressions"]["pid"]["data"]["text/plain"])

    async def leave(self) -> None:
        self.socket.close()
        while await self.socket.read_message() is not None:
            pass  # what came meanwhile

    async def _execute(self, code: str, **more: object) -> dict:
        """The kernel's reply, when all output has come too; one of ours if there will be none."""
        try:
            return await asyncio.wait_for(self._reply(code, more), CELL_SECONDS)
        except asyncio.TimeoutError:
            return {"status": "error", "ename": "Timeout", "evalue": f"no reply within {CELL_SECONDS} s"}

    async def _reply(self, code: str, more: dict) -> dict:
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
        header |= {"session": self.name, "username": self.name}
        content = {"code": code, "silent": False, "allow_stdin": False, **more}
        message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}
        await self.socket.write_message(json.dumps(message))
        reply, idle = None, False
        while reply is None or not idle:
            message = await self.socket.read_message()
            if message is None:
                return {"status": "error", "ename": "Closed", "evalue": "the server closed the connection"}
            if isinstance(message, bytes):
                continue  # arrays of a widget; replies are always text
            message = json.loads(message)
            state = message["content"].get("execution_state")
            if state in ("restarting", "dead"):
                return {"status": "error", "ename": "KernelDied", "evalue": "the kernel ended"}
            if message["parent_header"].get("msg_id") == header["msg_id"]:
                idle = idle or state == "idle"
                reply = message["content"] if message["msg_type"] == "execute_reply" else reply
        return reply


@dataclass
class Stage:
    """Seconds until the last student was through, and each kernel's memory then, in MB."""

    name: str
    seconds: float
    memory: list[float]


def pss(pid: int) -> float:
    """MB of a process with its part of shared pages; 0 when it has ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)[1]) * 1024 / 1e6


def read_memory(students: list[Student]) -> list[float]:
    memory = [pss(student.pid) for student in students]
    for student, now in zip(students, memory, strict=True):
        student.peak = max(student.peak, now)
    return memory


async def watch(students: list[Student]) -> None:
    while True:
        await asyncio.sleep(1)
        read_memory(students)


async def sit_down(server: Server, name: str, lesson: str) -> Student:
    """Open a student's copy of the lesson, which starts a kernel, and connect to that."""
    path = f"{name}/{lesson}"
    notebook = await server.ask(f"contents/{path}")
    session = await server.ask("sessions", path=path, name=lesson, type="notebook", kernel={"name": "python3"})
    cells = [cell for cell in notebook["content"]["cells"] if cell["cell_type"] == "code"]
    student = Student(name, cells, await server.connect(session["kernel"]["id"]))
    await student.ask_pid()
    return student


async def hold_class(
    server: Server, names: list[str], lesson: str
) -> tuple[list[Student], list[Stage], tuple[float, float]]:
    """All students through all stages, and the memory of the server before the first cell and at the end, in MB."""
    begun = time.monotonic()
    students = await asyncio.gather(*(sit_down(server, name, lesson) for name in names))
    before = pss(server.pid)
    watching = asyncio.create_task(watch(students))
    cells = {name: [{"source": code, "metadata": {}}] for name, code in BEFORE.items()}
    stages = []
    for stage in (*BEFORE, "lesson"):
        await asyncio.gather(*(student.run(stage, cells.get(stage, student.cells)) for student in students))
        stages.append(Stage(stage, time.monotonic() - begun, read_memory(students)))
        begun = time.monotonic()
    watching.cancel()
    memory = before, pss(server.pid)
    await asyncio.gather(*(student.leave() for student in students))
    return students, stages, memory


def report(students: list[Student], stages: list[Stage], server: tuple[float, float]) -> Iterator[str]:
    """The lines to print; how many fit is said only when nobody failed.

    What the server gained during the class is the students' too: it holds what goes to and fro.
    """
    failures = [failure for student in students for failure in student.failures]
    yield from failures
    yield f"{len(students)} students at once on {len(os.sched_getaffinity(0))} cores, failures: {len(failures)}"
    yield f"{'after':8} {'seconds':>8} {'MB each':>8} {'largest':>8}"
    for stage in stages:
        mean = sum(stage.memory) / len(students)
        yield f"{stage.name:8} {stage.seconds:8.1f} {mean:8.0f} {max(stage.memory):8.0f}"
    each = sum(student.peak for student in students) / len(students)
    yield f"{'peak':8} {'':8} {each:8.0f} {max(student.peak for student in students):8.0f}"
    empty, full = server
    yield f"the server held {empty:.0f} MB before the first cell, {full:.0f} at the end"
    if not failures:
        each += (full - empty) / len(students)
        left = MACHINE_MB - SYSTEM_MB
        yield f"{MACHINE_MB / 1000:.0f} GB, less {SYSTEM_MB / 1000:.0f} for the system, hold, all at their peak:"
        yield f"{int((left - empty) / each)} students on one server"
        yield f"{int(left / (each + empty))} students with a server each, as on a hub"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=10, help="how many at once")
    parser.add_argument("--notebook", type=Path, default=shipped_lessons() / FIRST, help="what they run")
    options = parser.parse_args(words)
    if options.students < 1:
        parser.error("--students must be at least 1")
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "class")
        names = [f"student-{number:02}" for number in range(1, options.students + 1)]
        for name in names:
            copy_lessons(options.notebook.parent, folder / name)
        with running(Path(home), folder) as server:
            students, *rest = asyncio.run(hold_class(server, names, options.notebook.name))
    print("\n".join(report(students, *rest)))
    return int(any(student.failures for student in students))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
