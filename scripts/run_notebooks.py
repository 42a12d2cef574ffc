"""Run lessons anew, each in a fresh kernel, and save them clean: `make notebooks`, or with the notebooks to run.

    python scripts/run_notebooks.py [notebooks/00_start_here.ipynb …]
    python scripts/run_notebooks.py --pictures     # run nothing, draw each stored figure anew

A lesson that raises, or that writes to stderr, is not saved; the others are, each whole or not at all, with a picture
beside each figure and cells marked for slides.
"""

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from gptlab.commands._saved_notebook import leave_out_widgets
from slide_marks import mark
from still_pictures import add_pictures, stored_pictures

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
CELL_SECONDS = 300
# The same whoever runs it: the version of Python is not the lesson's affair.
LANGUAGE = {"name": "python"}
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def run(notebook: NotebookNode, folder: Path = NOTEBOOKS) -> NotebookNode:
    """Run all cells in a fresh kernel that starts in the folder of the lessons; the notebook is changed in place.

    No weights are fetched, and none that were: what is saved is the same whoever runs it.
    """
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
    )
    with TemporaryDirectory() as empty:
        same = {"PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": empty}  # sets print in the same order
        client.execute(env=os.environ | same)
    return notebook


def clean(notebook: NotebookNode) -> NotebookNode:
    """Leave out what a fresh run adds and no reader needs: widgets, random ids, versions; changed in place."""
    leave_out_widgets(notebook)
    notebook.metadata.language_info = LANGUAGE
    notebook.metadata.kernelspec = KERNEL
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            for trace in output.get("data", {}).get("application/vnd.plotly.v1+json", {}).get("data", ()):
                trace.pop("uid", None)
    return notebook


def said_on_stderr(notebook: NotebookNode) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]


def save(notebook: NotebookNode, path: Path) -> None:
    """Write beside the old file and put the new one in its place, so that it is never half there."""
    nbformat.validate(notebook)
    part = path.with_suffix(".part")
    try:
        nbformat.write(notebook, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def main(words: list[str]) -> int:
    """The number of lessons that could not be run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", type=Path, help="default: all")
    parser.add_argument("--pictures", action="store_true", help="run nothing, draw each stored figure anew")
    options = parser.parse_args(words)
    failed = 0
    for path in options.lessons or sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        kept = {} if options.pictures else stored_pictures(notebook)
        said = [] if options.pictures else complaints(notebook, path.parent)
        if said:
            failed += 1
            print(f"{path.name}: not saved\n" + "\n".join(said), file=sys.stderr)
        else:
            drawn = add_pictures(clean(notebook), kept)
            mark(notebook)
            save(notebook, path)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB, {drawn} pictures drawn")
    return failed


def complaints(notebook: NotebookNode, folder: Path) -> list[str]:
    """Run a lesson; what went wrong or was written to stderr."""
    try:
        return said_on_stderr(run(notebook, folder))
    except CellExecutionError as error:
        return [str(error)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
