"""What holds for every lesson as it is committed: run, clean, small, in one manner."""

import ast
import re
from itertools import groupby
from pathlib import Path

import nbformat
import pytest

from gptlab.commands._saved_notebook import PICTURE, VIEW
from run_notebooks import clean, said_on_stderr
from tests.lessons import FIGURE, LESSONS, ROOT

DESCRIPTION = {"lesson", "title", "minutes", "notes", "needs"}
NOTES = {"000", "001", "003", "004"}
# Each tag that may stand on a cell; a misspelt one would be ignored in silence, by nbval as by us.
TAGS = {"exercise", "solution", "predict", "raises-exception", "nbval-ignore-output", "nbval-skip"}
FORMULA_TAG = re.compile(r"formula:\d{3}-[a-z0-9-]+")
EXEMPT = {"nbval-ignore-output", "nbval-skip"}
EXEMPT_SHARE = 0.05
PLOTTING = {"plotly", "matplotlib", "seaborn", "altair", "bokeh", "pandas"}
MEGABYTE = 1_000_000
PICTURE_LETTERS = 80_000  # of a PNG in base64, three quarters as many bytes


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def path(request) -> Path:
    return request.param


@pytest.fixture
def lesson(path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


@pytest.fixture
def code(lesson) -> list[nbformat.NotebookNode]:
    return [cell for cell in lesson.cells if cell.cell_type == "code"]


def outputs(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    return [output for cell in cells for output in cell.outputs]


def tags(cell: nbformat.NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


def test_there_is_a_first_lesson():
    assert LESSONS and LESSONS[0].name == "00_start_here.ipynb"


def test_lessons_are_numbered_by_the_course_and_its_core_is_whole():
    """09 to 13 may be missing while they are written; of the others each is there once."""
    course = {f"{number:02}_" for number in range(15)}
    numbers = [path.name[:3] for path in LESSONS]
    assert len(set(numbers)) == len(numbers) and set(numbers) <= course
    assert set(numbers) >= {f"{number:02}_" for number in range(9)}


def test_all_lessons_and_weights_stay_small():
    weights = [path.stat().st_size for path in (ROOT / "gptlab" / "data").rglob("*.safetensors")]
    assert sum(path.stat().st_size for path in LESSONS) < 12 * MEGABYTE
    assert sum(weights) < 25 * MEGABYTE


def test_it_is_small(path):
    assert path.stat().st_size < 1.5 * MEGABYTE


def test_it_is_valid_and_each_cell_has_an_id_of_its_own(lesson):
    nbformat.validate(lesson)
    assert lesson.nbformat_minor >= 5
    assert len({cell.id for cell in lesson.cells}) == len(lesson.cells)


def test_it_says_what_it_is(path, lesson):
    about = lesson.metadata.gptlab
    assert set(about) == DESCRIPTION
    assert about.lesson == path.name[:2]
    assert about.title and about.title.lower() in lesson.cells[0].source.lower()
    assert 5 <= about.minutes <= 45
    assert set(about.notes) <= NOTES
    assert set(about.needs) <= {other.name[:2] for other in LESSONS if other < path}


def test_it_was_run_in_order_from_a_fresh_kernel(code):
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


def test_it_was_saved_clean(path, lesson):
    """No widget state, no live view, no random id, no version: `make notebooks` would change nothing."""
    assert "widgets" not in lesson.metadata
    assert not any(VIEW in output.get("data", {}) for cell in lesson.cells for output in cell.get("outputs", ()))
    assert nbformat.writes(clean(lesson)).rstrip() == path.read_text(encoding="utf-8").rstrip()


def test_no_cell_failed(code):
    assert [output.evalue for output in outputs(code) if output.output_type == "error"] == []


def test_case_139_nothing_is_written_to_stderr(lesson):
    assert said_on_stderr(lesson) == []


def test_each_figure_says_in_words_what_it_shows_and_fetches_nothing(code):
    """The text beside a figure is its alternative text, and what nbval compares of a widget."""
    for output in outputs(code):
        data = output.get("data", {})
        assert "<script" not in data.get("text/html", ""), "a page of its own, with the library from elsewhere"
        if FIGURE in data:
            assert set(data) == {FIGURE, PICTURE, "text/plain"}, "`make notebooks` draws the picture"
            assert data[PICTURE].startswith("iVBOR") and len(data[PICTURE]) < PICTURE_LETTERS
            assert re.search(r"\d", data["text/plain"]), "a figure without numbers in words"
            assert "FigureWidget(" not in data["text/plain"] and "VBox(" not in data["text/plain"]


def test_no_plotting_code_stands_in_it(code):
    for cell in code:
        imported = {name.split(".")[0] for name in imports(cell.source)}
        assert not imported & PLOTTING, cell.source
        assert not re.search(r"\bgo\.|\.update_layout|\.add_trace", cell.source), cell.source


def test_it_hides_and_fetches_nothing(code):
    """No shell, no installation, no star import, no output that is made and taken away (nbval sees neither)."""
    for cell in code:
        assert not re.search(r"^\s*[!%]|import \*|#\s*hide|#\s*NBVAL", cell.source, re.MULTILINE), cell.source
        assert not re.search(r"clear_output|update_display|\bOutput\(|urllib|requests\.", cell.source), cell.source


def imports(source: str) -> list[str]:
    nodes = list(ast.walk(ast.parse(source)))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]


def test_every_tag_is_known(lesson):
    for cell in lesson.cells:
        strange = {tag for tag in tags(cell) - TAGS if not FORMULA_TAG.fullmatch(tag)}
        assert not strange, f"{strange} on: {cell.source[:80]}"


def test_few_cells_are_exempt_from_comparison_and_each_says_why(code):
    exempt = [cell for cell in code if tags(cell) & EXEMPT]
    assert len(exempt) <= EXEMPT_SHARE * len(code)
    for cell in exempt:
        assert cell.metadata.get("gptlab", {}).get("why_exempt"), cell.source


def test_an_exercise_starts_unanswered_and_a_solution_is_folded_and_leaves_no_trace(code):
    for cell in code:
        if "exercise" in tags(cell):
            assert cell.source.startswith("answer = ..."), cell.source
        if "solution" in tags(cell):
            assert cell.metadata.get("jupyter", {}).get("source_hidden") is True, cell.source
            assert "check(" not in cell.source or "record=False" in cell.source, cell.source


def test_it_is_told_in_small_steps(lesson):
    """At most three code cells without a word between them, most of them short."""
    runs = [len(list(run)) for kind, run in groupby(lesson.cells, key=lambda cell: cell.cell_type) if kind == "code"]
    lengths = sorted(len(cell.source.splitlines()) for cell in lesson.cells if cell.cell_type == "code")
    assert max(runs) <= 3
    assert lengths[int(0.8 * len(lengths))] <= 12
