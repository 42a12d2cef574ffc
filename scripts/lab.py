"""Open JupyterLab on a lesson, without its questions and requests about news and updates.

    python scripts/lab.py [LESSON] [--no-browser] [--port 8888] [any option of `jupyter lab`]

`make lab`, the README's lines for Windows and the browser tests all start the lab here.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START = "notebooks/00_start_here.ipynb"
# The one file that turns off JupyterLab's announcements; Binder's start script uses it too.
CONFIG = ROOT / "binder" / "jupyter"


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Open JupyterLab on a lesson.")
    parser.add_argument("lesson", nargs="?", default=START)
    options, others = parser.parse_known_args(words)

    before = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(CONFIG), before]))
    os.chdir(ROOT)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        others.append("--allow-root")  # in a container one is root, and Jupyter would refuse

    from jupyterlab.labapp import main as jupyter_lab

    sys.argv[0] = "jupyter-lab"
    jupyter_lab([options.lesson, *others])


if __name__ == "__main__":
    main(sys.argv[1:])
