"""The lessons in their order, with what their own metadata and the teacher's page say of them."""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode


@dataclass(frozen=True)
class Lesson:
    """A lesson; `goals` are Markdown, and `needs` the numbers of those that should come before."""

    number: str
    title: str
    minutes: int
    needs: list[str]
    goals: str
    stem: str
    notebook: NotebookNode

    @property
    def page(self) -> str:
        """The page's name in its folder."""
        return f"{self.stem}.html"


def lessons(notebooks: Path, teaching: Path) -> list[Lesson]:
    """All lessons of a folder; ValueError naming the notebook that does not say what it is, or is not in order."""
    goals = goals_by_lesson(teaching.read_text(encoding="utf-8"))
    found = [_lesson(path, goals) for path in sorted(notebooks.glob("*.ipynb"))]
    earlier: set[str] = set()
    for lesson in found:
        if not earlier >= set(lesson.needs):
            raise ValueError(f"lesson {lesson.number} needs {lesson.needs}, of which not all come before it")
        earlier.add(lesson.number)
    return found


def goals_by_lesson(page: str) -> dict[str, str]:
    """The paragraph of goals in each section of the teacher's page, by lesson number."""
    sections = re.findall(r"^## Lesson (\d\d): [^\n]*\n+\*\*Goals\.\*\*\s+(.+?)\n\n", page, re.MULTILINE | re.DOTALL)
    return dict(sections)


def _lesson(path: Path, goals: dict[str, str]) -> Lesson:
    notebook = nbformat.read(path, as_version=4)
    about = notebook.metadata.get("gptlab", {})
    missing = {"lesson", "title", "minutes", "needs"} - set(about)
    if missing:
        raise ValueError(f"{path.name} does not say its {sorted(missing)} in metadata.gptlab")
    return Lesson(
        about.lesson, about.title, about.minutes, list(about.needs), goals.get(about.lesson, ""), path.stem, notebook
    )
