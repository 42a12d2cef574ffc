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


def plan(name: str) -> list[list[str]]:
    """The rows of a plan's table."""
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    lines = page.split(f"\n### {name}\n")[1].split("\n#")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| \d", line)]


def test_the_eight_weeks_have_every_lesson_once_and_what_it_needs_before_it():
    rows = plan("Eight weeks")
    assert [row[0] for row in rows] == [str(week) for week in range(1, 9)]
    order = [number for row in rows for number in re.findall(r"\b\d\d\b", row[1])]
    assert sorted(order) == [f"{number:02}" for number in range(15)]
    for lesson, (*_, needs) in described().items():
        assert all(order.index(needed) < order.index(lesson) for needed in needs.split()), lesson


def test_the_plans_of_an_hour_and_a_day_leave_no_gap():
    spans = [row[0].split("–") for row in plan("90 minutes")]
    assert [int(end) for _, end in spans] == [int(begin) for begin, _ in spans[1:]] + [90]
    times = [
        [60 * int(hour) + int(minute) for hour, minute in re.findall(r"(\d+):(\d\d)", row[0])] for row in plan("A day")
    ]
    assert all(begin < end for begin, end in times)
    assert all(before[1] <= after[0] for before, after in zip(times, times[1:], strict=False))


def test_a_class_is_warned_of_the_notes_slips():
    """Each lesson whose rows in coverage.md name a slip has a line in the teacher's table of them."""
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    table = page.split("## What the lecture notes print")[1].split("\n## ")[0]
    warned = set(re.findall(r"^\| lesson (\d\d) \|", table, re.MULTILINE))
    coverage = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in coverage if re.match(r"\| \d{3}-", line)]
    slips = {row[2].strip() for row in rows if row[-1].strip() and "lost in the note" not in row[-1]}
    assert slips - warned <= {"14"}, "and 14 only repeats that note 003 is a sketch"


def test_a_row_that_disagrees_is_seen():
    assert rows("| 00 | Another title | 35 | 000 | |") == {"00": ["Another title", "35", "000", ""]}
