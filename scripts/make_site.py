"""Write the lessons as a static site, from their committed outputs: `make site`, or with the folder to write.

    python scripts/make_site.py [site]

No kernel is started, and the pages ask no other host for anything: the folder can be opened from a disk.
"""

import sys
from pathlib import Path

from website.course import lessons
from website.pages import write_site

ROOT = Path(__file__).resolve().parent.parent


def main(words: list[str]) -> int:
    folder = Path(words[0]) if words else ROOT / "site"
    try:
        write_site(lessons(ROOT / "notebooks", ROOT / "docs" / "teaching.md"), folder)
    except ValueError as reason:
        print(f"no site was written: {reason}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder / 'index.html'}: {size / 1e6:.1f} MB in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
