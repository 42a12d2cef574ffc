"""Train models of several sizes on the same stories, and write down how far each gets: `training_sizes.json`.

    python scripts/make_training_sizes.py

The record is what lesson 07 draws of sizes against loss, for which a cell has not the time: some three minutes on one
core. Each model sees the same batches; only its size differs, and its learning rate, which falls with the root of the
width, since wider models bear less.
"""

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

import gptlab
from gptlab.corpus import StoryCorpus
from gptlab.world import ENGLISH_WORLD

ROOT = Path(__file__).resolve().parent.parent
CONTEXT = 168  # holds the longest story


class Size(NamedTuple):
    layers: int
    heads: int
    width: int

    @property
    def learning_rate(self) -> float:
        return 0.02 * math.sqrt(16 / self.width)


SIZES = (Size(1, 1, 8), Size(1, 1, 16), Size(2, 2, 32), Size(2, 4, 64), Size(4, 4, 128))


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tokens-per-batch", type=int, default=1024)
    parser.add_argument("--validate-every", type=int, default=50)
    parser.add_argument("--held-out", type=int, default=60, help="stories to validate on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "gptlab" / "data" / "training_sizes.json")
    return parser


def train(size: Size, data: StoryCorpus, args: argparse.Namespace) -> dict:
    """Train a model of this size; gives its row of the record."""
    torch.manual_seed(args.seed)
    model = gptlab.GPT(gptlab.GPTConfig(data.tok.vocab_size, CONTEXT, *size))
    began, validated = time.process_time(), []
    run = gptlab.train(
        model, data, args.steps, learning_rate=size.learning_rate, seed=args.seed, validate_every=args.validate_every
    )
    for step in run:
        if step.val_loss is not None:
            validated.append({"step": step.number, "tokens": step.tokens_seen, "val_loss": round(step.val_loss, 4)})
    return size._asdict() | {
        "parameters": model.config.parameter_count()["total"],
        "learning_rate": round(size.learning_rate, 5),
        "seconds": round(time.process_time() - began, 1),
        "validated": validated,
    }


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    data = StoryCorpus(
        ENGLISH_WORLD, gptlab.Tokenizer.small_world(), context_length=CONTEXT,
        tokens_per_batch=args.tokens_per_batch, held_out_stories=args.held_out, seed=args.seed,
    )  # fmt: skip
    rows = []
    for size in SIZES:
        rows.append(train(size, data, args))
        print(f"{size}: loss {rows[-1]['validated'][-1]['val_loss']} after {rows[-1]['seconds']} s", flush=True)
    settings = {name: value for name, value in vars(args).items() if isinstance(value, int)}
    record = {"settings": settings, "floor": round(data.held_out.floor, 4), "sizes": rows}
    args.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
