"""The command line, `gptlab` or `python -m gptlab`: parses words and calls `gptlab.commands`.

Exit codes: 0 done, 1 it could not be done (one line on stderr says why), 2 the words make no command, 130 interrupted.
"""

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from gptlab.commands import doctor, export, generate, lab, tokenize, train
from gptlab.commands._stopping import INTERRUPTED

COMMANDS = {
    "lab": lab,
    "generate": generate,
    "train": train,
    "tokenize": tokenize,
    "export": export,
    "doctor": doctor,
}


class _Parser(ArgumentParser):
    """Says in one line what is wrong with the words."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console that lacks a character shows another
    parser = _parser()
    args, others = parser.parse_known_args(words)
    if others and not args.takes_others:
        parser.error(f"{args.command} does not know {' '.join(others)}")
    args.others = others
    try:
        return args.run(args) or 0
    except KeyboardInterrupt:
        return _fail(args.command, "interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError, ArithmeticError) as error:
        return _fail(args.command, str(error) or repr(error), 1)


def _parser() -> ArgumentParser:
    first = "".join("\n".join(command.EXAMPLES.splitlines()[:2]) for command in COMMANDS.values())
    parser = _Parser(
        "gptlab",
        description="How a GPT works: lessons, and small models to make and to try.",
        epilog=_examples(first),
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.set_defaults(takes_others=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        about = command.__doc__.splitlines()[0]
        shape = {"epilog": _examples(command.EXAMPLES), "formatter_class": RawDescriptionHelpFormatter}
        one = commands.add_parser(name, help=about, description=command.__doc__, allow_abbrev=False, **shape)
        command.options(one)
        one.set_defaults(run=command.run)
    return parser


def _examples(lines: str) -> str:
    return f"examples:{lines.replace(chr(10), chr(10) + '  ').rstrip()}"


def _fail(command: str, reason: str, code: int) -> int:
    rank = int(os.environ.get("RANK", 0))  # torchrun's word
    process = f" (process {rank})" if rank else ""
    print(f"gptlab {command}{process}: {' '.join(reason.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
