"""Lessons as nbgrader's source notebooks: answers where it empties, tests where it grades, its metadata at home here.

nbgrader itself is no dependency (it brings a notebook server and extensions of JupyterLab); docs/nbgrader.md says with
which release its commands were run on these notebooks.
"""

import copy
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from gptlab.exercises import exercises
from make_nbgrader import answered, main, source_version
from make_student import handed_out
from run_notebooks import clean, run
from slide_marks import mark
from tests.disks import names_in
from tests.lessons import LESSONS


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def source(request) -> nbformat.NotebookNode:
    return source_version(nbformat.read(request.param, as_version=4), 2)


def marked(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if "nbgrader" in cell.metadata]


def test_each_exercise_is_a_cell_to_be_emptied_and_a_locked_one_with_points(source):
    answers, tests = marked(source)[::2], marked(source)[1::2]
    number = source.metadata.gptlab.lesson
    assert len(answers) == len(tests) == sum(name.startswith(f"{number}.") for name in exercises())
    for answer, test in zip(answers, tests, strict=True):
        assert re.search(r"^### BEGIN SOLUTION\n(.+\n)*answer = .*\n### END SOLUTION\n", emptied_lines(answer.source))
        assert "answer = ..." not in answer.source and not answer.outputs
        assert test.source.splitlines()[-1] == "assert verdict.right, verdict"
        assert answer.metadata.nbgrader == fields(answer.id, solution=True)
        assert test.metadata.nbgrader == fields(test.id, grade=True, locked=True) | {"points": 2}
    nbformat.validate(source)


def emptied_lines(text: str) -> str:
    return re.sub(r"\n\n+", "\n", text)


def fields(grade_id: str, *, solution: bool = False, grade: bool = False, locked: bool = False) -> dict:
    assert re.fullmatch(r"[A-Za-z0-9_-]+", grade_id)  # which nbgrader demands
    values = {"schema_version": 3, "grade_id": grade_id, "solution": solution, "grade": grade, "locked": locked}
    return values | {"task": False}


def test_names_of_cells_are_unique_and_no_solution_stands_beside_its_answer(source):
    names = [cell.metadata.nbgrader.grade_id for cell in marked(source)]
    assert len(set(names)) == len(names)
    assert not any("solution" in cell.metadata.get("tags", ()) for cell in source.cells)


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ('gptlab.check("00.x", 3, record=False)', "answer = 3"),
        ('n = 3\n\ngptlab.check("00.x", n * (n + 1), record=False)', "n = 3\n\nanswer = n * (n + 1)"),
        (
            'gptlab.check(\n    "00.x",\n    lambda a: (\n        a\n    ),\n    record=False,\n)',
            "answer = lambda a: (\n        a\n    )",
        ),
    ],
)
def test_what_a_solution_checks_becomes_the_answer(solution, answer):
    assert answered(solution) == f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"


@pytest.fixture(scope="module")
def small() -> nbformat.NotebookNode:
    """A lesson of one exercise, as a source notebook."""
    check = 'gptlab.check("00.triangle", {}{})'
    exercise = new_code_cell("answer = ...\n\n" + check.format("answer", ""), id="triangle")
    solution = new_code_cell(check.format("sum(range(9))", ", record=False"), id="triangle-solution")
    exercise.metadata["tags"], solution.metadata["tags"] = ["exercise"], ["solution"]
    return source_version(new_notebook(cells=[new_code_cell("import gptlab"), exercise, solution]), 1)


def test_its_metadata_survives_a_run_cleaning_slides_and_handing_out(small, tmp_path):
    before = [copy.deepcopy(cell.metadata.nbgrader) for cell in marked(small)]
    notebook = copy.deepcopy(small)
    mark(clean(run(notebook, tmp_path)))
    assert "✓ 00.triangle: right" in marked(notebook)[0].outputs[0].data["text/plain"]
    nbformat.write(handed_out(notebook), tmp_path / "copy.ipynb")
    again = nbformat.read(tmp_path / "copy.ipynb", as_version=4)
    assert [cell.metadata.nbgrader for cell in marked(again)] == before
    assert [cell.source for cell in again.cells] == [cell.source for cell in small.cells]


def test_assignments_are_written_and_those_that_are_there_stay(tmp_path, capsys):
    there = tmp_path / LESSONS[0].stem / LESSONS[0].name
    there.parent.mkdir()
    there.write_text("mine")
    assert main([str(tmp_path), "--points", "3"]) == 0
    assert names_in(tmp_path) == [path.stem for path in LESSONS]
    assert there.read_text() == "mine" and "is there already, kept" in capsys.readouterr().err
    last = nbformat.read(tmp_path / LESSONS[-1].stem / LESSONS[-1].name, as_version=4)
    assert marked(last)[1].metadata.nbgrader.points == 3
