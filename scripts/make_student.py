"""Copies of the lessons to hand out, without solutions and outputs: `make student`, or with the folder to write.

    python scripts/make_student.py [student]

Cells tagged `solution` are left out, and the words that point to them; questions, checks and progress stay. The folder
is written whole or not at all, in place of an earlier one. If somebody keeps other files there, or has worked in a
copy, it stays as it is.
"""

import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from gptlab._refuse import refuse
from gptlab.storage import write_whole

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
FOLDED = re.compile(r"[;.] solutions are folded below( each exercise)?(?=\.)", re.IGNORECASE)
COPY = re.compile(r"\d\d_\w+\.ipynb")


def handed_out(notebook: NotebookNode) -> NotebookNode:
    """The notebook without solutions and outputs, changed in place."""
    notebook.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", ())]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        else:
            cell.source = FOLDED.sub("", cell.source)
    return notebook


def write_student(lessons: list[Path], folder: Path) -> None:
    """Write a copy of each lesson into a folder of their own.

    ValueError naming what in the folder is somebody's own; of a lesson that cannot be read, nbformat's error.
    """
    own = theirs(folder)
    if own:
        raise refuse("the folder", str(folder), f"a new one or one of fresh copies; here somebody has {', '.join(own)}")
    copies = {lesson.name: handed_out(nbformat.read(lesson, as_version=4)) for lesson in lessons}

    def write(unfinished: Path) -> None:
        unfinished.mkdir()
        for name, copy in copies.items():
            nbformat.validate(copy)
            nbformat.write(copy, unfinished / name)

    write_whole(folder, write)


def theirs(folder: Path) -> list[str]:
    """What in a folder is no copy, or a copy that was run. Jupyter's hidden folders do not count."""
    entries = sorted(folder.iterdir()) if folder.exists() else []
    return [entry.name for entry in entries if not entry.name.startswith(".") and not is_fresh_copy(entry)]


def is_fresh_copy(path: Path) -> bool:
    if not COPY.fullmatch(path.name):
        return False
    return not any(cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells)


def main(words: list[str]) -> int:
    folder = Path(words[0]) if words else ROOT / "student"
    try:
        write_student(sorted(NOTEBOOKS.glob("*.ipynb")), folder)
    except (OSError, ValueError) as reason:
        print(f"no copies were written: {reason}", file=sys.stderr)
        return 1
    print(f"{folder}: {len(list(folder.iterdir()))} lessons without solutions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
