"""Write the lessons as a static site, from their committed outputs: `make site`, or with the folder to write.

    python scripts/make_site.py [site]

No kernel is started, and the pages ask no other host for anything: the folder can be opened from a disk.
"""

import sys
from pathlib import Path

from website.command import ROOT, write_folder
from website.pages import write_site


def main(words: list[str]) -> int:
    return write_folder(Path(words[0]) if words else ROOT / "site", write_site)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
