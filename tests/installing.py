"""The project as others get it: built, and installed by pip without asking an index."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300


def build(folder: Path) -> Path:
    """The wheel as it would be published, built from a copy in `folder`."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("gptlab", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder / "dist", folder)
    return next((folder / "dist").glob("*.whl"))


def pip(*words):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words), "--no-index"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert run.returncode == 0, run.stdout + run.stderr
