"""What the tests of lessons share: where the lessons are, and how near an output must be."""

import importlib.util
from pathlib import Path
from types import ModuleType

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
