"""What the tests of lessons share: where the lessons are, and how near an output must be."""

import importlib.util
import re
from configparser import ConfigParser
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
    rules = ConfigParser(interpolation=None)
    rules.read(ROOT / "nbval-sanitize.cfg", encoding="utf-8")
    shown = []
    for output in outputs:
        texts = {key: value for key, value in output.get("data", {}).items() if key.startswith("text/")}
        for text in (*texts.values(), output.get("text", "")):
            for name in rules.sections():
                text = re.sub(rules[name]["regex"], rules[name]["replace"], text)
            shown.append(tolerance.Text(text))
    return shown
