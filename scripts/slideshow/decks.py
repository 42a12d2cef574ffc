"""Slides as a folder: a page for each lesson, the list of them, and what they load.

All addresses are relative, so the folder opens from a disk. The same notebooks give the same bytes.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from jinja2 import FileSystemLoader
from markupsafe import Markup

from slideshow.screens import sections
from website import pages
from website.course import Lesson

HERE = Path(__file__).resolve().parent
TEMPLATES = pages.TEMPLATES.overlay(loader=FileSystemLoader([HERE / "templates", pages.HERE / "templates"]))

# A package for Python that carries reveal.js; pip puts it here, apart from what is imported.
PACKAGE = "sphinx-revealjs==3.2.1"
REVEAL = Path(sys.prefix) / "reveal"
REVEAL_FILES = ("LICENSE", "dist/reveal.css", "dist/reveal.js")


def write_decks(course: Sequence[Lesson], folder: Path, reveal: Path = REVEAL) -> None:
    """Write the slides of all lessons into a folder; those of lessons that are gone are taken away.

    ValueError for a lesson that cannot be shown, FileNotFoundError where reveal.js is missing; then nothing is written.
    """
    source = reveal_files(reveal)
    written = {lesson.page: deck_html(lesson) for lesson in course}
    written["index.html"] = TEMPLATES.get_template("list.html").render(course=course)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    pages.write_assets(folder / "assets")
    shutil.copytree(HERE / "assets", folder / "assets", dirs_exist_ok=True)
    for name in REVEAL_FILES:
        target = folder / "assets" / "reveal" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target)
    for name, page in written.items():
        (folder / name).write_text(page, encoding="utf-8", newline="\n")


def deck_html(lesson: Lesson) -> str:
    """A lesson's slides."""
    try:
        shown = [[Markup("".join(screen)) for screen in section] for section in sections(lesson.notebook)]
    except ValueError as reason:
        raise ValueError(f"lesson {lesson.number}: {reason}") from reason
    return TEMPLATES.get_template("deck.html").render(lesson=lesson, sections=shown)


def reveal_files(reveal: Path = REVEAL) -> Path:
    """The folder of reveal.js's own files."""
    found = next(reveal.glob("*/_static/revealjs/dist/reveal.js"), None)
    if found is None:
        fetch = f"{sys.executable} -m pip install --no-deps --target {reveal} {PACKAGE}"
        raise FileNotFoundError(f"reveal.js is not in {reveal}; `make slides` fetches it, or: {fetch}")
    return found.parent.parent
