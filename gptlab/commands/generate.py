"""Write on from a prompt, token by token."""

import sys
from argparse import ArgumentParser, Namespace

from gptlab._refuse import refuse
from gptlab.commands._words import number, whole

EXAMPLES = """
gptlab generate "There was once"
gptlab generate "There was once" --temperature 0                 # the likeliest token each time
gptlab generate "There was once" --top-p 0.9 --seed 1            # the same text at each call
gptlab generate "To be" --model my-model --max-new-tokens 300    # what `gptlab train` has left
"""


def options(parser: ArgumentParser) -> None:
    """Which words the command takes."""
    parser.add_argument("prompt", nargs="?", default="", help="how the text begins (default: nothing)")
    parser.add_argument("--model", default="small-world", help="a name or a folder that gptlab.load opens")
    parser.add_argument("--max-new-tokens", type=whole(0), default=100, metavar="N")
    parser.add_argument("--temperature", type=number(0), default=1.0, metavar="T", help="0: always the likeliest")
    parser.add_argument("--top-k", type=whole(1), metavar="K", help="draw from the K likeliest tokens alone")
    parser.add_argument("--top-p", type=number(0), metavar="P", help="draw from the likeliest with P of the mass")
    parser.add_argument("--seed", type=whole(0), help="the same seed gives the same text (default: another each time)")


def run(args: Namespace) -> None:
    """Print the prompt, then each piece as it comes."""
    from gptlab.decoding import stream
    from gptlab.loading import load

    model, tok = load(args.model)
    if tok is None:
        raise refuse("--model", args.model, "a model with a tokenizer: this one was saved without")
    pieces = stream(
        model, tok, args.prompt, args.max_new_tokens, args.temperature, args.top_k, args.top_p, args.seed,
        on_slide=lambda sentence: print(f"\n{sentence}", file=sys.stderr),
    )  # fmt: skip
    print(args.prompt, end="", flush=True)
    for piece in pieces:
        print(piece, end="", flush=True)
    print()
