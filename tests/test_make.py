"""What the Makefile would install and start, seen with a stand-in for pip."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
INDEX = "https://cpu.example/whl"
# Writes down how it was called; what it does when asked for torch's versions is the test's affair.
PIP = """#!/bin/sh
echo "$@" >> calls
[ "$1" != index ] || {answer}
"""


@pytest.fixture
def make(tmp_path):
    """Run make on a copy of the project with a pip that answers as told; what it printed, and pip's calls."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()

    def run(*words: str, answer: str = "true") -> tuple[str, list[str]]:
        pip = tmp_path / "pip"
        pip.write_text(PIP.format(answer=answer))
        pip.chmod(0o755)
        calls = tmp_path / "calls"
        calls.unlink(missing_ok=True)
        command = ["make", "--no-print-directory", "PYTHON=true", "PIP=./pip", f"TORCH_INDEX={INDEX}", *words]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        return said.stdout, calls.read_text().splitlines() if calls.exists() else []

    return run


def installs(calls: list[str]) -> list[str]:
    return [call for call in calls if call.startswith("install")]


def test_where_the_index_of_cpu_builds_answers_torch_comes_from_there_and_first(make):
    _, calls = make(".venv/.lab")
    first, second = installs(calls)
    assert f"--index-url {INDEX}" in first and "--no-deps" in first and first.endswith("torch")
    assert "--constraint constraints.txt" in first
    assert second == "install --constraint constraints.txt --editable ."


def test_the_pin_of_torch_is_met_by_the_cpu_build():
    """So the second installation, from the usual index, looks for no other."""
    from packaging.requirements import Requirement

    pins = (ROOT / "constraints.txt").read_text().splitlines()
    torch = next(Requirement(line) for line in pins if line.startswith("torch=="))
    assert torch.specifier.contains("2.13.0+cpu")


@pytest.mark.parametrize(
    "answer",
    ["false", pytest.param("exec sleep 60", id="silence")],
)
def test_where_it_does_not_answer_seconds_are_lost(make, answer):
    begun = time.monotonic()
    _, calls = make(".venv/.lab", answer=answer)
    assert installs(calls) == ["install --constraint constraints.txt --editable ."]
    assert time.monotonic() - begun < 30


def test_a_second_call_installs_nothing(make):
    make(".venv/.lab")
    assert make(".venv/.lab")[1] == []
    assert len(installs(make(".venv/.test")[1])) == 1


def test_lab_serves_where_it_is_told_with_a_browser_or_without(make):
    assert "lab.py --port=8888 \n" in make("--dry-run", "lab")[0] + "\n"
    assert "lab.py --port=8899 --no-browser" in make("--dry-run", "lab", "BROWSER=", "PORT=8899")[0]


def test_test_is_everything_and_test_fast_leaves_out_lessons_and_browser(make):
    everything, fast = make("--dry-run", "test")[0], make("--dry-run", "test-fast")[0]
    assert "--nbval --nbval-current-env notebooks" in everything and "pytest tests/browser" in everything
    assert "--nbval " not in fast and "pytest tests/browser" not in fast and '-m "not lesson"' in fast


def test_reveal_is_fetched_by_pip_apart_from_what_is_imported_and_without_what_it_needs(make):
    _, calls = make(".venv/.reveal")
    wanted = "install --constraint constraints.txt --no-deps --upgrade --target .venv/reveal sphinx-revealjs"
    assert installs(calls)[-1] == wanted
    assert "make_slides.py slides" in make("--dry-run", "slides")[0]
    assert "make_student.py student" in make("--dry-run", "student")[0]
