"""What `make site` and `make slides` have in common: a folder of pages, from the lessons' committed outputs."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from website.course import Lesson, lessons

ROOT = Path(__file__).resolve().parents[2]


def write_folder(folder: Path, write: Callable[[Sequence[Lesson], Path], None]) -> int:
    """Let the lessons be written, and say where they are and how large, or why not; gives the exit code."""
    try:
        write(lessons(ROOT / "notebooks", ROOT / "docs" / "teaching.md"), folder)
    except (FileNotFoundError, ValueError) as reason:
        print(f"nothing was written into {folder}: {reason}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder / 'index.html'}: {size / 1e6:.1f} MB in all")
    return 0
