"""JupyterLab on a lesson, without its questions and requests about news and updates."""

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path


def start(folder: Path, lesson: str, others: Sequence[str] = ()) -> None:
    """Serve `folder` and open `lesson` of it, until it is stopped; `others` are options of `jupyter lab`."""
    # Turns off the announcements and saves notebooks without live widgets; Binder's start script points there too.
    config = str(files("gptlab") / "data" / "jupyter")
    before = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [config, before]))
    os.environ.setdefault("PYTHONSTARTUP", str(files("gptlab") / "commands" / "_kernel_startup.py"))
    others = list(others)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        others.append("--allow-root")  # in a container one is root, and Jupyter would refuse

    from jupyterlab.labapp import main as jupyter_lab

    jupyter_lab([f"--ServerApp.root_dir={folder}", f"--LabApp.default_url=/lab/tree/{lesson}", *others])
