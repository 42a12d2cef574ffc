"""A cell run before the cells that it needs: the NameError says which cell comes first.

The kernels of our lab begin with `_kernel_startup.py`, where PYTHONSTARTUP points, and that calls `watch`.
"""

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LONGEST_LINE = 50


def watch(shell: Any) -> None:
    """Let an IPython shell say, of a name that is missing, which cell of its notebook makes it."""
    shell.set_custom_exc((NameError,), _say)


def maker(name: str, notebook: dict) -> str | None:
    """In words, the first code cell of a notebook, as JSON, that makes a name; None if no cell does."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, source in enumerate(sources, 1):
        if name in _made_by(source):
            line = next(line for line in source.splitlines() if line.strip())
            shown = line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
            return f"code cell {number} of this notebook makes it: “{shown}”"
    return None


def _say(shell: Any, kind: type, error: NameError, traceback: Any, tb_offset: int | None = None) -> None:
    path = os.environ.get("JPY_SESSION_NAME", "")  # Jupyter's server says there which notebook a kernel is for
    try:
        found = maker(error.name, json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError):
        found = None  # a console, or no notebook yet: the error is told as it is
    if found is not None:
        hint = "Choose Run › Run All Above Selected Cell, then run this cell again"
        error.args = (f"{error}; {found}. {hint}.",)
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def _made_by(source: str) -> set[str]:
    try:
        return set(_names(ast.parse(source)))
    except SyntaxError:  # a cell of magics
        return set()


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
