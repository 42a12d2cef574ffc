"""Disks that tests write to: what stands in a folder, and one that is soon full."""

import resource
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
