"""What the tests of lessons share: where the lessons are, and how near an output must be."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FIGURE = "application/vnd.plotly.v1+json"


def load_tolerance() -> ModuleType:
    """The root's conftest.py, which has no name of its own to import it by."""
    spec = importlib.util.spec_from_file_location("nbval_tolerance", ROOT / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tolerance = load_tolerance()


def client(notebook: NotebookNode, folder: Path = ROOT / "notebooks") -> NotebookClient:
    resources = {"metadata": {"path": str(folder)}}
    return NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources, store_widget_state=False)


def comparable(outputs: list) -> list:
    """What nbval would compare of a cell's texts, without the times that it is told to leave out."""
    rules = re.findall(r"^regex: (.+)\nreplace: (.+)$", (ROOT / "nbval-sanitize.cfg").read_text("utf-8"), re.MULTILINE)
    printed = "".join(output.get("text", "") for output in outputs)  # a slow cell's lines come in several pieces
    bundles = [output.get("data", {}) for output in outputs]
    shown = [printed, *(text for data in bundles for key, text in data.items() if key.startswith("text/"))]
    for pattern, replacement in rules:
        shown = [re.sub(pattern, replacement, text) for text in shown]
    return [tolerance.Text(text) for text in shown]
