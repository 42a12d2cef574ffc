"""Cells run from the middle of a notebook: the error says which cell comes first."""

import json
import os

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gptlab.commands._earlier_cells import maker
from tests.lessons import LESSONS, ROOT, client

STARTUP = ROOT / "gptlab" / "commands" / "_kernel_startup.py"


@pytest.mark.parametrize(
    "source",
    ["x = 1", "a, (x, b) = c", "import x", "import x.y", "from a import b as x", "def x(): pass", "class x: pass",
     "for x in []: pass", "with a as x: pass", "(x := 3)"],
)  # fmt: skip
def test_the_first_cell_that_makes_a_name_is_named_with_its_first_line(source):
    cells = [new_markdown_cell("x = 0"), new_code_cell("%magic ="), new_code_cell("x"), new_code_cell(f"\n{source}\ny")]
    found = maker("x", new_notebook(cells=[*cells, new_code_cell("x = 2")]))
    assert found == f"code cell 3 of this notebook makes it: “{source}”"


def test_a_name_that_no_cell_makes_and_a_long_line():
    notebook = new_notebook(cells=[new_code_cell("name = " + "1 + " * 30 + "1")])
    assert maker("other", notebook) is None
    assert maker("name", notebook).endswith(" 1 …”")


def test_case_140_from_the_middle_the_error_says_which_cell_comes_first(tmp_path):
    """A lesson's ninth code cell in a fresh kernel, as our lab starts it."""
    code = [cell for cell in nbformat.read(LESSONS[0], as_version=4).cells if cell.cell_type == "code"]
    started = {"PYTHONSTARTUP": str(STARTUP), "JPY_SESSION_NAME": str(LESSONS[0])}
    left_behind = new_code_cell("[name for name in globals() if 'watch' in name]")
    notebook = new_notebook(cells=[left_behind, code[8]])
    with pytest.raises(CellExecutionError) as caught:
        client(notebook).execute(env=os.environ | started)
    assert left_behind.outputs[0].data["text/plain"] == "[]"
    assert caught.value.ename == "NameError"
    assert "is not defined; code cell 3 of this notebook makes it: “prompt = " in caught.value.evalue
    assert caught.value.evalue.endswith("Choose Run › Run All Above Selected Cell, then run this cell again.")


@pytest.mark.parametrize("place", ["", "nowhere.ipynb", "broken.ipynb"])
def test_without_a_notebook_the_error_is_told_as_it_is(tmp_path, place):
    (tmp_path / "broken.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code"}]}))
    started = {"PYTHONSTARTUP": str(STARTUP), "JPY_SESSION_NAME": place and str(tmp_path / place)}
    with pytest.raises(CellExecutionError) as caught:
        client(new_notebook(cells=[new_code_cell("tok")])).execute(env=os.environ | started)
    assert caught.value.evalue == "name 'tok' is not defined"
