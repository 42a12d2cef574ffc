"""Show the tokens of a text, one a line: id and piece."""

import sys
from argparse import ArgumentParser, Namespace

from gptlab.commands._tokenizers import WHICH, tokenizer

EXAMPLES = """
gptlab tokenize "How many tokens?"
gptlab tokenize "There was once" --tokenizer small-world
gptlab tokenize - < story.txt
"""


def options(parser: ArgumentParser) -> None:
    """Which words the command takes."""
    parser.add_argument("text", help="the text, or - to read it from the standard input")
    parser.add_argument("--tokenizer", default="gpt2", metavar="NAME", help=f"{WHICH} (default: gpt2)")


def run(args: Namespace) -> None:
    """Print ids and pieces."""
    tok = tokenizer(args.tokenizer)
    text = sys.stdin.buffer.read().decode() if args.text == "-" else args.text
    for piece in tok.pieces(text):
        print(f"{piece.id:>6}  {piece.shown}")
