"""docs/coverage.md against the notebooks: every formula of the notes is taught where the page says, or planned."""

import re
from pathlib import Path
from typing import NamedTuple

import nbformat

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"
NOTES = {"000", "001", "003", "004"}
LESSONS = {f"{number:02}" for number in range(15)}
TAG = "formula:"


class Row(NamedTuple):
    id: str
    formula: str
    lesson: str
    where: str
    slip: str


def rows(page: str) -> list[Row]:
    found = []
    for line in page.splitlines():
        if re.match(r"\| \d{3}-", line):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            assert len(cells) == len(Row._fields), f"{len(cells)} cells (write a bar as \\lvert): {line}"
            found.append(Row(*cells))
    return found


def tagged(folder: Path) -> dict[str, set[str]]:
    """For each lesson that is written, the formulas that its cells are tagged with."""
    lessons = {}
    for path in sorted(folder.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        tags = [tag for cell in cells for tag in cell.metadata.get("tags", ())]
        lessons[path.name[:2]] = {tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)}
    return lessons


def complaints(map_: list[Row], lessons: dict[str, set[str]]) -> list[str]:
    said = []
    for row in map_:
        written = row.lesson in lessons
        if row.where == "tagged" and not (written and row.id in lessons[row.lesson]):
            said.append(f"{row.id}: no cell of lesson {row.lesson} has the tag {TAG}{row.id}")
        elif row.where == "planned" and written:
            said.append(f"{row.id}: lesson {row.lesson} is written; tag the cell, or say why it is still planned")
        elif not re.fullmatch(r"tagged|planned(: \S.+)?", row.where):
            said.append(f"{row.id}: 'where' says {row.where!r}")
    for lesson, ids in lessons.items():
        unknown = ids - {row.id for row in map_}
        said += [f"lesson {lesson} tags {TAG}{id_}, which the page does not have" for id_ in sorted(unknown)]
    return said


MAP = rows(PAGE.read_text(encoding="utf-8"))


def test_the_page_and_the_lessons_agree():
    assert complaints(MAP, tagged(ROOT / "notebooks")) == []


def test_each_formula_has_one_row_a_note_and_a_lesson():
    ids = [row.id for row in MAP]
    assert len(set(ids)) == len(ids)
    assert {row.id[:3] for row in MAP} == NOTES
    assert {row.lesson for row in MAP} <= LESSONS
    assert all(row.formula for row in MAP)


def test_formulas_are_closed():
    assert [row.id for row in MAP if row.formula.count("$") % 2 or row.slip.count("$") % 2] == []


def test_a_gap_is_seen():
    row = Row("000-x", "$x$", "04", "tagged", "")
    assert complaints([row], {"04": {"000-x"}}) == []
    assert len(complaints([row], {"04": set()})) == 1  # the lesson lost the tag
    assert len(complaints([row], {})) == 1  # the lesson is gone
    assert complaints([row._replace(where="planned")], {}) == []
    assert len(complaints([row._replace(where="planned")], {"04": set()})) == 1  # written since, and forgotten
    assert complaints([row._replace(where="planned: belongs to the exercises")], {"04": set()}) == []
    assert len(complaints([row._replace(where="somewhere")], {})) == 1
    assert len(complaints([], {"04": {"000-x"}})) == 1  # a tag that names nothing
