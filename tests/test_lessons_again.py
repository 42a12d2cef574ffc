"""Lessons run as learners run them: each cell twice, with every warning an error."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from run_notebooks import said_on_stderr
from tests.lessons import LESSONS, client, comparable

pytestmark = pytest.mark.lesson


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_case_140_a_cell_run_twice_shows_the_same(path):
    """The second run neither differs nor fails nor complains."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    twice = [new_code_cell(cell.source, metadata=cell.metadata) for cell in code for _ in range(2)]
    strict = new_code_cell("import warnings; warnings.simplefilter('error')")
    notebook.cells = [strict, *twice]
    client(notebook).execute()
    assert said_on_stderr(notebook) == []  # case 139
    for first, second in zip(twice[::2], twice[1::2], strict=True):
        assert comparable(first.outputs) == comparable(second.outputs), first.source
