"""The lessons that come with the package, and a learner's copy of them, which is never overwritten.

What was copied is written down by checksum. A file that still is what was copied may be exchanged for a newer one; any
other has been worked on, and stays.
"""

import hashlib
import json
import os
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from gptlab._refuse import refuse

FIRST = "00_start_here.ipynb"
RECORD = ".gptlab-lessons.json"  # in the learner's folder: name of a file, and the checksum of what was copied there


class Copied(NamedTuple):
    """Names of lessons: copied or renewed, and kept because they were changed since."""

    new: list[str]
    kept: list[str]


def shipped_lessons() -> Path:
    """The folder that they lie in: `notebooks` of a checkout, else what the wheel has installed."""
    beside = Path(str(files("gptlab"))).parent
    if (beside / "pyproject.toml").exists():
        return beside / "notebooks"
    installed = Path("share", "gptlab", "lessons")
    places = [beside / installed]  # pip install --target
    try:
        listed = distribution("gptlab").files or ()
        places += [Path(file.locate()).resolve().parent for file in listed if file.name == FIRST]
    except PackageNotFoundError:
        pass
    for place in places:
        if (place / FIRST).exists():
            return place
    raise FileNotFoundError(f"this installation has no lessons in {installed}: install gptlab anew from its wheel")


def copy_lessons(source: Path, folder: Path) -> Copied:
    """Copy what is missing in `folder`, renew what nobody has changed, and keep the rest."""
    if folder.exists() and not folder.is_dir():
        raise refuse("FOLDER", str(folder), "a folder, or one that is still to be made; this is a file")
    folder.mkdir(parents=True, exist_ok=True)
    record, copied = _read_record(folder / RECORD), Copied([], [])
    for lesson in sorted(source.glob("*.ipynb")):
        here, ours = folder / lesson.name, _checksum(lesson)
        theirs = _checksum(here) if here.exists() else None
        if theirs not in (None, ours, record.get(lesson.name)):
            copied.kept.append(lesson.name)
            continue
        if theirs != ours:
            _copy_whole(lesson, here)
            copied.new.append(lesson.name)
        record[lesson.name] = ours
    (folder / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
    return copied


def _read_record(path: Path) -> dict[str, str]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}  # nothing is known, so every file that differs stays
    return record if isinstance(record, dict) else {}


def _copy_whole(source: Path, target: Path) -> None:
    unfinished = target.with_name(f".{target.name}.unfinished")
    shutil.copyfile(source, unfinished)
    os.replace(unfinished, target)


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
