"""Lessons run as learners run them: a cell twice, on one busy core, with every warning an error."""

import os
import queue
import time

import nbformat
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from run_notebooks import said_on_stderr
from tests.lessons import LESSONS, ROOT, tolerance

# What a lesson may take: all cells within 30 s and 700 MB. A bound in seconds is tested at ten times the figure.
SECONDS, MEGABYTES = 30, 700
OUTPUT_BYTES = 1_000_000
# What the kernel itself came to, in kilobytes; ru_maxrss would count the process that it was forked from as well.
PEAK = "int(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"

pytestmark = [pytest.mark.lesson, pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)]


def client(notebook: nbformat.NotebookNode) -> NotebookClient:
    resources = {"metadata": {"path": str(ROOT / "notebooks")}}
    return NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources, store_widget_state=False)


def comparable(outputs: list) -> list:
    """What nbval would compare of a cell's outputs."""
    shown = []
    for output in outputs:
        texts = {key: value for key, value in output.get("data", {}).items() if key.startswith("text/")}
        shown += [tolerance.Text(text) for text in (*texts.values(), output.get("text", ""))]
    return shown


def test_case_140_a_cell_run_twice_shows_the_same(path):
    """Each cell twice in a row, with warnings as errors: the second run neither differs nor fails nor complains."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    twice = [new_code_cell(cell.source, metadata=cell.metadata) for cell in code for _ in range(2)]
    strict = new_code_cell("import warnings; warnings.simplefilter('error')")
    notebook.cells = [strict, *twice]
    client(notebook).execute()
    assert said_on_stderr(notebook) == []  # case 139
    for first, second in zip(twice[::2], twice[1::2], strict=True):
        assert comparable(first.outputs) == comparable(second.outputs), first.source


def test_case_138_case_142_on_one_core_it_keeps_its_time_and_nothing_comes_late(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [*(cell for cell in notebook.cells if cell.cell_type == "code"), new_code_cell(PEAK)]
    runner = client(notebook)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # the kernel inherits it
    try:
        with runner.setup_kernel():
            begun = time.monotonic()
            for index, cell in enumerate(notebook.cells):
                runner.execute_cell(cell, index)
            taken = time.monotonic() - begun
            assert late_messages(runner) == []
    finally:
        os.sched_setaffinity(0, cores)
    assert taken < 10 * SECONDS
    assert int(notebook.cells[-1].outputs[0]["data"]["text/plain"]) / 1024 < MEGABYTES
    assert all(len(nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))) < OUTPUT_BYTES for cell in notebook.cells)


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
