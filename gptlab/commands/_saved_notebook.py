"""What a notebook keeps when it is saved, and what JupyterLab is given to open: figures first.

A widget lives in its kernel. Saved, its view is an empty promise ("Error displaying widget") and hides the still
figure beside it; its state is some 5 MB a figure. `make notebooks` and the lab's server both save without.

Lessons come with a picture of each figure for pages that run no script. JupyterLab's Plotly would show the picture in
place of the figure, until a mouse passes over it: the lab's server hands out notebooks without, and saves them so.
"""

from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

VIEW = "application/vnd.jupyter.widget-view+json"
FIGURE = "application/vnd.plotly.v1+json"
PICTURE = "image/png"


def leave_out_widgets(notebook: dict) -> None:
    """Take views and state of widgets out of a notebook, in place. A view alone stays."""
    notebook["metadata"].pop("widgets", None)
    for data in _bundles(notebook):
        if len(data) > 1:
            data.pop(VIEW, None)


def leave_out_pictures(notebook: dict) -> None:
    """Take the pictures of figures out of a notebook, in place; pictures of other things stay."""
    for data in _bundles(notebook):
        if FIGURE in data:
            data.pop(PICTURE, None)


def before_saving(model: dict, **_: Any) -> None:
    """A hook of Jupyter's server, called with whatever is about to be saved."""
    if model["type"] == "notebook" and model.get("content"):
        leave_out_widgets(model["content"])
        leave_out_pictures(model["content"])  # JupyterLab's Plotly adds one of each figure that it has drawn


class FiguresFirst(AsyncLargeFileManager):
    """Jupyter's files, with notebooks opened without pictures of figures; the files stay as they are."""

    async def get(self, *where: Any, **options: Any) -> dict:
        """What is at a path, as the base class gives it."""
        model = await super().get(*where, **options)
        if model["type"] == "notebook" and model.get("content"):
            leave_out_pictures(model["content"])
        return model


def _bundles(notebook: dict) -> list[dict]:
    return [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ())]
