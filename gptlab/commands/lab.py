"""Copy the lessons into a folder of yours and open them in JupyterLab; what you have changed there stays.

Other options, such as --ip=0.0.0.0, are handed on to `jupyter lab`; write their values behind a =.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gptlab._refuse import refuse
from gptlab.commands._jupyter import start
from gptlab.commands._lessons import FIRST, copy_lessons, shipped_lessons
from gptlab.commands._words import whole

EXAMPLES = """
gptlab lab                             # lessons in gptlab-lessons, JupyterLab on the first
gptlab lab ~/lessons --lesson 04       # on the lesson whose name begins so
gptlab lab --no-browser --port 8899
gptlab lab --copy-only                 # start nothing
"""


def options(parser: ArgumentParser) -> None:
    """Which words the command takes."""
    parser.set_defaults(takes_others=True)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("gptlab-lessons"), metavar="FOLDER")
    parser.add_argument("--lesson", default=FIRST, help="which one to open: its name or how that begins")
    parser.add_argument("--port", type=whole(0), help="default: 8888, or the next that is free")
    parser.add_argument("--no-browser", action="store_true", help="serve, and print the address")
    parser.add_argument("--copy-only", action="store_true", help="copy the lessons and start nothing")


def run(args: Namespace) -> None:
    """Copy, say what was done, and serve."""
    source, folder = shipped_lessons(), args.folder.expanduser().resolve()
    if folder != source.resolve():
        copied = copy_lessons(source, folder)
        print(f"{folder}: {len(copied.new)} lessons copied", flush=True)
        if copied.kept:
            print(f"kept as you have changed them: {', '.join(copied.kept)}", flush=True)
    lesson = next((file.name for file in sorted(folder.glob("*.ipynb")) if file.name.startswith(args.lesson)), None)
    if lesson is None:
        raise refuse("--lesson", args.lesson, "how the name of a lesson begins, such as 04")
    if args.copy_only:
        return
    port = [] if args.port is None else [f"--port={args.port}"]
    start(folder, lesson, [*port, *["--no-browser"] * args.no_browser, *args.others])
