"""Training state: all that a run needs to go on as if it had never stopped, in one safetensors file.

The weights, AdamW's two moments, and as JSON in the file's metadata the steps done and the settings of the run. Batches
and dropout are functions of the seed and the step, so there is no state of theirs to keep.
"""

import json
from pathlib import Path

import torch
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.optimizer import AdamW
from gptlab.storage import damaged, read_tensors, write_tensors, write_whole

_FORMAT = "gptlab training state, version 1"


def save_state(path: Path, model: nn.Module, optimizer: AdamW, *, progress: dict, settings: dict) -> None:
    """Write the run's state; whatever happens meanwhile, the file at `path` is the old one or the new one, whole."""
    run = {"steps": optimizer.steps, "progress": progress, "settings": settings}
    metadata = {"format": _FORMAT, "run": json.dumps(run)}
    write_whole(path, lambda unfinished: write_tensors(unfinished, _tensors(model, optimizer), metadata))


def load_state(path: Path, model: nn.Module, optimizer: AdamW, *, settings: dict) -> dict:
    """Put the stored run into `model` and `optimizer`; gives its `progress`.

    Raises ValueError for a file that is no training state, is damaged, or belongs to a run with other settings; then
    neither model nor optimizer is touched.
    """
    stored, metadata = read_tensors(path, checksum_optional=False)
    if metadata.get("format") != _FORMAT:
        raise damaged(path, "is no training state: gptlab.train did not write it")
    run = json.loads(metadata["run"])
    settings = json.loads(json.dumps(settings))  # as they look when stored: tuples are lists
    for name in [*settings, *run["settings"]]:
        ours, theirs = settings.get(name), run["settings"].get(name)
        if ours != theirs:
            would_do = f"{theirs!r} to go on with {path}; to begin a new run, give another path or resume=False"
            raise refuse(name, ours, would_do)
    present = _tensors(model, optimizer)
    if {name: t.shape for name, t in present.items()} != {name: t.shape for name, t in stored.items()}:
        raise damaged(path, "holds weights with other names or shapes than this model's")
    with torch.no_grad():
        for name, tensor in present.items():
            tensor.copy_(stored[name])
    optimizer.steps = run["steps"]
    return run["progress"]


def _tensors(model: nn.Module, optimizer: AdamW) -> dict[str, Tensor]:
    weights = {f"model.{name}": tensor for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    first = {f"first.{i}": m for i, m in enumerate(optimizer.first)}
    second = {f"second.{i}": v for i, v in enumerate(optimizer.second)}
    return weights | first | second
