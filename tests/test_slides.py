"""Lessons as slides: what stands on a screen, what a page may load, what is refused. Turning them is the browser's."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import make_slides
from gptlab.commands._saved_notebook import FIGURE
from slide_marks import mark
from slideshow.decks import deck_html, reveal_files, write_decks
from slideshow.screens import sections
from tests.disks import names_in
from tests.lessons import ROOT
from website.course import Lesson, lessons

COURSE = lessons(ROOT / "notebooks", ROOT / "docs" / "teaching.md")


def marked(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    notebook = new_notebook(cells=[new_markdown_cell("# A lesson"), *cells])
    mark(notebook)
    return notebook


def figure(source: str) -> nbformat.NotebookNode:
    data = {FIGURE: {"data": [{"type": "bar", "y": [1, 2]}], "layout": {}}, "text/plain": "two bars, 1 and 2"}
    return new_code_cell(source, outputs=[new_output("display_data", data)])


def test_screens_follow_the_marks():
    notebook = marked(*(new_code_cell(name) for name in "abcde"))
    for cell, slide_type in zip(notebook.cells[1:], ["-", "subslide", "fragment", "slide", "skip"], strict=True):
        cell.metadata["slideshow"]["slide_type"] = slide_type
    (first, second), (third,) = sections(notebook)
    assert "A lesson" in first[0] and ">a<" in first[1]
    assert ">b<" in second[0] and second[1].startswith('<div class="fragment">') and ">c<" in second[1]
    assert ">d<" in third[0]


def test_what_was_to_notice_is_seen_before_the_next_section_begins():
    notebook = marked(figure("draw()"), new_markdown_cell("*What to notice.* Two bars.\n\n## 2. Next\n\nA text."))
    before, (after,) = sections(notebook)
    assert "What to notice" in before[-1][0] and "2. Next" not in before[-1][0]
    assert "2. Next" in after[0]


@pytest.mark.parametrize(("lines", "screens"), [(3, 2), (4, 3)])
def test_a_long_program_has_a_screen_before_that_of_its_picture(lines, screens):
    (shown,) = sections(marked(figure("\n".join(["x = 1"] * lines))))
    assert len(shown) == screens
    assert shown[-1][-1].count("<figure") == 1 and ("<pre" in shown[-1][-1]) == (screens == 2)


def test_a_cell_that_nobody_marked_goes_by_the_rule_and_an_unknown_mark_is_named():
    notebook = new_notebook(
        cells=[new_markdown_cell("# A lesson"), new_code_cell("1"), new_markdown_cell("## 2. Next")]
    )
    assert [len(section) for section in sections(notebook)] == [1, 1]
    notebook.cells[1].metadata["slideshow"] = {"slide_type": "slid"}
    notebook.cells[1].id = "lost"
    lesson = Lesson("07", "A lesson", 40, [], "", "07_a_lesson", notebook)
    with pytest.raises(ValueError, match="lesson 07: cell 'lost' is marked 'slid', not one of slide, "):
        deck_html(lesson)


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.stem)
def test_a_deck_loads_only_what_lies_beside_it_and_shows_every_figure_and_no_solution(lesson):
    page = deck_html(lesson)
    for address in re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"([^\"]+)\"", page):
        assert address.startswith(("assets/", "data:")), address
    figures = [cell for cell in lesson.notebook.cells if any(FIGURE in out.get("data", {}) for out in outputs(cell))]
    assert page.count('<figure class="picture"') >= len(figures)
    assert "record=False" not in page and "answer = ..." not in page


def outputs(cell: nbformat.NotebookNode) -> list:
    return cell.get("outputs", [])


@pytest.fixture
def reveal(tmp_path):
    """A folder as pip fills it."""
    dist = tmp_path / "reveal" / "package" / "_static" / "revealjs" / "dist"
    dist.mkdir(parents=True)
    for path in (dist.parent / "LICENSE", dist / "reveal.js", dist / "reveal.css"):
        path.write_text(path.name)
    return tmp_path / "reveal"


def test_the_same_lessons_give_the_same_bytes_and_old_decks_go(tmp_path, reveal):
    for name in ("one", "two"):
        write_decks(COURSE[:2], tmp_path / name, reveal)
    one, two = (written(tmp_path / name) for name in ("one", "two"))
    assert one == two
    write_decks(COURSE[:1], tmp_path / "one", reveal)
    assert [name for name in names_in(tmp_path / "one") if name.endswith(".html")] == [COURSE[0].page, "index.html"]


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_without_reveal_it_says_how_to_fetch_it_and_writes_nothing(tmp_path, monkeypatch, capsys):
    with pytest.raises(FileNotFoundError, match="pip install --no-deps --target"):
        reveal_files(tmp_path / "nowhere")
    monkeypatch.setattr(make_slides, "write_decks", lambda course, folder: write_decks(course, folder, tmp_path / "no"))
    assert make_slides.main([str(tmp_path / "slides")]) == 1
    assert "slides: reveal.js is not in" in capsys.readouterr().err
    assert names_in(tmp_path) == []


def test_the_pinned_package_is_the_one_that_make_installs():
    from slideshow.decks import PACKAGE

    assert PACKAGE in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
