"""Save a model with its tokenizer and load it again: a folder that is whole, or not there at all.

config.json          GPTConfig's fields
model.safetensors    the weights by name, numbers only; and the checksums of all three files
tokenizer.json       the tokens, where there is a tokenizer
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.config import GPTConfig
from gptlab.model import GPT
from gptlab.storage import damaged, read_tensors, refuse_no_tensors, sha256, standing, write_tensors, write_whole
from gptlab.tokenizer import Tokenizer

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
# What a checkpoint consists of, in this layout or another.
OF_A_MODEL = (CONFIG, "*.safetensors", "*.safetensors.index.json", "tokenizer*.json", "vocab.json", "merges.txt")
COMPILED = "_orig_mod."  # what torch.compile puts before the names of what it compiled


def save(
    path: str | os.PathLike, model: nn.Module, tok: Tokenizer | None = None, dtype: torch.dtype | None = None
) -> None:
    """Write a GPT and its tokenizer to the folder `path`, which takes the old one's place when it is complete.

    Interrupted, killed or out of disk at any moment, what was there before stays and can be loaded. Other files in
    the folder are kept. dtype is what the weights are stored in, their own type if None: torch.float16 halves the
    file and keeps three digits. ValueError for a path that is a file or has folders in it, and for a dtype that
    cannot hold the weights; OSError where the disk does not take them.
    """
    texts = {CONFIG: json.dumps(model.config.to_dict(), indent=2).encode()}
    if tok is not None:
        texts[TOKENIZER] = tok.to_json().encode()
    weights = {name: as_stored(name, w, dtype) for name, w in bare_names(model.state_dict()).items()}

    def write(folder: Path) -> None:
        for name, content in texts.items():
            (folder / name).write_bytes(content)
        write_tensors(folder / WEIGHTS, weights, {name: sha256(content) for name, content in texts.items()})

    write_checkpoint(path, write)


def write_checkpoint(path: str | os.PathLike, write: Callable[[Path], object]) -> None:
    """Let `write(folder)` fill an empty folder, which then takes the place of `path`; what else lay there is kept.

    A model's own files of any layout go: they would contradict the new ones.
    """
    path = Path(path).resolve()
    if path.exists() and (not path.is_dir() or any(entry.is_dir() for entry in path.iterdir())):
        raise refuse("path", str(path), "a folder for the checkpoint alone: this is a file, or has folders in it")

    def write_all(folder: Path) -> None:
        folder.mkdir()
        for other in path.iterdir() if path.exists() else ():
            if not any(fnmatch(other.name, pattern) for pattern in OF_A_MODEL):
                shutil.copyfile(other, folder / other.name)
        write(folder)

    write_whole(path, write_all)


def load(name_or_path: str | os.PathLike) -> tuple[GPT, Tokenizer | None]:
    """A model and its tokenizer, from a folder that `save` wrote or by the name of one that comes with the package.

    The weights are float32 whatever they are stored in, and the model is in evaluation mode; the tokenizer is None
    where none was saved. No network is asked and no pickle opened. ValueError, in one line with the path, for what
    does not exist, is damaged, does not fit together, or was changed after it was saved.
    """
    folder = _folder(name_or_path)
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise damaged(folder, f"is no checkpoint: it has no {name}")
    config = _read_config(folder / CONFIG)
    stored, checksums = read_tensors(folder / WEIGHTS)
    for name in (CONFIG, TOKENIZER):
        _refuse_another_than_saved(folder / name, checksums.get(name))
    model = filled(config, bare_names(stored), folder / WEIGHTS)
    tok = Tokenizer.load(folder / TOKENIZER) if (folder / TOKENIZER).exists() else None
    return model.eval(), tok


def shipped() -> list[str]:
    """The names of the models that come with the package."""
    return sorted(entry.name for entry in _data().iterdir() if (entry / CONFIG).is_file())


def _data() -> Path:
    return Path(str(files("gptlab") / "data"))


def _folder(name_or_path: str | os.PathLike) -> Path:
    if name_or_path in shipped():
        return _data() / name_or_path
    path = standing(name_or_path)
    if path.is_dir():
        return path
    if not path.exists():
        would_do = f"a folder that gptlab.save wrote, or a model that comes with gptlab: {', '.join(shipped())}"
        raise refuse("name_or_path", str(name_or_path), would_do)
    refuse_no_tensors(path)
    raise damaged(path, f"is one file, but a model is the folder with {WEIGHTS} and {CONFIG}")


def bare_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights by the names that they have in a model that was not compiled."""
    return {name.replace(COMPILED, ""): weight for name, weight in weights.items()}


def _read_config(path: Path) -> GPTConfig:
    try:
        return GPTConfig.from_dict(json.loads(path.read_bytes().decode()))
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"is no config of a model: {error}") from error


def _refuse_another_than_saved(path: Path, checksum: str | None) -> None:
    if checksum is not None and not (path.exists() and sha256(path.read_bytes()) == checksum):
        raise damaged(path, f"is not the file that was saved with {WEIGHTS}: it was changed, or is gone")


def as_stored(name: str, weight: Tensor, dtype: torch.dtype | None) -> Tensor:
    """A weight in the type that it is stored in; ValueError for a type that cannot hold it."""
    if dtype is None:
        return weight
    if not dtype.is_floating_point:
        raise refuse("dtype", dtype, "a floating-point type, or None for the weights' own")
    stored = weight.to(dtype)
    if (weight.isfinite() & ~stored.isfinite()).any():
        raise refuse("dtype", dtype, f"one that holds {name}, which goes up to {float(weight.abs().max()):.3g}")
    return stored


def filled(config: GPTConfig, stored: dict[str, Tensor], path: Path) -> GPT:
    """The model that the config describes, with the weights from `path` in it."""
    described, held = config.parameter_count()["total"], sum(weight.numel() for weight in stored.values())
    if described > 2 * held:  # refused before a damaged config takes all the memory
        raise damaged(path, f"holds {held:,} numbers, but {CONFIG} describes a model of {described:,}")
    with torch.random.fork_rng(devices=[]):  # a new model's weights are drawn, here to be overwritten
        model = GPT(config)
    present = model.state_dict()
    for name in [*present, *stored]:
        if name not in stored:
            raise damaged(path, f"lacks {name}, which belongs to the model of {CONFIG}")
        if name not in present:
            raise damaged(path, f"has {name}, which does not belong to the model of {CONFIG}")
        if stored[name].shape != present[name].shape or not stored[name].is_floating_point():
            kind, here = str(stored[name].dtype).removeprefix("torch."), tuple(stored[name].shape)
            there = tuple(present[name].shape)
            raise damaged(path, f"has {name} as {kind} {here}, but the model of {CONFIG} takes floats {there}")
    with torch.no_grad():
        for name, weight in present.items():
            weight.copy_(stored[name])
    return model
