"""Train the translator that ships in the package, from a seed: English of the small world to its second language.

Writes the weights in 16 bits and `curve.json`, the record of the training. It may be broken off at any moment; the same
command goes on where it stopped, from a checkpoint in the work folder. The defaults make the model that ships.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from gptlab.config import GPTConfig
from gptlab.corpus import IGNORE
from gptlab.model import evaluation_mode, sinusoidal_positions
from gptlab.optimizer import AdamW, clip_by_norm, cosine_schedule
from gptlab.relatives.encoder_decoder import EncoderDecoder
from gptlab.relatives.translator import (
    PairBatch,
    SentencePairs,
    load_translator,
    pair_batch,
    save_translator,
    sentence_pairs,
    velumi_tokenizer,
)
from gptlab.tokenizer import Tokenizer
from gptlab.training_state import load_state, save_state
from gptlab.world import SentencePair

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gptlab"
JUDGED = range(1_000_000, 1_005_000)  # seeds of stories whose held-out sentences judge the result
VALIDATED = range(1_005_000, 1_006_000)  # and of those looked at on the way


def first_weights(context: int, width: int, heads: int, encoder_layers: int, decoder_layers: int) -> EncoderDecoder:
    """A model whose heads can see where a token stands, and which it is, from the first step on.

    As for the small world's own model (`make_small_world_model.first_weights`): at a width of 96, GPT-2's deviation of
    0.02 would leave all scores near 0.
    """
    shape = {"context_length": context, "n_heads": heads, "d_model": width}
    source = GPTConfig(Tokenizer.small_world().vocab_size, n_layers=encoder_layers, causal=False, **shape)
    model = EncoderDecoder(source, GPTConfig(velumi_tokenizer().vocab_size, n_layers=decoder_layers, **shape))
    with torch.no_grad():
        for half in (model.encoder, model.decoder):
            half.token_embedding.weight.mul_(8)
            half.position_embedding.copy_(0.3 * sinusoidal_positions(context, width))
            for block in half.blocks:
                block.attention.qkv.weight.mul_(3)
        for block in model.decoder.blocks:
            block.cross_attention.q.weight.mul_(3)
            block.cross_attention.kv.weight.mul_(3)
    return model


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    size = parser.add_argument_group("size of the model")
    size.add_argument("--encoder-layers", type=int, default=1)
    size.add_argument("--decoder-layers", type=int, default=1)
    size.add_argument("--heads", type=int, default=4)
    size.add_argument("--width", type=int, default=96, help="d_model")
    size.add_argument("--context", type=int, default=48, help="tokens; must hold the longest sentence and its end")
    run = parser.add_argument_group("training")
    run.add_argument("--steps", type=int, default=2_500)
    run.add_argument("--stories", type=int, default=8_000, help="to take sentences from")
    run.add_argument("--tokens-per-batch", type=int, default=1_024, help="of the source")
    run.add_argument("--learning-rate", type=float, default=2e-3)
    run.add_argument("--weight-decay", type=float, default=0.01)
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--threads", type=int, default=1)
    run.add_argument("--log-every", type=int, default=50, help="steps a row of the curve")
    run.add_argument("--validate-every", type=int, default=250)
    files = parser.add_argument_group("files")
    files.add_argument("--work", type=Path, default=CACHE / "translator", help="folder of the checkpoint")
    files.add_argument("--output", type=Path, default=ROOT / "gptlab" / "data" / "translator")
    files.add_argument("--anew", action="store_true", help="begin at step 0 even if there is a checkpoint")
    return parser


def loss_of(model: nn.Module, batch: PairBatch, reduction: str = "mean") -> torch.Tensor:
    """−log P(target | source), in nats a token of the target."""
    logits = model(batch.source, batch.inputs)
    return F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE, reduction=reduction)


@torch.no_grad()
def validate(model: nn.Module, batches: Sequence[PairBatch]) -> float:
    with evaluation_mode(model):
        total = sum(loss_of(model, batch, "sum").item() for batch in batches)
    return total / sum(batch.n_targets for batch in batches)


def by_length(pairs: Sequence[SentencePair]) -> list[PairBatch]:
    same_length = defaultdict(list)
    for pair in pairs:
        same_length[len(pair.source)].append(pair)
    return [pair_batch(rows) for rows in same_length.values()]


def train(args: argparse.Namespace, model: EncoderDecoder) -> list[dict]:
    """Train, from where the last call was broken off; gives the rows of the curve."""
    data = SentencePairs(
        sentence_pairs(range(args.stories), held_out=False), tokens_per_batch=args.tokens_per_batch, seed=args.seed
    )
    held_out = by_length(sentence_pairs(VALIDATED, held_out=True))
    parameters = list(model.parameters())
    optimizer = AdamW(parameters, weight_decay=args.weight_decay)
    checkpoint, settings = args.work / "training.safetensors", settings_of(args)
    rows, losses, tokens, seconds = [], [], 0, 0.0
    if checkpoint.exists() and not args.anew:
        progress = load_state(checkpoint, model, optimizer, settings=settings)
        rows, losses, tokens, seconds = (progress[name] for name in ("rows", "losses", "tokens", "seconds"))
    while optimizer.steps < args.steps:
        began, batch = time.perf_counter(), data.batch(optimizer.steps)
        rate = cosine_schedule(
            optimizer.steps, peak=args.learning_rate, final=args.learning_rate / 50, warmup=50, decay=args.steps
        )
        loss = loss_of(model, batch)
        gradients = list(torch.autograd.grad(loss, parameters, materialize_grads=True))
        clip_by_norm(gradients, 1.0)
        optimizer.step(gradients, rate)
        losses.append(loss.item())
        tokens, seconds = tokens + batch.n_targets, seconds + time.perf_counter() - began
        last = optimizer.steps == args.steps
        if optimizer.steps % args.log_every and not last:
            continue
        validated = last or optimizer.steps % args.validate_every == 0
        rows.append({
            "step": optimizer.steps,
            "loss": round(sum(losses) / len(losses), 5),
            "val_loss": round(validate(model, held_out), 5) if validated else None,
            "floor": 0.0,
            "learning_rate": float(f"{rate:.3g}"),
            "tokens": tokens,
            "seconds": round(seconds, 1),
        })  # fmt: skip
        losses = []
        if validated:
            progress = {"rows": rows, "losses": losses, "tokens": tokens, "seconds": seconds}
            save_state(checkpoint, model, optimizer, progress=progress, settings=settings)
            print(
                f"step {optimizer.steps:,}: loss {rows[-1]['loss']:.4f}, held out {rows[-1]['val_loss']:.4f}",
                flush=True,
            )
    return rows


def settings_of(args: argparse.Namespace) -> dict:
    return {name: value for name, value in vars(args).items() if isinstance(value, (int, float)) and name != "anew"}


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    model = first_weights(args.context, args.width, args.heads, args.encoder_layers, args.decoder_layers)
    rows = train(args, model)
    save_translator(args.output, model)
    translator, pairs = load_translator(args.output), sentence_pairs(JUDGED, held_out=True)
    told = translator.translate(["".join(pair.source) for pair in pairs])
    exact = sum(one == "".join(pair.target) for one, pair in zip(told, pairs, strict=True)) / len(pairs)
    result = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "sentences": len(pairs),
        "exact": round(exact, 4),
        "loss": rows[-1]["val_loss"],
    }
    record = {"settings": settings_of(args), "result": result, "rows": rows}
    (args.output / "curve.json").write_text(json.dumps(record) + "\n")
    print(f"{args.output}: {exact:.2%} of {len(pairs)} held-out sentences exact")


if __name__ == "__main__":
    main()
