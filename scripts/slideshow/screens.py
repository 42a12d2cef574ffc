"""A lesson's cells as screens: what is seen at a time, in sections that stand side by side.

The marks are Jupyter's own (`slide_marks.py` says by which rule they were set). Two things are done beyond them. A text
cell that runs over into a new section is cut at its heading, so that what there was to notice is seen with what came
before, and the section begins with its name. And a program of some length has a screen before that of its picture.
"""

from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from slide_marks import TYPES, by_rule, has_figure, pieces
from website.cells import cell_html, outputs_html
from website.prose import Prose

LINES_BESIDE = 3  # of a program that stand on the screen of its picture

Screen = list[str]  # the HTML of what stands on it, in order


def sections(notebook: NotebookNode) -> list[list[Screen]]:
    """The screens of a lesson, by section; ValueError naming a cell whose mark is unknown."""
    prose, found = Prose(), []
    for number, (piece, slide_type) in enumerate(marked_pieces(notebook)):
        if slide_type == "skip":
            continue
        name, picture = f"cell-{number}", None
        if has_figure(piece) and len(piece.source.splitlines()) > LINES_BESIDE:
            picture = outputs_html(piece.outputs, name)
            piece = new_code_cell(piece.source, metadata=piece.metadata)
        html = cell_html(piece, name, prose)
        if slide_type == "slide" or not found:
            found.append([[html]])
        elif slide_type == "subslide":
            found[-1].append([html])
        else:
            found[-1][-1].append(_wrapped(html, slide_type))
        if picture:
            found[-1].append([picture])
    return found


def marked_pieces(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, str]]:
    """Each piece of a cell with its mark: the last has the cell's; one before it, or without a mark, the rule's."""
    cut = [pieces(cell) for cell in notebook.cells]
    ruled = iter(by_rule([piece for parts in cut for piece in parts]))
    for cell, parts in zip(notebook.cells, cut, strict=True):
        own = cell.metadata.get("slideshow", {}).get("slide_type")
        if own not in {None, *TYPES}:
            raise ValueError(f"cell {cell.id!r} is marked {own!r}, not one of {', '.join(TYPES)}")
        for piece in parts:
            by_the_rule = next(ruled)
            yield piece, own if own and piece is parts[-1] else by_the_rule


def _wrapped(html: str, slide_type: str) -> str:
    element = {"fragment": "div", "notes": "aside"}.get(slide_type)
    return f'<{element} class="{slide_type}">{html}</{element}>' if element else html
