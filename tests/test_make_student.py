"""Copies to hand out: no solution, no output, every check at work; the folder whole or as it was."""

import copy
import re
import shutil

import nbformat
import pytest

import make_student
from gptlab.exercises import exercises
from make_student import handed_out, main, write_student
from run_notebooks import add_pictures, clean
from tests.disks import little_room, names_in
from tests.lessons import LESSONS, client

FIRST = LESSONS[0]


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def both(request) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    """A lesson and its copy."""
    lesson = nbformat.read(request.param, as_version=4)
    return lesson, handed_out(copy.deepcopy(lesson))


def test_solutions_and_outputs_are_gone_and_everything_else_stays(both):
    lesson, handed = both
    kept = [cell for cell in lesson.cells if "solution" not in cell.metadata.get("tags", ())]
    assert 0 < len(handed.cells) < len(lesson.cells)
    assert [(cell.id, cell.metadata) for cell in handed.cells] == [(cell.id, cell.metadata) for cell in kept]
    changed = [
        (was.source, now.source) for was, now in zip(kept, handed.cells, strict=True) if was.source != now.source
    ]
    assert all("olutions are folded" in was for was, _ in changed)
    assert handed.metadata == lesson.metadata
    assert not any(cell.outputs or cell.execution_count for cell in handed.cells if cell.cell_type == "code")
    assert "record=False" not in nbformat.writes(handed)
    nbformat.validate(handed)


def test_no_word_of_a_copy_points_to_a_solution(both):
    _, handed = both
    assert not [cell.id for cell in handed.cells if "solution" in cell.source.lower()]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Replace the `...`; solutions are folded below.", "Replace the `...`."),
        ("Each checks itself. Solutions are folded below.\n\n**1.** Why?", "Each checks itself.\n\n**1.** Why?"),
        ("Replace the `...`. Solutions are folded below each exercise.", "Replace the `...`."),
    ],
)
def test_the_sentence_around_what_is_left_out_stays_whole(was, now):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(was)])
    assert handed_out(notebook).cells[0].source == now


@pytest.mark.lesson
def test_checks_and_progress_work_in_a_copy_and_before_it_is_answered_nothing_raises():
    notebook = handed_out(nbformat.read(FIRST, as_version=4))
    client(notebook).execute()
    assert "0 of 4 exercises solved" in notebook.cells[-1].outputs[0].data["text/plain"]
    for cell in notebook.cells:
        if "exercise" in cell.metadata.get("tags", ()):
            name = re.search(r'"(\d\d\.\w+)"', cell.source)[1]
            right = f'from gptlab.exercises import exercises\nanswer = exercises()["{name}"].right'
            cell.source = cell.source.replace("answer = ...", right)
    client(notebook).execute()
    assert notebook.cells[-1].outputs[0].data["text/plain"] == "'4 of 4 exercises solved'"
    assert len([name for name in exercises() if name.startswith("00.")]) == 4


def test_all_lessons_are_written_and_again_in_place_of_the_last_ones(tmp_path, capsys):
    for _ in range(2):
        assert main([str(tmp_path / "student")]) == 0
    assert names_in(tmp_path / "student") == [path.name for path in LESSONS]
    assert names_in(tmp_path) == ["student"]
    assert f"{len(LESSONS)} lessons without solutions" in capsys.readouterr().out


def test_other_files_and_copies_that_were_worked_in_are_left_alone(tmp_path, capsys):
    folder = tmp_path / "student"
    write_student([FIRST], folder)
    (folder / ".ipynb_checkpoints").mkdir()
    write_student([FIRST], folder)  # Jupyter's own folder is nobody's work
    shutil.copy(FIRST, folder)
    (folder / "grades.csv").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([str(folder)]) == 1
    assert f"here somebody has {FIRST.name}, grades.csv" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_lesson_that_cannot_be_read_leaves_no_folder(tmp_path, capsys, monkeypatch):
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    shutil.copy(FIRST, notebooks)
    (notebooks / "01_broken.ipynb").write_text('{"cells": [')
    monkeypatch.setattr(make_student, "NOTEBOOKS", notebooks)
    assert main([str(tmp_path / "student")]) == 1
    assert "no copies were written" in capsys.readouterr().err
    assert names_in(tmp_path) == ["notebooks"]


def test_on_a_full_disk_the_last_copies_stay(tmp_path):
    with little_room(tmp_path / "disk", 60_000) as disk:
        write_student([FIRST], disk / "student")
        before = (disk / "student" / FIRST.name).read_bytes()
        with pytest.raises(OSError, match="student was not written"):
            write_student(LESSONS, disk / "student")
        assert (disk / "student" / FIRST.name).read_bytes() == before
        assert names_in(disk) == ["student"]


def test_a_copy_can_be_run_cleaned_and_handed_out_again(both):
    _, handed = both
    before = nbformat.writes(handed)
    again = clean(copy.deepcopy(handed))
    assert add_pictures(again, {}) == 0
    assert nbformat.writes(handed_out(again)) == before
