"""How a shipped model was trained: the curve that was recorded beside its weights.

N rows, one every few steps of the training. Losses are in nats per token.
"""

import json
from importlib.resources import files
from math import nan
from typing import NamedTuple

import numpy as np

from gptlab._refuse import refuse


class Curve(NamedTuple):
    """The record of a training, each field (N,); `val_loss` is NaN in rows without a validation."""

    steps: np.ndarray
    loss: np.ndarray  # mean over the steps since the row before
    val_loss: np.ndarray
    learning_rate: np.ndarray
    tokens: np.ndarray  # targets learned from so far
    seconds: np.ndarray
    floor: np.ndarray  # the lowest val_loss there can be; it is another for other stories


def recorded_curve(name: str = "small-world") -> Curve:
    """The curve of a model that comes with the package; ValueError for a name that has none."""
    path = files("gptlab") / "data" / name / "curve.json"
    if not path.is_file():
        raise refuse("name", name, "a model that comes with gptlab, such as 'small-world'")
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]

    def column(key: str, dtype: type = float) -> np.ndarray:
        return np.array([nan if row[key] is None else row[key] for row in rows], dtype=dtype)

    return Curve(
        column("step", int), column("loss"), column("val_loss"), column("learning_rate"),
        column("tokens", int), column("seconds"), column("floor"),
    )  # fmt: skip
