"""What must fit together for a lesson to run: each check gives findings, and what mends those that are not well."""

import os
import re
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import NamedTuple

from gptlab.commands._environments import Environment

GIGABYTE = 1 << 30
NEEDED = 1 * GIGABYTE  # a kernel with its lesson, and JupyterLab beside it
OF_A_KERNEL = ("torch", "numpy", "ipywidgets", "anywidget", "plotly")
WIDGETS = "@jupyter-widgets/jupyterlab-manager"
WIDGETS_OF = {7: 3, 8: 5}  # ipywidgets' major version: that of the extension which draws its widgets


class Finding(NamedTuple):
    """One thing that was looked at; `mend` is None where it is well."""

    what: str
    mend: str | None = None


def check_kernel(kernel: Environment) -> Iterator[Finding]:
    """Whether what lessons compute and draw with is there, in versions that gptlab can use."""
    from packaging.requirements import Requirement

    for requirement in map(Requirement, requires("gptlab") or ()):
        if requirement.name not in OF_A_KERNEL:
            continue
        have = kernel.versions.get(requirement.name)
        what = f"{requirement.name} {have or 'is missing'}"
        if have is not None and requirement.specifier.contains(have, prereleases=True):
            yield Finding(what)
        else:
            mend = f"{kernel.python} -m pip install '{requirement}'"
            yield Finding(f"{what}, gptlab needs {requirement.specifier}", mend)


def check_server(server: Environment, kernel: Environment) -> Iterator[Finding]:
    """Whether this JupyterLab can draw what comes from that kernel: the two halves of each widget must match."""
    version = server.versions.get("jupyterlab", "none")
    supported = _numbers(version)[:1] == [4] and _numbers(version) >= [4, 2]
    install = f"{server.python} -m pip install"
    yield Finding(f"JupyterLab {version}", None if supported else f"{install} 'jupyterlab>=4.2,<5'")
    if (ours := kernel.versions.get("ipywidgets")) is not None:
        theirs = server.extensions.get(WIDGETS)
        fits = theirs is not None and _numbers(theirs)[0] == WIDGETS_OF.get(_numbers(ours)[0])
        yield _pair("ipywidgets", ours, theirs, fits, f"{install} 'ipywidgets=={ours}'")
    if (ours := kernel.versions.get("anywidget")) is not None:
        theirs = server.extensions.get("anywidget")
        fits = theirs is not None and _numbers(theirs)[:2] == _numbers(ours)[:2]
        yield _pair("anywidget", ours, theirs, fits, f"{install} 'anywidget=={ours}'")
    if (ours := kernel.versions.get("plotly")) is not None:
        theirs = server.extensions.get("jupyterlab-plotly")
        fits = theirs is not None and _numbers(theirs)[0] >= _numbers(ours)[0]
        yield _pair("plotly", ours, theirs, fits, f"{install} 'plotly=={ours}'")


def check_memory(available: int | None) -> Finding:
    """Whether there is room for a kernel and JupyterLab."""
    if available is None:
        return Finding("memory: this system does not say how much is free")
    what = f"memory: {available / GIGABYTE:.1f} GB free"
    mend = "close other kernels (Kernel > Shut Down All Kernels) or programs: a lesson takes up to 1 GB"
    return Finding(what, None if available >= NEEDED else mend)


def check_threads(threads: int, cores: float | int) -> Finding:
    """More threads than cores wait for one another: a training then takes many times as long."""
    granted = max(1, round(cores))
    what = f"threads: torch takes {threads}, this process may use {cores:g} cores"
    return Finding(what, None if threads <= granted else f"set the environment variable OMP_NUM_THREADS={granted}")


def free_memory() -> int | None:
    """Bytes that a new process could have: what the system has left, or less where a container is bounded."""
    bounds = []
    if match := re.search(r"MemAvailable:\s+(\d+) kB", _read("/proc/meminfo")):
        bounds.append(int(match[1]) * 1024)
    limit, used = _read("/sys/fs/cgroup/memory.max").strip(), _read("/sys/fs/cgroup/memory.current").strip()
    if limit.isdigit() and used.isdigit():
        bounds.append(int(limit) - int(used))
    return min(bounds, default=None)


def granted_cores() -> float | int:
    """How many cores' time this process may take, in a container perhaps less than one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _read("/sys/fs/cgroup/cpu.max").strip().partition(" ")
    return min(cores, int(quota) / int(period)) if quota.isdigit() else cores


def _pair(name: str, ours: str, theirs: str | None, fits: bool, mend: str) -> Finding:
    what = f"{name} {ours} in the kernel, its JupyterLab extension {theirs or 'missing'}"
    return Finding(what, None if fits else f"{mend}, then reload the page")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]] or [0]


def _read(path: str) -> str:
    return Path(path).read_text() if Path(path).exists() else ""
