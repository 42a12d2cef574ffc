"""What a saved notebook keeps: the still figure and the words, never the live widget.

A widget lives in its kernel. Saved, its view is an empty promise ("Error displaying widget") and hides the still
figure beside it; its state is some 5 MB a figure. `make notebooks` and the lab's server both save by these rules.
"""

VIEW = "application/vnd.jupyter.widget-view+json"
FIGURE = "application/vnd.plotly.v1+json"


def leave_out_widgets(notebook: dict) -> None:
    """Take views and state of widgets out of a notebook, and pictures of figures; in place. A view alone stays."""
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if len(data) > 1:
                data.pop(VIEW, None)
            if FIGURE in data:
                data.pop("image/png", None)  # JupyterLab's Plotly adds one, and shows it in place of the figure


def before_saving(model: dict, **_) -> None:
    """The same as a hook of Jupyter's server, called with whatever is about to be saved."""
    if model["type"] == "notebook" and model.get("content"):
        leave_out_widgets(model["content"])
