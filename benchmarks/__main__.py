"""Run the benchmarks, all or those named, and print them as one table; a run of all writes results.md."""

import os
import platform
import sys
import warnings
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}

import psutil
import torch

from benchmarks._measure import Comparison
from benchmarks.decoding import beam, greedy, sampling
from benchmarks.pictures import pictures, tracing
from benchmarks.slider_latency import slider
from benchmarks.starting import starting
from benchmarks.training import training
from benchmarks.vocabulary import vocabulary

SECTIONS = {
    "greedy": greedy,
    "sample": sampling,
    "beam": beam,
    "training": training,
    "trace": tracing,
    "picture": pictures,
    "bpe": vocabulary,
    "start": starting,
    "slider": slider,
}
RESULTS = Path(__file__).parent / "results.md"
PEERS = ("torch", "transformers", "tokenizers", "rustbpe", "bertviz", "circuitsvis", "plotly", "jupyterlab")
HEAD = "| task | who | median | from – to | gptlab is better by | rounds |\n|---|---|---:|---:|---:|---:|"
ABOUT = """# How fast gptlab is

Made by `make bench`. In each task the contestants take turns in one run; every figure is the median of its rounds,
behind one that warms up. The last column but one sets the medians against each other: the task's first line, gptlab's,
is so many times as fast, or as small. Weights are random and the same for all; `benchmarks/` has what each line does.
"""


def main(names: list[str]) -> None:
    unknown = set(names) - set(SECTIONS)
    if unknown:
        sys.exit(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    warnings.filterwarnings("ignore")  # of the peers
    began, load = perf_counter(), os.getloadavg()[0]
    print(HEAD, flush=True)
    lines = []
    for name in names or SECTIONS:
        for line in rows(SECTIONS[name]()):
            print(line, flush=True)
            lines.append(line)
    if not names:
        RESULTS.write_text(report(lines, perf_counter() - began, load), encoding="utf-8")


def rows(comparisons: Iterator[Comparison]) -> Iterator[str]:
    for comparison in comparisons:
        for cells in comparison.rows():
            yield "| " + " | ".join(cells) + " |"


def report(lines: list[str], seconds: float, load: float) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    memory = psutil.virtual_memory().total / 2**30
    machine = (
        f"{processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads, {memory:.0f} GiB of memory, "
        f"{platform.system()}, Python {platform.python_version()}; load at the start {load:.2f}"
    )
    said = f"{date.today()}: {machine}. {versions}. All of it took {seconds / 60:.1f} minutes."
    return "\n".join([ABOUT, said, "", HEAD, *lines]) + "\n"


def processor() -> str:
    """Its name, where the system tells it."""
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main(sys.argv[1:])
