"""The browser that the tests drive: the one that is there, else one that can be had, else a clear word.

Run as a script it makes sure of one (`make test` does that), so a missing browser is a failure, never a skipped test.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
NONE = (
    "The browser tests need chromium or Chrome. None is here, Debian's package cannot be installed "
    "(that takes root and apt-get), and Playwright's own download failed. Install one of them and try again."
)


def find() -> str | None:
    """Where the browser is: on the path, where macOS keeps it, or where Playwright put its own."""
    there = [shutil.which(name) for name in NAMES] + [place for place in PLACES if Path(place).exists()]
    return next(filter(None, there), None) or playwrights_own()


def playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Debian's package where we are root, else Playwright's download; whether it worked is for `find` to say."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        packages = ["chromium", "fonts-dejavu-core"]  # with no font at all there is no text to look at
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], env=quiet)
    if find() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])


if __name__ == "__main__":
    if find() is None:
        install()
    sys.exit(None if find() else NONE)
