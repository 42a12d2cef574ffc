"""The site as a folder: an index with the map of the course, and a page for each lesson.

All addresses are relative, so the folder opens from a disk as well as from any server, under any path. The same
notebooks give the same bytes.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from website.cells import cell_html
from website.course import Lesson
from website.prose import Prose

HERE = Path(__file__).resolve().parent
ASSETS = HERE / "assets"
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)

ROW, REACH = 56, 15  # of the map: height of a row, and how far an arc swings out for each row that it spans


def write_site(course: Sequence[Lesson], folder: Path) -> None:
    """Write all pages and what they load into a folder; pages of lessons that are gone are taken away."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    write_assets(folder / "assets")
    _write(folder / "index.html", index_html(course))
    for place, lesson in enumerate(course):
        around = {
            "previous": course[place - 1] if place else None,
            "next": course[place + 1] if place + 1 < len(course) else None,
            "needs": [other for other in course if other.number in lesson.needs],
        }
        _write(folder / lesson.page, lesson_html(lesson, **around))


def write_assets(folder: Path) -> None:
    """What every page loads: the style, the scripts for figures, and Plotly once for all of them."""
    shutil.copytree(ASSETS, folder, dirs_exist_ok=True)
    _write(folder / "plotly.min.js", get_plotlyjs())


def lesson_html(lesson: Lesson, *, previous: Lesson | None, next: Lesson | None, needs: Sequence[Lesson]) -> str:
    """A lesson's page, with the lessons around it."""
    prose = Prose()
    try:
        cells = [cell_html(cell, f"cell-{place}", prose) for place, cell in enumerate(lesson.notebook.cells)]
    except ValueError as reason:
        raise ValueError(f"lesson {lesson.number}: {reason}") from reason
    sections = [(heading.anchor, Markup(heading.html)) for heading in prose.headings if heading.level == 2]
    return TEMPLATES.get_template("lesson.html").render(
        lesson=lesson, previous=previous, next=next, needs=needs, sections=sections, body=Markup("".join(cells))
    )


def index_html(course: Sequence[Lesson]) -> str:
    """The first page: what this is, the map, what each lesson is for."""
    prose = Prose()
    titles = {lesson.number: lesson.title for lesson in course}
    rows = [(lesson, Markup(prose.html(lesson.goals)), [titles[n] for n in lesson.needs]) for lesson in course]
    minutes = sum(lesson.minutes for lesson in course)
    return TEMPLATES.get_template("index.html").render(rows=rows, map=course_map(course), hours=round(minutes / 60))


def course_map(course: Sequence[Lesson]) -> dict:
    """The arcs from each lesson to those it needs, as they stand left of a list with rows of one height."""
    row = {lesson.number: place for place, lesson in enumerate(course)}
    spans = [(row[needed], place) for place, lesson in enumerate(course) for needed in lesson.needs]
    width = REACH * max((below - above for above, below in spans), default=0) ** 0.8 + 24
    arcs = []
    for above, below in spans:
        swing, middle = REACH * (below - above) ** 0.8, ROW * (below - above) / 2
        start, end = ROW * (above + 0.5), ROW * (below + 0.5)
        arcs.append(f"M{width - 12:.0f},{start:.0f} a{swing:.1f},{middle:.0f} 0 0 0 0,{end - start:.0f}")
    dots = [(f"{width - 12:.0f}", f"{ROW * (place + 0.5):.0f}") for place in range(len(course))]
    return {"width": round(width), "height": ROW * len(course), "row": ROW, "arcs": arcs, "dots": dots}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
