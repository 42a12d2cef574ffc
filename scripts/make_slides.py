"""Write each lesson as slides, from its committed outputs: `make slides`, or with the folder to write.

    python scripts/make_slides.py [slides]

No kernel is started, and the slides ask no other host for anything: the folder can be opened from a disk.
"""

import sys
from pathlib import Path

from slideshow.decks import write_decks
from website.course import lessons

ROOT = Path(__file__).resolve().parent.parent


def main(words: list[str]) -> int:
    folder = Path(words[0]) if words else ROOT / "slides"
    try:
        write_decks(lessons(ROOT / "notebooks", ROOT / "docs" / "teaching.md"), folder)
    except (FileNotFoundError, ValueError) as reason:
        print(f"no slides were written: {reason}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder / 'index.html'}: {size / 1e6:.1f} MB in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
