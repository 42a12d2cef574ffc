"""Training state: all that a run needs to go on as if it had never stopped, in one safetensors file.

The weights, AdamW's two moments, and as JSON in the file's metadata the steps done and the settings of the run. Batches
and dropout are functions of the seed and the step, so there is no state of theirs to keep. No pickle: opening a file
runs nothing.
"""

import json
import os
import tempfile
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.optimizer import AdamW

_FORMAT = "gptlab training state 1"


def save_state(path: Path, model: nn.Module, optimizer: AdamW, *, progress: dict, settings: dict) -> None:
    """Write the run's state; whatever happens meanwhile, the file at `path` is the old one or the new one, whole."""
    run = {"steps": optimizer.steps, "progress": progress, "settings": settings}
    tensors = {name: tensor.detach().contiguous() for name, tensor in _tensors(model, optimizer).items()}
    content = save(tensors, metadata={"format": _FORMAT, "run": json.dumps(run)})
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def load_state(path: Path, model: nn.Module, optimizer: AdamW, *, settings: dict) -> dict:
    """Put the stored run into `model` and `optimizer`; gives its `progress`.

    Raises ValueError for a file that is no training state, is damaged, or belongs to a run with other settings; then
    neither model nor optimizer is touched.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
    except SafetensorError as error:
        raise refuse("checkpoint", str(path), f"a whole safetensors file ({error})") from error
    if metadata.get("format") != _FORMAT:
        raise refuse("checkpoint", str(path), "a training state that gptlab.train has written")
    run = json.loads(metadata["run"])
    settings = json.loads(json.dumps(settings))  # as they look when stored: tuples are lists
    for name in sorted(settings.keys() | run["settings"].keys()):
        ours, theirs = settings.get(name), run["settings"].get(name)
        if ours != theirs:
            would_do = f"{theirs!r} to go on with {path}; give another path, or resume=False, to begin a new run"
            raise refuse(name, ours, would_do)
    present = _tensors(model, optimizer)
    if {n: t.shape for n, t in present.items()} != {n: t.shape for n, t in stored.items()}:
        raise refuse("checkpoint", str(path), "one with the names and shapes of this model's weights")
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
