"""Fine-tune the small world's model to answer, ship it as "small-world-answers", and record what lesson 11 draws.

    python scripts/make_fine_tuning.py                supervised fine-tuning (resumable), then the record
    python scripts/make_fine_tuning.py --only record  the record alone, from the model that ships

The record, `fine_tuning.json`, holds a reward model, DPO at several β and GRPO over more steps than a cell has time
for. All of it takes some minutes on one core; what it took stands in it.
"""

import argparse
import copy
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import torch

import gptlab
from gptlab.finetuning import tasks
from gptlab.finetuning.answers import Example, answer_batch, answer_kl, answer_log_probs, sample_answers
from gptlab.finetuning.grpo import train_grpo
from gptlab.finetuning.preference import RewardModel, train_dpo, train_reward_model
from gptlab.finetuning.supervised import AnswerCorpus
from gptlab.model import GPT, evaluation_mode
from gptlab.tokenizer import Tokenizer

DATA = Path(__file__).resolve().parent.parent / "gptlab" / "data"
NAME = "small-world-answers"
BETAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("model", "record"))
    parser.add_argument("--steps", type=int, default=1500, help="of supervised fine-tuning")
    parser.add_argument("--reward-steps", type=int, default=600)
    parser.add_argument("--dpo-steps", type=int, default=200)
    parser.add_argument("--grpo-steps", type=int, default=40)
    parser.add_argument("--validate-every", type=int, default=50)
    parser.add_argument("--questions", type=int, default=64, help="to measure on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=DATA, help="the folder that gets model and record")
    return parser


def fine_tune(args: argparse.Namespace) -> None:
    """Make the model; its curve is written beside it."""
    model, tok = gptlab.load("small-world")
    data = AnswerCorpus(tasks.anything, tok, context_length=model.config.context_length, seed=args.seed)
    unfinished = args.output / f"{NAME}.unfinished.safetensors"
    began, rows, losses = time.process_time(), [], []
    run = gptlab.train(
        model, data, args.steps, learning_rate=1e-3, weight_decay=0.0, validate_every=args.validate_every,
        checkpoint=unfinished, checkpoint_every=args.validate_every, resume=True, seed=args.seed,
    )  # fmt: skip
    for step in run:
        losses.append(step.loss)
        if step.val_loss is not None:
            mean = fmean(losses)
            rows.append({
                "step": step.number, "loss": round(mean, 4), "val_loss": round(step.val_loss, 4), "floor": None,
                "learning_rate": step.learning_rate, "tokens": step.tokens_seen,
                "seconds": round(time.process_time() - began, 1),
            })  # fmt: skip
            losses.clear()
            print(f"step {step.number}: loss {mean:.3f}, held out {step.val_loss:.3f}", flush=True)
    gptlab.save(args.output / NAME, model, tok, torch.float16)
    (args.output / NAME / "curve.json").write_text(json.dumps({"rows": rows}) + "\n")
    unfinished.unlink(missing_ok=True)


class Manners:
    """Right and wrong answers in each manner to the same held-out questions, and what models make of them."""

    def __init__(self, tok: Tokenizer, args: argparse.Namespace) -> None:
        rng = random.Random(f"manners {args.seed}")
        asked = [tasks.question(rng) for _ in range(args.questions)]
        self.right = [answer_batch([Example(one.prompt, one.answer(m)) for one in asked], tok) for m in tasks.MANNERS]
        self.wrong = [
            answer_batch([Example(one.prompt, one.answer(m, one.wrong_key(rng))) for one in asked], tok)
            for m in tasks.MANNERS
        ]

    @torch.no_grad()
    def rewards(self, model: RewardModel) -> dict[str, list[float]]:
        """Mean rewards of right and of wrong answers, by manner."""
        with evaluation_mode(model):
            sides = {"right": self.right, "wrong": self.wrong}
            return {name: [round(model(one).mean().item(), 4) for one in batches] for name, batches in sides.items()}

    @torch.no_grad()
    def shares(self, model: GPT, reference: GPT) -> dict[str, float]:
        """How likely the right answer in each manner is, and KL to the reference over these answers, in nats."""
        with evaluation_mode(model):
            shares = torch.stack([answer_log_probs(model, batch).exp() for batch in self.right])
        per_answer = torch.stack([answer_kl(model, reference, batch) for batch in self.right])
        kl = ((shares * per_answer).sum(0) / shares.sum(0)).mean()
        return dict(zip(tasks.MANNERS, shares.mean(1).tolist(), strict=True)) | {"kl": kl.item()}


def reward_model(reference: GPT, tok: Tokenizer, args: argparse.Namespace) -> list[dict]:
    """Fit a reward model to preferences; gives what it thinks of manners and of mistakes on the way."""
    model, manners = RewardModel(reference), Manners(tok, args)
    every = max(1, args.reward_steps // 20)
    rows, losses = [{"step": 0, "loss": None} | manners.rewards(model)], []
    for step in train_reward_model(model, tok, tasks.preference, args.reward_steps, seed=args.seed):
        losses.append(step.loss)
        if step.number % every == 0:
            rows.append({"step": step.number, "loss": round(fmean(losses), 4)} | manners.rewards(model))
            losses.clear()
    print(f"reward model: {rows[-1]}", flush=True)
    return rows


def dpo_at(beta: float, reference: GPT, tok: Tokenizer, args: argparse.Namespace) -> dict:
    """Train a copy of the reference at this β; gives its row of the record."""
    model, manners = copy.deepcopy(reference), Manners(tok, args)
    every = max(1, args.dpo_steps // 20)
    rows, margins = [{"step": 0, "margin": 0.0} | manners.shares(model, reference)], []
    for step in train_dpo(model, tok, tasks.preference, args.dpo_steps, beta=beta, seed=args.seed):
        margins.append(step.margin)
        if step.number % every == 0:
            rows.append({"step": step.number, "margin": fmean(margins)} | manners.shares(model, reference))
            margins.clear()
    print(f"DPO at {beta:g}: {rows[-1]}", flush=True)
    return {"beta": beta, "rows": [{name: round(value, 4) for name, value in row.items()} for row in rows]}


def grpo_with(kl: float, reference: GPT, tok: Tokenizer, args: argparse.Namespace) -> dict:
    """Train a copy of the reference to count; gives rewards and divergence round by round."""
    model, rows = copy.deepcopy(reference), []
    for step in train_grpo(
        model, tok, tasks.counting, tasks.counting_rewards, args.grpo_steps, beta=kl, seed=args.seed
    ):
        rows.append({**step.rewards, "kl": step.kl, "silent": step.silent})
    rng = random.Random(f"held out {args.seed}")
    asked = [tasks.counting(rng) for _ in range(4 * args.questions)]
    answers = sample_answers(model, tok, [one.prompt for one in asked], 16, temperature=0)
    rewards = [tasks.counting_rewards(one, tok.decode(ids)) for one, ids in zip(asked, answers, strict=True)]
    held_out = {name: sum(one[name] for one in rewards) / len(rewards) for name in rewards[0]}
    print(f"GRPO with KL {kl:g}: {rows[0]} … {rows[-1]}; held out {held_out}", flush=True)
    rounded = [{name: round(value, 4) for name, value in row.items()} for row in rows]
    return {"beta": kl, "rounds": rounded, "held_out": held_out}


def record(args: argparse.Namespace) -> None:
    reference, tok = gptlab.load(args.output / NAME)
    began = time.process_time()
    written = {
        "settings": {name: value for name, value in vars(args).items() if isinstance(value, int)},
        "reward": reward_model(reference, tok, args),
        "dpo": [dpo_at(beta, reference, tok, args) for beta in BETAS],
        "grpo": [grpo_with(kl, reference, tok, args) for kl in (0.04, 0.0)],
    }
    written["seconds"] = round(time.process_time() - began)
    (args.output / "fine_tuning.json").write_text(json.dumps(written, indent=1) + "\n")


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    if args.only != "record":
        fine_tune(args)
    if args.only != "model":
        record(args)


if __name__ == "__main__":
    main()
