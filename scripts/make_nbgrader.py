"""The lessons as source notebooks for nbgrader, with answers in place and a test behind each.

    python scripts/make_nbgrader.py COURSE/source [--points 2]

Each lesson becomes an assignment of its name. Of an exercise and its solution one cell is made, which nbgrader empties
for the learner; behind it stands a locked cell with points, which asks `gptlab.check`. docs/nbgrader.md tells the rest.
"""

import argparse
import ast
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).resolve().parent.parent


def source_version(lesson: NotebookNode, points: float) -> NotebookNode:
    """The lesson as nbgrader's source version, changed in place: without outputs, each exercise answered and graded."""
    solutions = {checked(cell.source)[0]: cell.source for cell in lesson.cells if has_tag(cell, "solution")}
    cells = []
    for cell in lesson.cells:
        if has_tag(cell, "solution"):
            continue
        cells.append(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if has_tag(cell, "exercise"):
            name, _ = checked(cell.source)
            cell.source = cell.source.replace("answer = ...", answered(solutions[name]))
            cell.metadata.nbgrader = fields(cell.id, solution=True, locked=False)
            test = f'verdict = gptlab.check("{name}", answer, record=False)\nassert verdict.right, verdict'
            cells.append(new_code_cell(test, id=f"{cell.id}-test"))
            cells[-1].metadata["nbgrader"] = fields(cells[-1].id, grade=True, locked=True, points=points)
            cells[-1].metadata["slideshow"] = {"slide_type": "skip"}
    lesson.cells = cells
    return lesson


def answered(solution: str) -> str:
    """A solution's program with what it checks as `answer`, between the marks that nbgrader cuts at."""
    _, call = checked(solution)
    lines = solution.splitlines()
    given = ast.get_source_segment(solution, call.args[1])
    program = [*lines[: call.lineno - 1], f"answer = {given}"]
    return "\n".join(["### BEGIN SOLUTION", *program, "### END SOLUTION"])


def checked(source: str) -> tuple[str, ast.Call]:
    """The exercise that a cell checks, and the call, with which the cell ends."""
    call = ast.parse(source).body[-1].value
    return call.args[0].value, call


def fields(grade_id: str, **more: bool | float) -> dict:
    """nbgrader's metadata of a cell, in the third version of its schema."""
    return {"schema_version": 3, "grade_id": grade_id, "solution": False, "grade": False, "task": False} | more


def has_tag(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", ())


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="the folder `source` of an nbgrader course")
    parser.add_argument("--points", type=float, default=1, help="for each exercise; default: 1")
    options = parser.parse_args(words)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        target = options.source / path.stem / path.name
        if target.exists():
            print(f"{target}: is there already, kept", file=sys.stderr)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(source_version(nbformat.read(path, as_version=4), options.points), target)
        print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
