"""Train the model that ships in the package, from a seed: `make model`.

Writes the model with its tokenizer and `curve.json`, the record of its training; and, in folders beside it, the model
as it was before the first step and on the way (`--snapshots`). Training has two legs: small batches find what there is
to learn, batches four times as large then wear off what is left of chance. It may be broken off at any moment; the same
command goes on where it stopped, from checkpoints in the work folder. The defaults make the model that ships.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

import gptlab
from gptlab.corpus import StoryCorpus
from gptlab.loss import mean_loss
from gptlab.model import sinusoidal_positions
from gptlab.training import Step
from gptlab.world import ENGLISH_WORLD

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gptlab"
LOG_EVERY = 50  # steps a row of the curve


class Leg(NamedTuple):
    """So many steps in which the learning rate rises to `peak` over `warmup` steps and falls along a cosine."""

    steps: int
    tokens_per_batch: int
    peak: float
    final: float
    warmup: int


LEGS = (
    Leg(12_000, 2_048, peak=2e-3, final=5e-5, warmup=100),
    Leg(2_000, 8_192, peak=1e-3, final=1e-5, warmup=50),
)


def first_weights(config: gptlab.GPTConfig) -> gptlab.GPT:
    """A model whose heads can see where a token stands from the first step on.

    GPT-2's deviation of 0.02 is made for widths of 768 and more. In a model of 128 all scores are then nearly 0, and
    positions soon drown in token embeddings that grow for the output's sake: after 28 million tokens no head had
    learned to look at the token before, and surnames were guessed. So tokens, queries, keys and values start larger,
    and the learned positions start as sines and cosines.
    """
    model = gptlab.GPT(config)
    with torch.no_grad():
        model.token_embedding.weight.mul_(8)
        model.position_embedding.copy_(0.3 * sinusoidal_positions(config.context_length, config.d_model))
        for block in model.blocks:
            block.attention.qkv.weight.mul_(3)
    return model


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    size = parser.add_argument_group("size of the model")
    size.add_argument("--layers", type=int, default=4)
    size.add_argument("--heads", type=int, default=4)
    size.add_argument("--width", type=int, default=128, help="d_model")
    size.add_argument("--context", type=int, default=168, help="tokens; must hold the longest story")
    run = parser.add_argument_group("training")
    run.add_argument("--share", type=float, default=1.0, help="of the steps of each leg, for a shorter try")
    run.add_argument("--weight-decay", type=float, default=0.01)
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--precision", choices=("float32", "bfloat16", "auto"), default="bfloat16")
    run.add_argument("--validate-every", type=int, default=250)
    run.add_argument("--held-out", type=int, default=300, help="stories to validate on")
    run.add_argument("--threads", type=int, default=torch.get_num_threads())
    run.add_argument("--judged-on", type=int, default=2000, help="stories, not seen before, for the result")
    files = parser.add_argument_group("files")
    files.add_argument("--work", type=Path, default=CACHE / "small-world", help="folder of the checkpoint")
    files.add_argument("--output", type=Path, default=ROOT / "gptlab" / "data" / "small-world")
    files.add_argument("--snapshots", type=int, nargs="*", default=[0, 500], help="steps of leg 1 to keep a model of")
    files.add_argument("--anew", action="store_true", help="begin at step 0 even if there is a checkpoint")
    return parser


def train(args: argparse.Namespace, model: gptlab.GPT, tok: gptlab.Tokenizer) -> list[dict]:
    """Train through all legs, from where the last call was broken off; gives the rows of the curve."""
    curve = Curve(args.work / "curve.jsonl")
    if 0 in args.snapshots:
        save(snapshot(args, 0), model, tok)
    for number, leg in enumerate(LEGS, start=1):
        train_leg(args, model, tok, number, leg, curve)
    return curve.rows


def train_leg(
    args: argparse.Namespace, model: gptlab.GPT, tok: gptlab.Tokenizer, number: int, leg: Leg, curve: "Curve"
) -> None:
    """Train through one leg, from its checkpoint if there is one."""
    steps = round(leg.steps * args.share)
    seed = args.seed + number - 1  # each leg has stories of its own
    data = StoryCorpus(
        ENGLISH_WORLD, tok, context_length=args.context, tokens_per_batch=leg.tokens_per_batch,
        held_out_stories=args.held_out, seed=seed,
    )  # fmt: skip
    run = gptlab.train(
        model, data, steps,
        learning_rate=leg.peak, final_learning_rate=leg.final, warmup=round(leg.warmup * args.share),
        weight_decay=args.weight_decay, seed=seed, precision=args.precision, validate_every=args.validate_every,
        checkpoint=args.work / f"training-{number}.safetensors", checkpoint_every=args.validate_every,
        resume=not args.anew,
    )  # fmt: skip
    curve.begin(sum(round(before.steps * args.share) for before in LEGS[: number - 1]))
    began, first = time.time(), None
    for step in run:
        first = first or step.number
        if curve.add(step, last=step.number == steps):
            minutes = (steps - step.number) * (time.time() - began) / (step.number - first + 1) / 60
            print(f"leg {number}, {curve.describe()}, {minutes:.1f} minutes left in it", flush=True)
        if number == 1 and step.number in args.snapshots:
            save(snapshot(args, step.number), model, tok)


def snapshot(args: argparse.Namespace, step: int) -> Path:
    """Where the model as it was after so many steps is kept: beside the finished one."""
    return args.output.with_name(f"{args.output.name}@{step}")


def save(folder: Path, model: gptlab.GPT, tok: gptlab.Tokenizer) -> None:
    gptlab.save(folder, model, tok, dtype=torch.float16)


class Curve:
    """The record of a training: a row every LOG_EVERY steps and at each validation, kept in a file against breaks."""

    def __init__(self, path: Path):
        self.path = path
        self.rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self._losses: list[float] = []
        self._clock = time.time()

    def begin(self, before: int) -> None:
        """A leg begins, after so many steps of those before."""
        self._before = before
        self._tokens = max((row["tokens"] for row in self.rows if row["step"] <= before), default=0) if before else 0

    def add(self, step: Step, last: bool) -> bool:
        """Take in a step, perhaps the last of its leg; says whether it made a row."""
        number = self._before + step.number
        if self.rows and self.rows[-1]["step"] >= number:  # rows of steps after the checkpoint, now taken again
            self.rows = [row for row in self.rows if row["step"] < number]
            self.path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        self._losses.append(step.loss)
        if step.val_loss is None and number % LOG_EVERY and not last:
            return False
        spent, self._clock = time.time() - self._clock, time.time()
        row = {
            "step": number,
            "loss": round(statistics.fmean(self._losses), 5),
            "val_loss": None if step.val_loss is None else round(step.val_loss, 5),
            "floor": round(step.floor, 5),
            "learning_rate": float(f"{step.learning_rate:.3g}"),
            "tokens": self._tokens + step.tokens_seen,
            "seconds": round(spent + (self.rows[-1]["seconds"] if self.rows else 0), 1),
        }
        self._losses.clear()
        self.rows.append(row)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        return True

    def describe(self) -> str:
        """The last row in words."""
        row = self.rows[-1]
        held_out = "" if row["val_loss"] is None else f", held out {row['val_loss']:.4f}"
        return (
            f"step {row['step']:,}: loss {row['loss']:.4f}{held_out}, floor {row['floor']:.4f}; "
            f"{row['tokens'] / 1e6:.1f} million tokens, {row['seconds'] / 60:.1f} minutes"
        )


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    tok = gptlab.Tokenizer.small_world()
    torch.manual_seed(args.seed)
    model = first_weights(gptlab.GPTConfig(tok.vocab_size, args.context, args.layers, args.heads, args.width))
    rows = train(args, model, tok)

    save(args.output, model, tok)
    shipped, _ = gptlab.load(args.output)
    last = StoryCorpus(
        ENGLISH_WORLD,
        tok,
        context_length=args.context,
        held_out_stories=args.judged_on,
        seed=args.seed + len(LEGS),
    ).held_out
    loss = mean_loss(shipped.eval(), last.batches)
    result = {
        "parameters": model.config.parameter_count()["total"],
        "stories": args.judged_on,
        "loss": round(loss, 5),
        "floor": round(last.floor, 5),
        "gap": round(loss - last.floor, 5),
    }
    settings = {name: value for name, value in vars(args).items() if isinstance(value, (int, float, str))}
    record = {"settings": settings, "legs": [leg._asdict() for leg in LEGS], "result": result, "rows": rows}
    (args.output / "curve.json").write_text(json.dumps(record) + "\n")
    print(f"{args.output}: held out {loss:.4f}, floor {last.floor:.4f}, gap {loss - last.floor:.4f} nats per token")


if __name__ == "__main__":
    main()
