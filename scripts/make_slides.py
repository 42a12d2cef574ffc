"""Write each lesson as slides, from its committed outputs: `make slides`, or with the folder to write.

    python scripts/make_slides.py [slides]

No kernel is started, and the slides ask no other host for anything: the folder can be opened from a disk.
"""

import sys
from pathlib import Path

from slideshow.decks import write_decks
from website.command import ROOT, write_folder


def main(words: list[str]) -> int:
    return write_folder(Path(words[0]) if words else ROOT / "slides", write_decks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
