"""Check that JupyterLab, the kernel's widgets and plotly fit together, and memory and threads; say what mends it.

JupyterLab may run in one environment and the kernel in another: both are asked. Exit code 1 when something is wrong.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from gptlab.commands._checks import (
    Finding,
    check_kernel,
    check_memory,
    check_server,
    check_threads,
    free_memory,
    granted_cores,
)
from gptlab.commands._environments import asked, kernel_python, servers

EXAMPLES = """
gptlab doctor
gptlab doctor --server /opt/jupyter/bin/python     # the interpreter that runs JupyterLab, if it is none of the usual
gptlab doctor --kernel gptlab                      # the kernel that a notebook of yours takes, if not python3
"""


def options(parser: ArgumentParser) -> None:
    """Which words the command takes."""
    parser.add_argument("--server", metavar="PYTHON", help="default: this one, and that of the jupyter-lab on the path")
    parser.add_argument("--kernel", default="python3", metavar="NAME", help="as `jupyter kernelspec list` has it")


def run(args: Namespace) -> int:
    """Print each finding with what mends it; 1 if something is to be mended."""
    n_wrong = 0
    for place, finding in _findings(args):
        print(f"{'ok   ' if finding.mend is None else 'WRONG'}  {place}: {finding.what}", flush=True)
        if finding.mend is not None:
            print(f"       to mend it: {finding.mend}", flush=True)
            n_wrong += 1
    print("all well" if n_wrong == 0 else f"{n_wrong} to mend")
    return min(n_wrong, 1)


def _findings(args: Namespace) -> Iterator[tuple[str, Finding]]:
    import torch

    interpreters = [args.server] if args.server else servers()
    if not interpreters:
        yield "server", Finding("no JupyterLab was found", f"{sys.executable} -m pip install 'jupyterlab>=4.2,<5'")
    for python in interpreters:
        for finding in _server_and_kernel(python, args.kernel):
            yield python, finding
    yield "machine", check_memory(free_memory())
    yield "machine", check_threads(torch.get_num_threads(), granted_cores())


def _server_and_kernel(python: str, name: str) -> Iterator[Finding]:
    try:
        server = asked(python)
    except OSError as error:
        yield Finding(str(error), "give --server the Python that runs JupyterLab, or install that one anew")
        return
    make_kernel = f"{sys.executable} -m ipykernel install --user --name {name}"
    if name not in server.kernels:
        yield Finding(f"has no kernel {name}, only {', '.join(server.kernels) or 'none'}", make_kernel)
        return
    try:
        kernel = asked(kernel_python(server, name))
    except OSError as error:
        folder = server.kernels[name]["folder"]
        yield Finding(f"the kernel {name} ({folder}): {error}", make_kernel)
        return
    yield Finding(f"starts the kernel {name} in {kernel.python}")
    if "gptlab" not in kernel.versions:
        yield Finding(f"the kernel {name} has no gptlab", f"{make_kernel}-gptlab, then choose that kernel in the page")
        return
    yield from check_kernel(kernel)
    yield from check_server(server, kernel)
