"""Files that are whole or not there, and tensor files that say what is wrong with them.

Writing goes to a new name beside the old one, to the disk, and only then into the old one's place. Tensors are kept as
safetensors: a header in JSON, then plain numbers, so that nothing in such a file can be run.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

ABANDONED_AFTER = 3600.0  # seconds without a change, then what a killed writer left is cleared away


def write_whole(path: str | os.PathLike, write: Callable[[Path], object]) -> None:
    """Let `write(unfinished)` make a file, or a folder of files, and put it in the place of `path` when it is complete.

    Until then, and if writing fails, is interrupted or killed, what stood at `path` stays as it was. A folder is
    exchanged by two renamings; killed between them, the old one is whole under another name: `standing` finds it.
    OSError, naming the path, where the disk does not take it. One writer at a time.
    """
    path = Path(path).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(path)
    unfinished = path.with_name(f".{path.name}.{uuid4().hex[:12]}.unfinished")
    try:
        write(unfinished)
        _flush(unfinished)
        _put_in_place(unfinished, path)
    except BaseException as error:
        _settle(path)
        _remove(unfinished)
        if isinstance(error, OSError):
            raise OSError(f"{path} was not written, what was there is unchanged: {error}") from error
        raise


def standing(path: str | os.PathLike) -> Path:
    """Where the thing at `path` is: there, or put aside by a writer that was killed at the last moment."""
    path = Path(path)
    if path.exists():
        return path
    aside = _aside(path.resolve())
    return aside if aside.exists() else path


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors by name, and texts beside them, as a safetensors file with a checksum over all of it."""
    metadata = dict(metadata or {})
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        save_file(tensors, path, metadata | {"sha256": _checksum(tensors, metadata)})
    except SafetensorError as error:  # a full disk arrives as one
        raise OSError(str(error)) from error


def read_tensors(
    path: str | os.PathLike, *, checksum_optional: bool = True
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors by name and the texts beside them; the checksum must be right, and may be absent if optional.

    ValueError in one line, with the path and the likely cause, for everything that is no sound safetensors file.
    """
    path = Path(path)
    refuse_no_tensors(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
    except (SafetensorError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise damaged(path, f"is no sound safetensors file ({error})") from error
    written = metadata.pop("sha256", None)
    if written is None and not checksum_optional:
        raise damaged(path, "has no checksum: gptlab did not write it, or its header was changed")
    if written is not None and written != _checksum(tensors, metadata):
        raise damaged(path, "is not what was written: its checksum differs, some bytes have changed")
    return tensors, metadata


def refuse_no_tensors(path: Path) -> None:
    """ValueError that says what the file is if it is no safetensors file of the right length; nothing is loaded."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        start = file.read(64)
        if size == 0:
            raise damaged(path, "is empty: a copy or a download was broken off before it began")
        if start.startswith(b"version https://git-lfs"):
            raise damaged(path, "is a Git LFS pointer, not the file itself: `git lfs pull` fetches it")
        header_size = int.from_bytes(start[:8], "little")
        if start[8:9] != b"{":
            if start.startswith((b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")):
                raise damaged(path, "is a pickle, which can run code when opened and never is; save it as safetensors")
            raise damaged(path, "is no safetensors file: it does not begin with a header")
        if size < 8 + header_size:
            raise damaged(path, f"is cut short: {size:,} bytes of at least {8 + header_size:,}; copy it again")
        file.seek(8)
        try:
            entries = json.loads(file.read(header_size))
            ends = [entry["data_offsets"][1] for name, entry in entries.items() if name != "__metadata__"]
            whole = 8 + header_size + max(ends, default=0)
        except (LookupError, RecursionError, TypeError, ValueError, AttributeError) as error:
            raise damaged(path, f"has a header that cannot be read ({error!r}); copy it again") from error
    if size < whole:
        raise damaged(path, f"is cut short: {size:,} of {whole:,} bytes; copy it again")


def damaged(path: Path, what: str) -> ValueError:
    """The error for a file with something wrong in it, in one line; the caller raises it."""
    return ValueError(" ".join(f"{path} {what}".split()))


def sha256(content: bytes) -> str:
    """The checksum of a file's content, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    total = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return total.hexdigest()


def _put_in_place(unfinished: Path, path: Path) -> None:
    if unfinished.is_dir():
        _settle(path)
        if path.exists():
            os.rename(path, _aside(path))  # no system renames a folder over one that holds something
        os.rename(unfinished, path)
        _settle(path)
    else:
        os.replace(unfinished, path)
    _flush_folder(path.parent)


def _settle(path: Path) -> None:
    """End an exchange of folders: the old one goes if the new one is there, and comes back if it is not."""
    aside = _aside(path)
    if not aside.exists():
        return
    if path.exists():
        _remove(aside)
    else:
        os.rename(aside, path)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


def _flush(path: Path) -> None:
    for file in path.iterdir() if path.is_dir() else [path]:
        with open(file, "r+b") as handle:
            os.fsync(handle.fileno())
    if path.is_dir():
        _flush_folder(path)


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":  # which opens no folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _clear_abandoned(path: Path) -> None:
    for beside in path.parent.iterdir():
        if beside.name.startswith(f".{path.name}.") and beside.name.endswith(".unfinished"):
            with suppress(FileNotFoundError):  # its writer has just finished
                if time.time() - beside.stat().st_mtime > ABANDONED_AFTER:
                    _remove(beside)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
