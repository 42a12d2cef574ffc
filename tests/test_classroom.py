"""A class on one server: two students on a tiny notebook, what counts as a failure, and the page's configuration."""

import asyncio
import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import classroom
from classroom import Stage, Student

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "classroom.md").read_text()
DIES = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"

# A hundred million bytes that two processes share.
SHARES = """
import os, time
held = b"1" * 10**8
child = os.fork()
if child:
    print(os.getpid(), child, flush=True)
time.sleep(60)
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A class of two on a notebook of these cells: exit code and what was printed."""
    monkeypatch.setattr(classroom, "BEFORE", {"kernel": ""})  # torch is imported by the lesson's own test

    def of(*cells: str | nbformat.NotebookNode) -> tuple[int, str]:
        path = tmp_path / "lesson.ipynb"
        ready = [cell if isinstance(cell, dict) else new_code_cell(cell) for cell in cells]
        nbformat.write(new_notebook(cells=[new_markdown_cell("Hello."), *ready]), path)
        code = classroom.main(["--students=2", f"--notebook={path}"])
        return code, capsys.readouterr().out

    return of


def test_two_students_run_all_cells_each_in_a_kernel_and_a_folder_of_their_own(run):
    own = "from pathlib import Path\nPath('mine.txt').touch(exist_ok=False)"
    shown = new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]})
    code, said = run("seat = 1", own, "seat += 1\nassert seat == 2", shown)
    assert code == 0
    assert "2 students at once" in said and "failures: 0" in said
    assert re.search(r"^lesson +\d+\.\d +\d+ +\d+$", said, re.MULTILINE)
    assert re.search(r"^\d+ students on one server$", said, re.MULTILINE)


def test_a_cell_that_fails_and_a_kernel_that_dies_are_counted_and_named(run):
    code, said = run("raise ValueError('lost')", "fine = True", DIES)
    assert code == 1
    assert "failures: 4" in said
    for name in ("student-01", "student-02"):
        assert f"{name}, lesson, code cell 1: ValueError: lost" in said
        assert f"{name}, lesson, code cell 3: KernelDied" in said
    assert "on one server" not in said  # no promise from a class that did not go through


def test_a_class_of_nobody_is_refused(capsys):
    with pytest.raises(SystemExit):
        classroom.main(["--students=0"])
    assert "at least 1" in capsys.readouterr().err


def test_pages_that_processes_share_are_counted_once():
    with subprocess.Popen([sys.executable, "-c", SHARES], stdout=subprocess.PIPE, text=True) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        both = [classroom.pss(pid) for pid in pids]
        subprocess.run(["kill", *map(str, pids)], check=True)
    assert 100 < sum(both) < 150 and max(both) < 100
    assert classroom.pss(parent.pid) == 0  # it has ended


def test_how_many_fit_is_counted_by_the_mean_of_the_peaks_and_what_the_server_gained():
    students = [Student(name, [], None, peak=peak) for name, peak in (("a", 250.0), ("b", 350.0))]
    said = list(classroom.report(students, [Stage("lesson", 12.0, [200.0, 300.0])], server=(100.0, 200.0)))
    assert "lesson       12.0      250      300" in said
    assert said[-2:] == ["42 students on one server", "33 students with a server each, as on a hub"]


def test_make_says_how_many():
    said = subprocess.run(["make", "--dry-run", "classroom", "N=3"], cwd=ROOT, capture_output=True, text=True)
    assert "classroom.py --students=3" in said.stdout


def test_the_page_s_configuration_copies_lessons_keeps_changed_ones_and_ends_idle_kernels(tmp_path):
    config = re.search(r"```python\n(# jupyter_server_config\.py\n.+?)```", PAGE, re.DOTALL)[1]
    config = config.replace("cull_idle_timeout = 1200", "cull_idle_timeout = 8")
    config = config.replace("interval = 60", "interval = 1")
    (tmp_path / "jupyter_config_dir").mkdir()
    (tmp_path / "jupyter_config_dir" / "jupyter_server_config.py").write_text(config)
    lessons = tmp_path / "gptlab-lessons"
    lessons.mkdir()
    (lessons / "00_start_here.ipynb").write_text("mine")

    with classroom.running(tmp_path, tmp_path) as server:

        async def start_and_wait() -> int:
            session = await server.ask("sessions", path="a", name="a", type="notebook", kernel={"name": "python3"})
            socket = await server.connect(session["kernel"]["id"])
            deadline = time.monotonic() + classroom.ASK_SECONDS
            while (left := len(await server.ask("kernels"))) and time.monotonic() < deadline:
                await asyncio.sleep(0.2)
            await Student("a", [], socket).leave()
            return left

        assert asyncio.run(start_and_wait()) == 0
    assert (lessons / "00_start_here.ipynb").read_text() == "mine"
    assert (lessons / "01_language_models.ipynb").exists()
