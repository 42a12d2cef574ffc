"""Other Python environments: where JupyterLab runs, where the kernels that it starts run, and what they have."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from gptlab.commands import _probe

SECONDS = 60


class Environment(NamedTuple):
    """What `_probe.facts` says of an interpreter."""

    python: str
    versions: dict[str, str]
    extensions: dict[str, str]
    kernels: dict[str, dict]


def asked(python: str) -> Environment:
    """Let an interpreter say what it has. OSError, in one sentence, if it does not answer."""
    if os.path.realpath(python) == os.path.realpath(sys.executable) and Path(python).parent == Path(sys.prefix, "bin"):
        return Environment(**_probe.facts())
    command = [os.path.abspath(shutil.which(python) or python), "-c", inspect.getsource(_probe)]
    try:
        with tempfile.TemporaryDirectory() as nowhere:  # what lies in the folder of a call counts as installed
            said = subprocess.run(command, cwd=nowhere, capture_output=True, text=True, timeout=SECONDS, check=True)
        return Environment(**json.loads(said.stdout))
    except subprocess.CalledProcessError as error:
        raise OSError(f"{python} does not answer: {(error.stderr or '').strip().splitlines()[-1:]}") from error
    except (OSError, subprocess.TimeoutExpired, ValueError, TypeError) as error:
        raise OSError(f"{python} does not answer: {error}") from error


def servers() -> list[str]:
    """The interpreters that may run JupyterLab here: this one, and that of the `jupyter-lab` on the path."""
    found = [sys.executable] if asked(sys.executable).versions.get("jupyterlab") else []
    command = shutil.which("jupyter-lab")
    if command is not None and (python := _interpreter(Path(command))) is not None:
        found.append(python)
    unique = {str(Path(python).parent.resolve()): python for python in reversed(found)}
    return list(reversed(unique.values()))


def kernel_python(server: Environment, kernel: str) -> str:
    """The interpreter of a kernel as that server would start it; "python" is the server's own."""
    python = server.kernels[kernel]["argv"][0]
    if re.fullmatch(r"python(\d(\.\d+)?)?", python):
        return server.python
    return shutil.which(python) or python


def _interpreter(script: Path) -> str | None:
    """Who runs a script that pip has installed: named behind #!, or where that is too long in the line below."""
    match = re.search(rb"(/[^\n\0\"']*python[\d.]*)", script.read_bytes()[:1000])
    if match is not None:
        return match[1].decode()
    beside = script.with_name("python.exe")  # on Windows the script is a program
    return str(beside) if beside.exists() else shutil.which("python", path=str(script.parent))
