"""Train a model on any text, and go on where it stopped when the same command is given again."""

import os
import shlex
import signal
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from gptlab._refuse import refuse
from gptlab.commands._stopping import INTERRUPTED, stop_on_request
from gptlab.commands._texts import read_texts
from gptlab.commands._tokenizers import WHICH, tokenizer
from gptlab.commands._words import number, whole

if TYPE_CHECKING:  # torch costs the other commands their quick start
    from gptlab.corpus import TextCorpus
    from gptlab.distributed import Team
    from gptlab.model import GPT
    from gptlab.tokenizer import Tokenizer

EXAMPLES = """
gptlab train --data story.txt                                       # leaves a model in gptlab-model
gptlab train --data texts/ more.txt --size medium --steps 5000 --output my-model
gptlab train --data code/ --tokenizer gpt2 --layers 3 --width 96
torchrun --nproc-per-node 2 -m gptlab train --data texts/           # two processes, twice the batch
gptlab generate "Once" --model gptlab-model                         # try it
"""

STATE, LOSSES = "training.state", "losses.csv"
SIZES = {
    "tiny": {"layers": 2, "heads": 2, "width": 64, "context": 64},
    "small": {"layers": 4, "heads": 4, "width": 128, "context": 128},
    "medium": {"layers": 6, "heads": 6, "width": 384, "context": 256},
    "gpt2": {"layers": 12, "heads": 12, "width": 768, "context": 1024},
}


def options(parser: ArgumentParser) -> None:
    """Which words the command takes."""
    texts = parser.add_argument_group("text")
    texts.add_argument("--data", nargs="+", required=True, metavar="PATH", help="text files, or folders of them")
    which = texts.add_mutually_exclusive_group()
    which.add_argument("--vocab-size", type=whole(257), default=1024, metavar="V", help="tokens to learn from the text")
    which.add_argument("--tokenizer", metavar="NAME", help=f"or one that is there: {WHICH}")
    texts.add_argument("--held-out", type=number(0, 1), default=0.1, metavar="SHARE", help="not learned, validated on")
    model = parser.add_argument_group("model")
    model.add_argument("--size", choices=SIZES, default="small", help="the four numbers below, or what they leave open")
    for name in SIZES["small"]:
        sizes = ", ".join(f"{size} {numbers[name]}" for size, numbers in SIZES.items())
        model.add_argument(f"--{name}", type=whole(1), metavar="N", help=sizes)
    model.add_argument("--dropout", type=number(0, 1), default=0.0, metavar="P")
    run = parser.add_argument_group("run")
    run.add_argument("--output", type=Path, default=Path("gptlab-model"), metavar="FOLDER", help="of the model")
    run.add_argument("--steps", type=whole(1), default=1000, metavar="N")
    run.add_argument("--batch-size", type=whole(1), default=16, metavar="B", help="windows of text a step and process")
    run.add_argument("--learning-rate", type=number(0), default=1e-3, metavar="RATE")
    run.add_argument("--validate-every", type=whole(1), default=100, metavar="STEPS")
    run.add_argument("--checkpoint-every", type=whole(1), default=100, metavar="STEPS")
    run.add_argument("--seed", type=whole(0), default=0)
    run.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto", help="auto: the faster")
    run.add_argument("--device", choices=("cpu", "cuda"), help="default: the GPU, if there is one")


def run(args: Namespace) -> int | None:
    """Train to the end, or until somebody asks to stop."""
    import torch

    from gptlab.distributed import joined
    from gptlab.loading import save

    _refuse_other_output(args.output)
    device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    with joined(device) as team:
        tok, data = _data(args, n_processes=1 if team is None else team.size)
        model = _first_model(args, tok).to(device)
        leads = team is None or team.leads
        if leads:
            count = model.config.parameter_count()["total"]
            print(f"{count:,} parameters, {tok.vocab_size:,} tokens, {data.n_windows:,} windows to learn from")
        if not _train(args, model, data, team):
            return INTERRUPTED
        if leads:
            save(args.output, model.cpu(), tok)
            print(f"done; to try it: gptlab generate --model {shlex.quote(str(args.output))}")


def _refuse_other_output(folder: Path) -> None:
    """Ask before the hours of training what saving the model would refuse after them."""
    if folder.exists() and (not folder.is_dir() or any(entry.is_dir() for entry in folder.iterdir())):
        raise refuse("--output", str(folder), "a folder for the model alone: this is a file, or has folders in it")
    if (folder / "config.json").exists() and not (folder / STATE).exists():
        raise refuse("--output", str(folder), "another folder: the model in this one was not trained here")


def _data(args: Namespace, n_processes: int) -> "tuple[Tokenizer, TextCorpus]":
    """The tokenizer and the text cut by it: the same at each call, so that nothing of it has to be kept."""
    from gptlab.corpus import TextCorpus
    from gptlab.tokenizer import END_OF_TEXT, Tokenizer

    texts, left_out = read_texts(args.data)
    if left_out:
        print(f"left out, for they are no UTF-8: {', '.join(map(str, left_out))}", file=sys.stderr)
    if args.tokenizer is None:
        tok = Tokenizer.train("\n".join(texts).replace(END_OF_TEXT, "\n"), args.vocab_size)
    else:
        tok = tokenizer(args.tokenizer)
    # Each text stands between two marks, as the prompt that is to be written on will stand behind one.
    marked = END_OF_TEXT.join(["", *texts, ""])
    data = TextCorpus(
        marked,
        SimpleNamespace(encode=partial(tok.encode, special=True)),
        context_length=_sizes(args)["context"],
        batch_size=args.batch_size * n_processes,
        held_out_share=args.held_out,
        seed=args.seed,
    )
    return tok, data


def _first_model(args: Namespace, tok: "Tokenizer") -> "GPT":
    """The model before its first step, drawn from the seed."""
    import torch

    from gptlab.config import GPTConfig
    from gptlab.model import GPT

    sizes = _sizes(args)
    torch.manual_seed(args.seed)
    return GPT(
        GPTConfig(
            tok.vocab_size, sizes["context"], sizes["layers"], sizes["heads"], sizes["width"], dropout=args.dropout
        )
    )


def _sizes(args: Namespace) -> dict[str, int]:
    return {name: getattr(args, name) or number for name, number in SIZES[args.size].items()}


def _train(args: Namespace, model: "GPT", data: "TextCorpus", team: "Team | None") -> bool:
    """Take the steps that are left; gives whether the last one was reached. The leader alone speaks."""
    from gptlab import training
    from gptlab.commands._progress import Losses, Progress

    path, leads = args.output / STATE, team is None or team.leads
    try:
        steps = training.train(
            model, data, args.steps,
            learning_rate=args.learning_rate, seed=args.seed, precision=args.precision, team=team,
            validate_every=args.validate_every, checkpoint=path, checkpoint_every=args.checkpoint_every, resume=True,
        )  # fmt: skip
    except ValueError as reason:
        raise ValueError(f"{reason} (the path is --output)") from reason
    progress, number = Progress(args.steps), None
    again = f"to go on from there, the same command again:\n  {_command()}"
    with stop_on_request(silent=not leads) as stop, closing(Losses(args.output / LOSSES)) as losses:
        try:
            with closing(steps):
                for step in steps:
                    number = step.number
                    if leads:
                        losses.add(step)
                        progress.show(step)
                    asked = stop.asked is not None
                    if number < args.steps and (asked if team is None else team.anyone(asked)):
                        break
                else:
                    return True
        except ConnectionError as error:
            if stop.asked != signal.SIGINT:
                raise ConnectionError(f"{error}; {again}") from error
        if leads:
            print(f"\nstopped{'' if number is None else f' after step {number:,}'}; {again}", file=sys.stderr)
        return False


def _command() -> str:
    """The words that started this, as they can be typed again."""
    words = shlex.join(sys.argv[1:])
    return f"torchrun … -m gptlab {words}" if "TORCHELASTIC_RUN_ID" in os.environ else f"gptlab {words}"
