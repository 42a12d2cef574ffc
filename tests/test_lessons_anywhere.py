"""Lessons where nothing is as at home: one busy core, little memory, nowhere to write, odd paths and settings.

All at once, in one run of each lesson; what fails says which it was.
"""

import asyncio
import os
import queue
import time
from pathlib import Path

import nbformat
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell

from tests.disks import read_only
from tests.lessons import LESSONS, ROOT, client, comparable

# What a lesson may take on a quiet machine. A bound in seconds is tested at ten times the figure.
SECONDS, LONG_SECONDS = 30, {"07": 120}
MEGABYTES, LESS_MEGABYTES = 900, {"00": 700}
OUTPUT_BYTES = 1_000_000
EXEMPT = {"nbval-ignore-output", "nbval-skip"}
INTERRUPT_SECONDS = 2
INTERRUPT_AFTER = (0.5, 0.2, 0.05)  # earlier where the cell came to its end just before the interrupt
LONG_CELL_SECONDS = 2
# A kernel may take another GB once everything is imported: what small hubs give.
LITTLE_MEMORY = """
import resource, gptlab.apps, gptlab.figures, plotly, torch
data = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmData")))
resource.setrlimit(resource.RLIMIT_DATA, (data * 1024 + 2**30,) * 2)
f"{torch.get_num_threads()} thread, {gptlab.__file__}"
"""
# What the kernel itself came to, in kilobytes; ru_maxrss would count the process that it was forked from as well.
PEAK = "int(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"

pytestmark = pytest.mark.lesson


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The checkout, read-only, in a folder with blanks and umlauts; and a home to which nothing can be written."""
    folder, empty = tmp_path_factory.mktemp("Ünser Kurs für alle"), tmp_path_factory.mktemp("empty")
    with read_only(ROOT, folder / "gpt lab") as checkout, read_only(empty, folder / "home") as home:
        yield checkout, home


@pytest.fixture
def one_core():
    """The kernel that a test starts inherits it."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


def odd_settings(checkout: Path, home: Path) -> dict[str, str]:
    usual = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_CTYPE", "PYTHONUTF8")}
    odd = {"HOME": str(home), "LANG": "C", "TZ": "Pacific/Chatham", "PYTHONPATH": str(checkout)}
    return usual | odd | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_case_138_case_142_it_runs_with_one_core_little_memory_and_nowhere_to_write(path, elsewhere, one_core):
    checkout, home = elsewhere
    number = path.stem[:2]
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    compared = [cell for cell in code if not EXEMPT & set(cell.metadata.get("tags", ()))]
    stored = [comparable(cell.outputs) for cell in compared]
    before, after = new_code_cell(LITTLE_MEMORY), new_code_cell(PEAK)
    notebook.cells = [before, *code, after]
    runner = client(notebook, checkout / "notebooks")
    seconds = []
    with runner.setup_kernel(env=odd_settings(checkout, home)):
        for index, cell in enumerate(notebook.cells):
            begun = time.monotonic()
            runner.execute_cell(cell, index)
            seconds.append(time.monotonic() - begun)
        assert late_messages(runner) == []
        assert text_of(before) == repr(f"1 thread, {checkout}/gptlab/__init__.py")
        assert sum(seconds) < 10 * LONG_SECONDS.get(number, SECONDS)
        assert int(text_of(after)) / 1024 < LESS_MEGABYTES.get(number, MEGABYTES)
        assert all(len(nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))) < OUTPUT_BYTES for cell in code)
        assert [comparable(cell.outputs) for cell in compared] == stored
        for cell, taken in zip(code, seconds[1:], strict=False):
            if taken > LONG_CELL_SECONDS:
                interrupted(runner, cell)


def interrupted(runner: NotebookClient, cell: nbformat.NotebookNode) -> None:
    """Run a long cell again, interrupt it early on: it ends soon, by that and nothing else, and the kernel lives."""

    async def run(pause: float) -> float | None:
        """Seconds from the interrupt to the end that it made; None where the cell came to its end by itself."""
        again = new_code_cell(cell.source)
        running = asyncio.ensure_future(runner.async_execute_cell(again, 0))
        while again.execution_count is None and not running.done():  # it has not begun
            await asyncio.sleep(0.01)
        await asyncio.wait([running], timeout=pause)
        if running.done():  # it was long because of what it loads the first time
            await running
            return 0
        begun = time.monotonic()
        await runner.km.interrupt_kernel()
        try:
            await running
        except CellExecutionError as error:
            assert "KeyboardInterrupt" in str(error)
            return time.monotonic() - begun
        return None

    seconds = None
    for pause in INTERRUPT_AFTER:
        seconds = run_sync(run)(pause) if seconds is None else seconds
    assert seconds is not None and seconds < 10 * INTERRUPT_SECONDS, cell.source
    alive = new_code_cell("1 + 1")
    runner.execute_cell(alive, 0)
    assert text_of(alive) == "2"


def text_of(cell: nbformat.NotebookNode) -> str:
    return cell.outputs[0]["data"]["text/plain"]


def late_messages(runner: NotebookClient, seconds: float = 2) -> list[str]:
    """Outputs that arrive after the last cell has ended: nbval would lose them."""
    late = []
    while True:
        try:
            message = run_sync(runner.kc.get_iopub_msg)(timeout=seconds)
        except queue.Empty:
            return late
        if message["msg_type"] in ("stream", "display_data", "execute_result", "error", "update_display_data"):
            late.append(message["msg_type"])
