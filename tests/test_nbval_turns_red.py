"""A number that changed by more than the tolerance turns the run of the lessons red; a rounding does not.

nbval is run for real, with the repository's conftest.py, on copies whose stored outputs were tampered with.
"""

import base64
import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from run_notebooks import clean, run
from tests.lessons import FIGURE, ROOT, tolerance


def red_cells(notebook: nbformat.NotebookNode, folder: Path) -> set[int]:
    """Run nbval on a copy of a notebook under the repository's rules: which code cells failed."""
    for name in ("conftest.py", "nbval-sanitize.cfg"):
        shutil.copy(ROOT / name, folder)
    (folder / "pytest.ini").write_text("[pytest]\n")
    nbformat.write(notebook, folder / "copy.ipynb")
    options = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with=nbval-sanitize.cfg", "--junitxml=report.xml"]
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", "copy.ipynb"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert said.returncode in (0, 1), said.stdout + said.stderr
    cases = ElementTree.parse(folder / "report.xml").getroot().iter("testcase")
    verdicts = {int(case.get("name").split()[-1]): case.find("failure") is not None for case in cases}
    assert len(verdicts) == sum(cell.cell_type == "code" for cell in notebook.cells), said.stdout
    return {cell for cell, red in verdicts.items() if red}


# Each row: what the cell shows, what its stored output is made to say, whether that is a change.
SOURCE = {
    "figure": "go.Figure(go.Bar(x=[0, 1], y=np.array([0.25, 0.75])))",
    "heatmap": "go.Figure(go.Heatmap(z=np.array([[10, 20], [30, 90]], dtype='u1')))",
    "named": "go.Figure(go.Bar(x=[0, 1], y=[0.25, 0.75], text=['cat', 'dog']))",
    "text": "'the loss is 0.8324 nats, 37 % of 1,024 tokens'",
    "time": "'40 steps in 2.31 s, 17.3 steps per second'",
    "printed": "print('floor', 0.8324)",
    "app": "App()",
}
START = """
import json, numpy as np, plotly.graph_objects as go, ipywidgets
class App:
    def _repr_mimebundle_(self, **_):
        figure = go.Figure(go.Bar(y=np.array([0.25, 0.75])))
        bundle = ipywidgets.VBox()._repr_mimebundle_()
        bundle["application/vnd.plotly.v1+json"] = json.loads(figure.to_json())
        bundle["text/plain"] = "two bars, 0.25 and 0.75"
        return bundle
"""


def figure_numbers(by: float):
    def change(output):
        trace = output["data"][FIGURE]["data"][0]
        key = "z" if "z" in trace else "y"
        packed = trace[key]
        values = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"]).copy()
        values[-1] = values[-1] + by
        packed["bdata"] = base64.b64encode(values.tobytes()).decode()

    return change


def figure_field(key: str, value: object):
    return lambda output: output["data"][FIGURE]["data"][0].update({key: value})


def words(old: str, new: str):
    def change(output):
        holder, key = (output, "text") if "text" in output else (output["data"], "text/plain")
        assert old in holder[key]
        holder[key] = holder[key].replace(old, new)

    return change


CHANGES = [
    ("figure", None, False),
    ("figure", figure_numbers(1e-8), False),
    ("figure", figure_numbers(1e-3), True),
    ("figure", figure_field("type", "scatter"), True),
    ("figure", figure_field("x", [0, 1, 2]), True),
    ("heatmap", figure_numbers(1), False),
    ("heatmap", figure_numbers(2), True),
    ("named", figure_field("text", ["cat", "dot"]), True),
    ("text", words("0.8324", "0.8391"), False),
    ("text", words("0.8324", "0.8591"), True),
    ("text", words("37 %", "38 %"), False),
    ("text", words("37 %", "41 %"), True),
    ("text", words("1,024", "1,025"), True),
    ("text", words("tokens", "words"), True),
    ("time", words("2.31 s, 17.3 steps", "9.87 s, 4.1 steps"), False),
    ("time", words("40 steps in", "50 steps in"), True),
    ("printed", words("0.8324", "0.8924"), True),
    ("app", figure_numbers(1e-8), False),
    ("app", figure_numbers(1e-3), True),
    ("app", words("0.75", "0.85"), True),
]


def test_nbval_is_red_for_each_change_and_only_for_those(tmp_path):
    cells = [new_code_cell(START), *(new_code_cell(SOURCE[kind]) for kind, _, _ in CHANGES)]
    notebook = clean(run(new_notebook(cells=cells), tmp_path))
    for cell, (_, change, _) in zip(notebook.cells[1:], CHANGES, strict=True):
        if change:
            change(cell.outputs[0])
    assert red_cells(notebook, tmp_path) == {i for i, (_, _, red) in enumerate(CHANGES, start=1) if red}


def test_a_lost_output_turns_red(tmp_path):
    notebook = run(new_notebook(cells=[new_code_cell("1 + 1"), new_code_cell("2 + 2")]), tmp_path)
    notebook.cells[1].outputs = []
    assert red_cells(notebook, tmp_path) == {1}


@pytest.mark.lesson
def test_numbers_changed_in_a_lesson_turn_it_red(tmp_path):
    """On a copy of lesson 00: the first number of each figure, and a number of each text that has no figure."""
    notebook = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    changed = {i for i, cell in enumerate(code) if any([tamper(output) for output in cell.outputs])}
    assert len(changed) >= 3
    assert red_cells(notebook, tmp_path) == changed


def tamper(output: dict) -> bool:
    """Change the first number of an output by a fifth; False where there is none."""
    data = output.get("data", {})
    if FIGURE in data:
        return any(tamper_trace(trace) for trace in data[FIGURE]["data"])
    text = data.get("text/plain", "")
    changed = re.sub(r"\d+\.\d+", lambda match: f"{float(match[0]) * 1.2 + 0.1:.4f}", text, count=1)
    if changed != text:
        data["text/plain"] = changed
    return changed != text


def tamper_trace(trace: dict) -> bool:
    for key in ("z", "y", "x"):
        packed = trace.get(key)
        if isinstance(packed, dict):
            values = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"]).copy()
            values[0] += 5
            packed["bdata"] = base64.b64encode(values.tobytes()).decode()
            return True
        if packed and isinstance(packed[0], int | float):
            packed[0] += 5
            return True
    return False


@pytest.mark.parametrize(
    ("stored", "fresh", "near"),
    [
        ("tensor([0.1000, 0.2000])", "tensor([ 0.1001,  0.1999])", True),
        ("[-0.0000]", "[0.0000]", True),
        ("−0.50", "0.50", False),
        ("12,345.6", "12,346.7", True),
        ("1e-05", "3e-05", True),  # both are nothing beside 0.02
        ("3.0e+02", "3.2e+02", False),
        ("50256", "50255", False),  # a whole number is a name
        ("step 37", "step 38", False),
        ("nan", "0.0", False),
        ("It ends with 5.", "It ends with 6.", False),
        ("a b", "a  b", True),
        ("a 0.5", "a 0.5 b", False),
    ],
)
def test_texts(stored, fresh, near):
    assert (tolerance.Text(stored) == tolerance.Text(fresh)) is near
    assert (tolerance.Text(stored) != tolerance.Text(fresh)) is not near


@pytest.mark.parametrize(
    ("stored", "fresh", "near"),
    [
        ({"y": [1.0, None]}, {"y": [1, None]}, True),
        ({"y": [1.0]}, {"y": [1.0, 2.0]}, False),
        ({"visible": True}, {"visible": 1}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"uid": "a", "template": {}}, {"uid": "b", "template": {"data": {}}}, True),
        ({"text": "0.50"}, {"text": "0.51"}, False),
        ([1, {"x": 2.00001}], [1, {"x": 2.00002}], True),
    ],
)
def test_figures(stored, fresh, near):
    one, other = tolerance.Figure(json.dumps(stored)), tolerance.Figure(json.dumps(copy.deepcopy(fresh)))
    assert (one == other) is near
    assert (one.difference(other) is None) is near
