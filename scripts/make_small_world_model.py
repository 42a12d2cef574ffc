"""Train the model that ships in the package, from a seed: `make model`.

The training has four stages. In the usual stories what lies far back is asked for only now and then, and where a thing
lies is still unlearned when most else is known. So two stages of practice come in between, with stories of the same
world that ask it every time and that name two people again and again; afterwards the usual ones until the learning rate
has run out.

Writes the model with its tokenizer and `curve.json`, the record of its training. Training may be broken off at any
moment; the same command goes on where it stopped, from checkpoints in the work folder. The defaults make the model that
ships.
"""

import argparse
import json
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import torch

import gptlab
from gptlab.corpus import StoryCorpus
from gptlab.loss import mean_loss
from gptlab.training import Step
from gptlab.world import ENGLISH_WORLD, Plan, World

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gptlab"
LOG_EVERY = 50  # steps a row of the curve


class Stage(NamedTuple):
    """A stretch of the training on stories of one plan. The learning rate rises to `peak` over `warmup` steps and falls
    along a cosine that would reach `final` after `cosine` steps; the stage may end before."""

    name: str
    plan: Plan
    steps: int
    peak: float
    final: float
    cosine: int
    warmup: int


STAGES = (
    Stage("stories", Plan(), 6500, peak=3e-3, final=1e-4, cosine=10_000, warmup=200),
    Stage(
        "practice: places",
        Plan(
            mood=0.0, friend=0.7, group=0.0, animals=0.1, homonym=0.1, count=0.0, move=0.9, gift=0.1, where=1.0,
            who=1.0, speech=0.3, colour=0.1, how_many=0.0, closing=0.0,
        ),
        1800, peak=2e-3, final=1.5e-3, cosine=1800, warmup=50,
    ),
    Stage(
        "practice: names",
        Plan(
            mood=0.0, friend=1.0, group=0.0, animals=0.1, homonym=0.1, count=0.0, move=0.3, gift=0.7, where=1.0,
            who=1.0, speech=1.0, colour=0.1, how_many=0.0, closing=0.0,
        ),
        1300, peak=2e-3, final=1.5e-3, cosine=1300, warmup=50,
    ),
    Stage("stories again", Plan(), 4300, peak=2e-3, final=5e-5, cosine=4300, warmup=50),
)  # fmt: skip


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    size = parser.add_argument_group("size of the model")
    size.add_argument("--layers", type=int, default=4)
    size.add_argument("--heads", type=int, default=4)
    size.add_argument("--width", type=int, default=128, help="d_model")
    size.add_argument("--context", type=int, default=168, help="tokens; must hold the longest story")
    run = parser.add_argument_group("training")
    run.add_argument("--share", type=float, default=1.0, help="of the steps of each stage, for a shorter try")
    run.add_argument("--tokens-per-batch", type=int, default=2048)
    run.add_argument("--weight-decay", type=float, default=0.1)
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--precision", choices=("float32", "bfloat16", "auto"), default="bfloat16")
    run.add_argument("--validate-every", type=int, default=250)
    run.add_argument("--held-out", type=int, default=300, help="stories to validate on")
    run.add_argument("--threads", type=int, default=torch.get_num_threads())
    run.add_argument("--judged-on", type=int, default=2000, help="stories, not seen before, for the result")
    files = parser.add_argument_group("files")
    files.add_argument("--work", type=Path, default=CACHE / "small-world", help="folder of the checkpoint")
    files.add_argument("--output", type=Path, default=ROOT / "gptlab" / "data" / "small-world")
    files.add_argument(
        "--snapshots", type=int, nargs="*", default=[], help="steps of the first stage to keep a model of"
    )
    files.add_argument("--anew", action="store_true", help="begin at step 0 even if there is a checkpoint")
    return parser


def train(args: argparse.Namespace, model: gptlab.GPT, tok: gptlab.Tokenizer) -> list[dict]:
    """Train through all stages, from where the last call was broken off; gives the rows of the curve."""
    curve = Curve(args.work / "curve.jsonl")
    if args.anew:
        for path in args.work.glob("stage-*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if 0 in args.snapshots:
        gptlab.save(args.work / "step-0", model, tok, dtype=torch.float16)
    before = 0
    for number, stage in enumerate(STAGES):
        steps, finished = round(stage.steps * args.share), args.work / f"stage-{number}"
        if finished.exists():
            model.load_state_dict(gptlab.load(finished)[0].state_dict())
        else:
            curve.begin(stage.name, before)
            train_stage(args, model, tok, number, steps, curve)
            gptlab.save(finished, model, tok)
        before += steps
    return curve.rows


def train_stage(
    args: argparse.Namespace, model: gptlab.GPT, tok: gptlab.Tokenizer, number: int, steps: int, curve: "Curve"
) -> None:
    """Train through one stage, from its checkpoint if there is one."""
    stage = STAGES[number]
    data = StoryCorpus(
        World(plan=stage.plan), tok, context_length=args.context, tokens_per_batch=args.tokens_per_batch,
        held_out_stories=args.held_out, seed=args.seed + number,
    )  # fmt: skip
    run = gptlab.train(
        model, data, round(stage.cosine * args.share),
        learning_rate=stage.peak, final_learning_rate=stage.final, warmup=round(stage.warmup * args.share),
        weight_decay=args.weight_decay, seed=args.seed + number, precision=args.precision,
        validate_every=args.validate_every, checkpoint=args.work / f"training-{number}.safetensors",
        checkpoint_every=args.validate_every, resume=not args.anew,
    )  # fmt: skip
    began, first = time.time(), None
    for step in run:
        first = first or step.number
        if curve.add(step, last=step.number == steps):
            minutes = (steps - step.number) * (time.time() - began) / (step.number - first + 1) / 60
            print(f"{stage.name}, {curve.describe()}, {minutes:.1f} minutes left in this stage", flush=True)
        if number == 0 and step.number in args.snapshots:
            gptlab.save(args.work / f"step-{step.number}", model, tok, dtype=torch.float16)
        if step.number == steps:
            break


class Curve:
    """The record of a training: a row every LOG_EVERY steps and at each validation, kept in a file against breaks."""

    def __init__(self, path: Path):
        self.path = path
        self.rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self._losses: list[float] = []
        self._clock = time.time()

    def begin(self, stage: str, before: int) -> None:
        """A stage begins, after so many steps of other stages."""
        self._stage, self._before = stage, before
        self._tokens = max((row["tokens"] for row in self.rows if row["step"] <= before), default=0) if before else 0

    def add(self, step: Step, last: bool) -> bool:
        """Take in a step, perhaps the last of its stage; says whether it made a row."""
        number = self._before + step.number
        if self.rows and self.rows[-1]["step"] >= number:  # rows of steps after the checkpoint, now taken again
            self.rows = [row for row in self.rows if row["step"] < number]
            self.path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        self._losses.append(step.loss)
        if step.val_loss is None and step.number % LOG_EVERY and not last:
            return False
        spent, self._clock = time.time() - self._clock, time.time()
        row = {
            "step": number,
            "stage": self._stage,
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
    model = gptlab.GPT(gptlab.GPTConfig(tok.vocab_size, args.context, args.layers, args.heads, args.width))
    rows = train(args, model, tok)

    gptlab.save(args.output, model, tok, dtype=torch.float16)
    shipped, _ = gptlab.load(args.output)
    last = StoryCorpus(
        ENGLISH_WORLD,
        tok,
        context_length=args.context,
        held_out_stories=args.judged_on,
        seed=args.seed + len(STAGES),
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
    record = {"settings": settings, "stages": [stage._asdict() | {"plan": asdict(stage.plan)} for stage in STAGES]}
    (args.output / "curve.json").write_text(json.dumps(record | {"result": result, "rows": rows}) + "\n")
    print(f"{args.output}: held out {loss:.4f}, floor {last.floor:.4f}, gap {loss - last.floor:.4f} nats per token")


if __name__ == "__main__":
    main()
