"""What one environment has of the parts that lessons need; run by the interpreter of that environment.

`gptlab doctor` sends this file's source to other interpreters, so it uses nothing of ours, and Jupyter's own libraries
only where they are.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PARTS = ["gptlab", "torch", "numpy", "jupyterlab", "ipywidgets", "anywidget", "plotly"]


def facts() -> dict:
    """Versions of the parts; and as a server: lab extensions with their versions, kernels with their commands."""
    return {
        "python": sys.executable,
        "versions": {name: found for name in PARTS if (found := _version(name)) is not None},
        "extensions": _extensions(),
        "kernels": _kernels(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extensions() -> dict:
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        return {}
    found = {}
    for folder in map(Path, jupyter_path("labextensions")):
        for file in [*folder.glob("*/package.json"), *folder.glob("@*/*/package.json")]:
            description = json.loads(file.read_text(encoding="utf-8"))
            found.setdefault(description["name"], description["version"])  # the first in the path is the one in use
    return found


def _kernels() -> dict:
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        return {}
    specs = KernelSpecManager().get_all_specs()
    return {name: {"argv": spec["spec"]["argv"], "folder": spec["resource_dir"]} for name, spec in specs.items()}


if __name__ == "__main__":
    print(json.dumps(facts()))
