"""Disks that tests write to: what stands in a folder, and one that is soon full."""

import resource
import shutil
import subprocess
from contextlib import contextmanager


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


@contextmanager
def little_room(folder, size):
    """A disk of `size` bytes at `folder` where we may mount one; else no file may grow beyond that."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        if mounted.returncode:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        yield folder
    finally:
        if mounted.returncode:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        else:
            subprocess.run(["umount", folder], check=True)


@contextmanager
def read_only(folder, place):
    """`folder` as it is, at `place`, where nobody can write: mounted where we may mount, else a copy without rights."""
    place.mkdir()
    mounted = subprocess.run(["mount", "--bind", folder, place], capture_output=True).returncode == 0
    try:
        if mounted:
            subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        else:
            left_out = shutil.ignore_patterns(".*", place.name)
            shutil.copytree(folder, place, dirs_exist_ok=True, ignore=left_out)
            subprocess.run(["chmod", "-R", "a-w", place], check=True)
        yield place
    finally:
        if mounted:
            subprocess.run(["umount", "-l", place], check=True)
        else:
            subprocess.run(["chmod", "-R", "u+w", place], check=True)
