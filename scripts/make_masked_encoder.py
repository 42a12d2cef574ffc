"""Train the encoder that ships in the package, from a seed: it finds hidden words in stories of the small world.

Writes the model with its tokenizer, in 16 bits, and `curve.json`, the record of its training. It may be broken off at
any moment; the same command goes on where it stopped. The defaults make the model that ships.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import torch

import gptlab
from gptlab.relatives.masked import MaskedTexts, gap_token
from gptlab.world import sample
from make_small_world_model import first_weights

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gptlab"


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--width", type=int, default=64, help="d_model")
    parser.add_argument("--context", type=int, default=48, help="tokens; no story is read further")
    parser.add_argument("--steps", type=int, default=4_000)
    parser.add_argument("--stories", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.25, help="of the tokens that are hidden")
    parser.add_argument("--tokens-per-batch", type=int, default=1_024)
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument("--validate-every", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--work", type=Path, default=CACHE / "small-world-masked", help="folder of the checkpoint")
    parser.add_argument("--output", type=Path, default=ROOT / "gptlab" / "data" / "small-world-masked")
    parser.add_argument("--anew", action="store_true", help="begin at step 0 even if there is a checkpoint")
    return parser


def train(args: argparse.Namespace, model: gptlab.GPT, data: MaskedTexts) -> list[dict]:
    """Train, from where the last call was broken off; gives a row of the curve for each validation."""
    record = args.work / "curve.jsonl"
    rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    run = gptlab.train(
        model, data, args.steps,
        learning_rate=args.learning_rate, final_learning_rate=args.learning_rate / 20, warmup=20, weight_decay=0.01,
        seed=args.seed, validate_every=args.validate_every, checkpoint=args.work / "training.safetensors",
        checkpoint_every=args.validate_every, resume=not args.anew,
    )  # fmt: skip
    losses, clock = [], time.perf_counter()
    for step in run:
        losses.append(step.loss)
        if step.val_loss is None:
            continue
        rows = [row for row in rows if row["step"] < step.number]
        spent, clock = time.perf_counter() - clock, time.perf_counter()
        rows.append({
            "step": step.number,
            "loss": round(sum(losses) / len(losses), 5),
            "val_loss": round(step.val_loss, 5),
            "floor": None,
            "learning_rate": float(f"{step.learning_rate:.3g}"),
            "tokens": step.tokens_seen,
            "seconds": round(spent + (rows[-1]["seconds"] if rows else 0), 1),
        })  # fmt: skip
        record.write_text("".join(json.dumps(row) + "\n" for row in rows))
        losses = []
        print(f"step {step.number:,}: loss {rows[-1]['loss']:.4f}, held out {step.val_loss:.4f}", flush=True)
    return rows


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    tok = gptlab.Tokenizer.small_world()
    torch.manual_seed(args.seed)
    config = gptlab.GPTConfig(tok.vocab_size, args.context, args.layers, args.heads, args.width, causal=False)
    model = first_weights(config)
    texts = [[tok.end_of_text, *tok.encode(sample(seed)), tok.end_of_text] for seed in range(args.stories)]
    data = MaskedTexts(
        texts, mask=gap_token(tok), vocab_size=tok.vocab_size, share=args.share, longest=args.context,
        tokens_per_batch=args.tokens_per_batch, seed=args.seed,
    )  # fmt: skip
    rows = train(args, model, data)
    gptlab.save(args.output, model, tok, dtype=torch.float16)
    settings = {name: value for name, value in vars(args).items() if isinstance(value, (int, float))}
    del settings["anew"]
    result = {"parameters": config.parameter_count()["total"], "loss": rows[-1]["val_loss"]}
    (args.output / "curve.json").write_text(json.dumps({"settings": settings, "result": result, "rows": rows}) + "\n")
    print(f"{args.output}: held out {rows[-1]['val_loss']:.4f} nats per hidden word")


if __name__ == "__main__":
    main()
