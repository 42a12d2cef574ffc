"""Open JupyterLab on a lesson, without its questions and requests about news and updates.

    python scripts/lab.py [--lesson notebooks/00_start_here.ipynb] [--folder .] [any option of `jupyter lab`]

`make lab`, the README's lines for Windows and for conda, and the browser tests all start the lab here.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Turns off the announcements and saves notebooks without live widgets; Binder's start script points there too.
CONFIG = ROOT / "binder" / "jupyter"


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--lesson", default="notebooks/00_start_here.ipynb", help="what to open, seen from the folder")
    parser.add_argument("--folder", default=ROOT, help="what to serve")
    options, others = parser.parse_known_args(words)

    before = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(CONFIG), before]))
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        others.append("--allow-root")  # in a container one is root, and Jupyter would refuse

    from jupyterlab.labapp import main as jupyter_lab

    jupyter_lab([f"--ServerApp.root_dir={options.folder}", f"--LabApp.default_url=/lab/tree/{options.lesson}", *others])


if __name__ == "__main__":
    main(sys.argv[1:])
