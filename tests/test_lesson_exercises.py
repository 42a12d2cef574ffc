"""Exercises as they stand in the lessons: each is there, unanswered, with its solution; the lesson ends in progress.

Read from the committed outputs, which nbval compares with a fresh run: so what holds here holds after "Run all".
"""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from gptlab.exercises import exercises
from tests.lessons import LESSONS

AT_LEAST = 3
CHECKED = re.compile(r"""check\(\s*["'](\d\d\.\w+)["']""")


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def path(request) -> Path:
    return request.param


@pytest.fixture
def code(path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def tagged(code: list[nbformat.NotebookNode], tag: str) -> dict[str, nbformat.NotebookNode]:
    """The cells with a tag, by the exercise that each checks."""
    return {CHECKED.search(cell.source)[1]: cell for cell in code if tag in cell.metadata.get("tags", ())}


def said(cell: nbformat.NotebookNode) -> str:
    return "\n".join(output.get("data", {}).get("text/plain", output.get("text", "")) for output in cell.outputs)


def names(path: Path) -> list[str]:
    return [name for name in exercises() if name.startswith(f"{path.name[:2]}.")]


def test_each_exercise_that_can_be_checked_is_asked_and_solved_in_its_lesson(path, code):
    assert len(names(path)) >= AT_LEAST
    assert sorted(tagged(code, "exercise")) == sorted(tagged(code, "solution")) == sorted(names(path))


def test_run_all_answers_nothing_for_the_learner(code):
    for name, cell in tagged(code, "exercise").items():
        assert f"· {name}: not answered yet" in said(cell)


def test_each_solution_is_right(code):
    for name, cell in tagged(code, "solution").items():
        assert f"✓ {name}: right" in said(cell)


def test_a_solution_does_not_touch_the_learners_answer(code):
    for cell in tagged(code, "solution").values():
        stored = {
            node.id for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name) and is_stored(node)
        }
        assert "answer" not in stored


def is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def test_the_lesson_ends_in_progress_which_counts_nothing_yet(path, code):
    assert code[-1].source.strip() == f'gptlab.progress("{path.name[:2]}")'
    total = len(names(path))
    assert said(code[-1]).strip("'").startswith(f"0 of {total} exercises solved; still open: ")
