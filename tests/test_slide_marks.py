"""Which cells stand together on a slide: the rule on small lessons, and every cell of the real ones marked."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gptlab.commands._saved_notebook import FIGURE
from slide_marks import ROWS, TYPES, by_rule, mark, pieces
from tests.lessons import LESSONS

TITLE = new_markdown_cell("# A lesson")


def text(source: str, *tags: str) -> nbformat.NotebookNode:
    return new_markdown_cell(source, metadata={"tags": list(tags)})


def code(source: str = "1 + 1", *tags: str, said: str = "2") -> nbformat.NotebookNode:
    outputs = [new_output("execute_result", {"text/plain": said})]
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


def figure() -> nbformat.NotebookNode:
    return new_code_cell("draw()", outputs=[new_output("display_data", {FIGURE: {}, "text/plain": "a figure"})])


LONG = "\n".join(["x = 1"] * (ROWS - 6))


@pytest.mark.parametrize(
    ("cells", "types"),
    [
        ([code(), code()], ["slide", "-"]),
        ([TITLE, code(), text("## 1. Next"), code()], ["slide", "-", "slide", "-"]),
        ([TITLE, text("### Within"), code("# a comment\n## another")], ["slide", "-", "-"]),
        ([TITLE, figure(), text("*What to notice.*"), figure()], ["slide", "subslide", "subslide", "subslide"]),
        ([TITLE, text("**Predict first**", "predict"), code()], ["slide", "subslide", "-"]),
        ([TITLE, code(LONG), code(LONG), code()], ["slide", "-", "subslide", "-"]),
        ([TITLE, code(said="word " * 400), code()], ["slide", "subslide", "subslide"]),
        (
            [
                TITLE,
                text("**1.** How many?"),
                code("answer = ...", "exercise"),
                code("8", "solution"),
                text("## Close"),
            ],
            ["slide", "skip", "skip", "skip", "slide"],
        ),
        ([TITLE, code('gptlab.progress("00")')], ["slide", "skip"]),
    ],
)
def test_the_rule(cells, types):
    assert by_rule(cells) == types


def test_a_text_that_runs_into_a_new_section_is_two_pieces_and_has_the_mark_of_the_second():
    both = new_markdown_cell("*What to notice.* Two bars.\n\n## 2. Next\n\nA text.", metadata={"tags": ["predict"]})
    assert [piece.source for piece in pieces(both)] == ["*What to notice.* Two bars.\n\n", "## 2. Next\n\nA text."]
    lesson = new_notebook(cells=[TITLE, both, code()])
    mark(lesson)
    assert [cell.metadata["slideshow"]["slide_type"] for cell in lesson.cells] == ["slide", "slide", "-"]
    assert by_rule([piece for cell in lesson.cells for piece in pieces(cell)]) == ["slide", "-", "slide", "-"]


def test_what_a_hand_has_marked_stays_and_a_second_pass_changes_nothing():
    lesson = new_notebook(cells=[TITLE, code(), code()])
    lesson.cells[1].metadata["slideshow"] = {"slide_type": "notes"}
    mark(lesson)
    once = nbformat.writes(lesson)
    mark(lesson)
    assert [cell.metadata["slideshow"]["slide_type"] for cell in lesson.cells] == ["slide", "notes", "-"]
    assert nbformat.writes(lesson) == once


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_cell_of_every_lesson_is_marked(path):
    cells = nbformat.read(path, as_version=4).cells
    types = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells]
    assert set(types) <= set(TYPES), "`make notebooks` marks new cells"
    assert types[0] == "slide" and types.count("slide") >= 5
    for cell, slide_type in zip(cells, types, strict=True):
        if {"exercise", "solution"} & set(cell.metadata.get("tags", ())):
            assert slide_type == "skip", cell.id
