"""docs/teaching.md against the lessons' own metadata: the table has each lesson, as it describes itself."""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent


def rows(page: str) -> dict[str, list[str]]:
    """The cells of each row of the table of lessons, by lesson number."""
    found = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in page.splitlines()]
    return {cells[0]: cells[1:] for cells in found if re.fullmatch(r"\d\d", cells[0])}


def described() -> dict[str, list[str]]:
    lessons = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        about = nbformat.read(path, as_version=4).metadata.gptlab
        lessons[about.lesson] = [about.title, str(about.minutes), " ".join(about.notes), " ".join(about.needs)]
    return lessons


def test_the_page_and_the_lessons_agree():
    assert rows((ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")) == described()


def test_each_lesson_has_its_section():
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    for lesson, (title, *_) in described().items():
        section = page.split(f"## Lesson {lesson}: {title}")[1].split("\n## ")[0]
        assert "**Goals.**" in section and "**Common misconceptions.**" in section and "ask before" in section


def test_a_row_that_disagrees_is_seen():
    assert rows("| 00 | Another title | 35 | 000 | |") == {"00": ["Another title", "35", "000", ""]}
