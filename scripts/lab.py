"""Open JupyterLab on a lesson of this checkout, as `gptlab lab` does on a copy.

    python scripts/lab.py [--lesson notebooks/00_start_here.ipynb] [--folder .] [any option of `jupyter lab`]

`make lab`, the README's lines for Windows and for conda, and the browser tests all start the lab here.
"""

import argparse
import sys
from pathlib import Path

from gptlab.commands._jupyter import start

ROOT = Path(__file__).resolve().parent.parent


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--lesson", default="notebooks/00_start_here.ipynb", help="what to open, seen from the folder")
    parser.add_argument("--folder", default=ROOT, help="what to serve")
    options, others = parser.parse_known_args(words)
    start(options.folder, options.lesson, others)


if __name__ == "__main__":
    main(sys.argv[1:])
