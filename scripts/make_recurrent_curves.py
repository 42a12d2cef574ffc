"""Train what lesson 10 compares, and write down how it went: some fifty minutes on one core.

    python scripts/make_recurrent_curves.py

On stories, each read from its beginning, with the same number of weights and the same batches:
    rnn, gru, lstm, gpt    a recurrent layer with each cell, and two blocks of attention
Each of them is trained at several learning rates around its best, which is kept: at one rate for all, that rate would
decide which comes first.
On stories end to end, a text without end in which each is trained as it is to be used, at the rate found before:
    chunks    the GPT, on pieces that know nothing of one another
    window    a GPT whose tokens look back over a window as long as such a piece
    carried   the GRU, on such pieces one after the other, its state handed on and no gradient with it
And times, of which the fastest of several tries counts.

The weights go to gptlab/data/recurrent, the curves and the times to record.json beside them. Models that are there are
not trained again unless asked for (`--only`, `--anew`), so that the script may be broken off.
"""

import argparse
import json
import random
import time
import timeit
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

import gptlab
from gptlab.corpus import Batch, HeldOut, StoryCorpus
from gptlab.relatives.recurrent import Carried, RecurrentConfig, RecurrentLM, load_recurrent, save_recurrent
from gptlab.relatives.windowed import WindowedGPT, window_attention
from gptlab.world import ENGLISH_WORLD
from make_small_world_model import first_weights

ROOT = Path(__file__).resolve().parent.parent
CONTEXT = 168  # holds the longest story
WIDTH = 64  # of an embedding, in all models
STATE = {"rnn": 273, "gru": 153, "lstm": 130}  # widths that give each model as many weights as the GPT has
RATES = {"rnn": (2e-3, 3e-3, 5e-3), "gru": (1e-2, 2e-2, 4e-2), "lstm": (5e-3, 1e-2, 2e-2), "gpt": (1e-3, 2e-3, 3e-3)}
RATE_OF = {"chunks": "gpt", "window": "gpt", "carried": "gru"}
WEIGHT_DECAY = 0.01  # in two thousand steps nothing is learned by heart
PIECE = 64  # tokens of a chunk, of a window, and of a step of truncated back-propagation
LONG = 1024  # tokens of a long text


class Stream:
    """Stories end to end, as one text of `n_tokens` tokens: rows of it, or pieces of it one after the other.

    `row` is the tokens that a row of a batch reads. In pieces that follow one another, row r of each step goes on where
    row r of the step before has stopped. Held out are long texts, each from the beginning of a story.
    """

    def __init__(self, tok, *, row: int, batch_size: int, n_tokens: int, held_out: int, following=False, seed=0):
        self.tok, self.row, self.batch_size, self.following, self.seed = tok, row, batch_size, following, seed
        self.n_held_out = held_out
        self.settings = {"kind": "stream", "row": row, "batch_size": batch_size, "following": following, "seed": seed}
        rng = random.Random(f"{seed} stream")
        self.ids = torch.tensor(_tokens(tok, rng, n_tokens)[0])

    def batch(self, step: int) -> Batch:
        """The batch of step 0, 1, 2, …"""
        last = len(self.ids) - self.row - 1
        if self.following:
            starts = [(last * row // self.batch_size + step * self.row) % last for row in range(self.batch_size)]
        else:
            rng = random.Random(f"{self.seed} {step}")
            starts = [rng.randrange(last) for _ in range(self.batch_size)]
        rows = torch.stack([self.ids[start : start + self.row + 1] for start in starts])
        return Batch(rows[:, :-1], rows[:, 1:])

    @cached_property
    def held_out(self) -> HeldOut:
        rng = random.Random(f"{self.seed} held out")
        texts, log_probs = zip(*(_tokens(self.tok, rng, LONG + 1) for _ in range(self.n_held_out)), strict=True)
        ids = torch.tensor(texts)
        floor = -sum(map(sum, log_probs)) / ids[:, 1:].numel()
        return HeldOut([Batch(ids[:, :-1], ids[:, 1:])], floor)


class Pieces(nn.Module):
    """A model that reads a long text in pieces, each as if there were nothing before it."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        return torch.cat([self.model(piece) for piece in ids.split(PIECE, dim=1)], dim=1)


def _tokens(tok, rng: random.Random, n: int) -> tuple[list[int], list[float]]:
    """The first n tokens of stories end to end, and the true log-probability of each but the first."""
    ids, log_probs = [tok.end_of_text], []
    while len(ids) < n:
        words = ENGLISH_WORLD.sample_words(rng)
        ids += [*(tok.encode(word)[0] for word in words), tok.end_of_text]
        if n <= LONG + 1:  # of the text to train on nobody asks for the truth
            log_probs += ENGLISH_WORLD.log_probs("".join(words))
    return ids[:n], log_probs[: n - 1]


def recurrent(cell: str, tok) -> RecurrentLM:
    return RecurrentLM(RecurrentConfig(cell, tok.vocab_size, WIDTH, STATE[cell]))


def gpt_config(tok, context: int) -> gptlab.GPTConfig:
    return gptlab.GPTConfig(tok.vocab_size, context, n_layers=2, n_heads=4, d_model=WIDTH)


def made(name: str, tok, args: argparse.Namespace) -> tuple[nn.Module, StoryCorpus | Stream]:
    """A model of that name before its training, and what it is trained on."""
    if name in RATES:
        data = StoryCorpus(
            ENGLISH_WORLD, tok, context_length=CONTEXT, tokens_per_batch=args.tokens_per_batch,
            held_out_stories=args.held_out, seed=args.seed,
        )  # fmt: skip
        model = first_weights(gpt_config(tok, CONTEXT)) if name == "gpt" else recurrent(name, tok)
        return model, data
    row = 4 * PIECE if name == "window" else PIECE
    stream = Stream(
        tok, row=row, batch_size=max(1, args.tokens_per_batch // row), n_tokens=args.stream_tokens,
        held_out=args.long_texts, following=name == "carried", seed=args.seed,
    )  # fmt: skip
    if name == "carried":
        return Carried(recurrent("gru", tok)), stream
    if name == "window":
        model = WindowedGPT(gpt_config(tok, 2 * PIECE), PIECE)
        model.load_state_dict(first_weights(model.config).state_dict())
        return model, stream
    return Pieces(first_weights(gpt_config(tok, PIECE))), stream


NAMES = (*RATES, *RATE_OF)


def best(name: str, tok, args: argparse.Namespace, rates: Sequence[float]) -> dict:
    """Train the model of that name at each rate and write the weights of the best; gives its part of the record."""
    runs = [train(name, tok, args, rate) for rate in rates]
    bare, kept = min(runs, key=lambda run: run[1]["validated"][-1]["val_loss"])
    if isinstance(bare, RecurrentLM):
        save_recurrent(args.output / f"{name}.safetensors", bare)
    else:
        gptlab.save(args.output / name, bare, dtype=torch.float16)
    return kept | {"tried": {str(run["learning_rate"]): run["validated"][-1]["val_loss"] for _, run in runs}}


def train(name: str, tok, args: argparse.Namespace, rate: float) -> tuple[nn.Module, dict]:
    """The trained model, and how it went."""
    torch.manual_seed(args.seed)
    model, data = made(name, tok, args)
    steps = args.steps if isinstance(data, StoryCorpus) else args.long_steps
    began, rows = time.process_time(), []
    for step in gptlab.train(
        model, data, steps, learning_rate=rate, weight_decay=WEIGHT_DECAY, seed=args.seed,
        validate_every=args.validate_every,
    ):  # fmt: skip
        if step.val_loss is not None:
            rows.append({"step": step.number, "tokens": step.tokens_seen, "val_loss": round(step.val_loss, 4)})
            print(f"{name} at {rate}: {rows[-1]}, {time.process_time() - began:.0f} s", flush=True)
    bare = getattr(model, "model", model)
    return bare, {
        "parameters": sum(parameter.numel() for parameter in bare.parameters()),
        "learning_rate": rate,
        "seconds": round(time.process_time() - began, 1),
        "floor": round(data.held_out.floor, 4),
        "validated": rows,
    }


def fastest(work: Callable[[], object], repeats: int) -> float:
    """The processor's seconds for the fastest of several tries: other work of the machine only slows."""
    return min(timeit.repeat(work, number=1, repeat=repeats, timer=time.process_time))


@torch.no_grad()
def measured(folder: Path, lengths: Sequence[int], repeats: int) -> dict:
    """Microseconds a token, over the length of the text: of whole models that read it, and of attention alone."""
    lstm = load_recurrent(folder / "lstm.safetensors")
    gpt, _ = gptlab.load(folder / "gpt")
    ids = torch.zeros(1, CONTEXT, dtype=torch.int64)

    def one_by_one(n: int) -> None:
        state = None
        for t in range(n):
            _, state = lstm.hidden(ids[:, t : t + 1], state)

    reading = [n for n in (1, 2, 4, 8, 16, 32, 64, 128, CONTEXT) if n <= max(lengths)]
    attention = {"whole": [], "chunks": [], "window": []}
    for n in lengths:
        q, k, v = torch.randn(3, 1, 4, n, WIDTH // 4)
        parts = [x.view(1, 4, -1, PIECE, WIDTH // 4) for x in (q, k, v)]
        ways = {
            "whole": lambda q=q, k=k, v=v: (q @ k.mT / 4).softmax(-1) @ v,
            "chunks": lambda parts=parts: (parts[0] @ parts[1].mT / 4).softmax(-1) @ parts[2],
            "window": lambda q=q, k=k, v=v: window_attention(q, k, v, PIECE),
        }
        for name, work in ways.items():
            attention[name].append(round(1e6 * fastest(work, repeats) / n, 3))
    return {
        "reading": {
            "lengths": reading,
            "lstm": [round(1e6 * fastest(lambda n=n: one_by_one(n), repeats) / n, 2) for n in reading],
            "gpt": [round(1e6 * fastest(lambda n=n: gpt.hidden(ids[:, :n]), repeats) / n, 2) for n in reading],
        },
        "attention": {"lengths": list(lengths), **attention},
    }


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000, help="on stories")
    parser.add_argument("--long-steps", type=int, default=2000, help="on stories end to end")
    parser.add_argument("--tokens-per-batch", type=int, default=1024)
    parser.add_argument("--validate-every", type=int, default=100)
    parser.add_argument("--held-out", type=int, default=100, help="stories to validate on")
    parser.add_argument("--long-texts", type=int, default=8, help=f"texts of {LONG} tokens to validate on")
    parser.add_argument("--stream-tokens", type=int, default=2_000_000)
    parser.add_argument("--lengths", type=int, nargs="+", default=[64, 128, 256, 512, 1024, 2048, 4096])
    parser.add_argument("--repeats", type=int, default=20, help="tries of each time")
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES)
    parser.add_argument("--anew", action="store_true", help="train also what is in the record")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "gptlab" / "data" / "recurrent")
    return parser


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    args.output.mkdir(parents=True, exist_ok=True)
    tok, path = gptlab.Tokenizer.small_world(), args.output / "record.json"
    record = json.loads(path.read_text()) if path.exists() else {"settings": {}, "models": {}, "times": {}}
    record["settings"] = {name: value for name, value in vars(args).items() if type(value) is int}

    def write() -> None:
        path.write_text(json.dumps(record, indent=1) + "\n")

    for name in args.only:
        if args.anew or name not in record["models"]:
            rates = [record["models"][RATE_OF[name]]["learning_rate"]] if name in RATE_OF else RATES[name]
            record["models"][name] = best(name, tok, args, rates)
            write()
    record["times"] = measured(args.output, args.lengths, args.repeats)
    write()


if __name__ == "__main__":
    main()
