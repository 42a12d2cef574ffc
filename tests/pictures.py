"""What tests of pictures and apps read off them, and what they draw."""

import json

import numpy as np
import plotly.graph_objects as go

# What a user can type that a page might run, or Plotly might read as a tag, an entity, a formula or a template.
HOSTILE = ["<img src=x onerror=alert(1)>", "<b>", "&lt;", "$x$", "%{y}", "<br>", "</script>"]


def words(figure: go.Figure) -> str:
    """The line that says what is to be seen."""
    return figure.layout.meta["description"]


def speech(app) -> str:
    """What the app's own line says, still escaped."""
    return app.line.value.split("role='status'>")[1].removesuffix("</div>")


def strict(figure: go.Figure) -> dict:
    """The figure as strict JSON, without NaN and Infinity."""
    return json.loads(figure.to_json(), parse_constant=_no_constant)


def causal(*shape: int) -> np.ndarray:
    """Weights of rows that sum to 1, with nothing above the diagonal."""
    scores = np.random.default_rng(0).normal(size=shape)
    scores[..., ~np.tri(shape[-1], dtype=bool)] = -np.inf
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
