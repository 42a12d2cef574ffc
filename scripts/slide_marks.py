"""Which cells of a lesson stand together when it is shown as slides: Jupyter's `slideshow` mark on every cell.

The rule, for cells that nobody has marked:
    slide      the first cell, and each cell with a heading of a section: to the right of what came before
    subslide   a new screen of the same section: a cell with a figure, a cell behind a figure, a cell that asks for a
               prediction, and any other for which the screen has no room left
    -          everything else goes on where the last cell ended
    skip       exercises with their tasks and solutions, and the progress at the end: they are for a desk
A text cell that runs over into a new section counts as two, and has the mark of the second. A mark that a person has
set is kept, so a hand can correct the rule. JupyterLab shows the marks in its property inspector (*Slide Type*);
`make notebooks` marks cells that are new.
"""

import re
from math import ceil

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from gptlab.commands._saved_notebook import FIGURE

TYPES = ("slide", "subslide", "fragment", "skip", "notes", "-")
SECTION = re.compile(r"^##? ", re.MULTILINE)  # in a text cell, where no program with comments stands

# A screen of 1280 × 720 in the slides' letters: rows of text, and letters in a row.
ROWS, LETTERS = 19, 95


def mark(notebook: NotebookNode) -> None:
    """Give each cell that has no mark the one of the rule, in place."""
    cut = [pieces(cell) for cell in notebook.cells]
    ruled = iter(by_rule([piece for parts in cut for piece in parts]))
    for cell, parts in zip(notebook.cells, cut, strict=True):
        slide_type = [next(ruled) for _ in parts][-1]
        cell.metadata.setdefault("slideshow", {}).setdefault("slide_type", slide_type)


def pieces(cell: NotebookNode) -> list[NotebookNode]:
    """A cell, or, of a text cell with the heading of a section in its midst, what stands before it and the rest."""
    heading = SECTION.search(cell.source) if cell.cell_type == "markdown" else None
    if heading is None or heading.start() == 0:
        return [cell]
    before = new_markdown_cell(cell.source[: heading.start()])
    rest = new_markdown_cell(cell.source[heading.start() :], metadata=cell.metadata)
    for piece in (before, rest):
        piece.attachments = cell.get("attachments", {})
    return [before, rest]


def by_rule(pieces: list[NotebookNode]) -> list[str]:
    """The rule's mark for each piece, whatever marks they have."""
    types, filled = [], 0.0
    for place, piece in enumerate(pieces):
        rows = ROWS if has_figure(piece) else rows_of(piece)
        if is_for_a_desk(pieces, place):
            slide_type = "skip"
        elif place == 0 or (piece.cell_type == "markdown" and SECTION.match(piece.source)):
            slide_type, filled = "slide", rows
        elif filled + rows > ROWS or "predict" in piece.metadata.get("tags", ()):
            slide_type, filled = "subslide", rows
        else:
            slide_type, filled = "-", filled + rows
        types.append(slide_type)
    return types


def is_for_a_desk(cells: list[NotebookNode], place: int) -> bool:
    """Whether a cell is an exercise, the task right before one, or the progress."""
    cell = cells[place]
    if cell.cell_type == "code":
        return bool({"exercise", "solution"} & set(cell.metadata.get("tags", ()))) or "gptlab.progress(" in cell.source
    return place + 1 < len(cells) and "exercise" in cells[place + 1].metadata.get("tags", ())


def has_figure(cell: NotebookNode) -> bool:
    return any(FIGURE in output.get("data", {}) for output in cell.get("outputs", ()))


def rows_of(cell: NotebookNode) -> float:
    """How many rows of a screen a cell takes, roughly."""
    if cell.cell_type == "markdown":
        lines = cell.source.splitlines()
        return sum(max(0.5, ceil(len(line) / LETTERS)) + line.startswith(("#", "$$")) for line in lines)
    texts = [output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    shown = [line for text in texts for line in text.splitlines()]
    return 1 + len(cell.source.splitlines()) + sum(max(1, ceil(len(line) / LETTERS)) for line in shown)
