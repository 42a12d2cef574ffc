"""Fine-tune the small world's model to answer, ship it as "small-world-answers", and record what lesson 11 draws.

    python scripts/make_fine_tuning.py                supervised fine-tuning (resumable), then the record
    python scripts/make_fine_tuning.py --only grpo    one part alone, from the model that ships: reward, dpo or grpo

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
from gptlab.decoding import prompt_ids
from gptlab.finetuning import tasks
from gptlab.finetuning.answers import Example, answer_batch, answer_kl, answer_log_probs, masked_batch, sample_answers
from gptlab.finetuning.grpo import train_grpo
from gptlab.finetuning.preference import RewardModel, train_dpo, train_reward_model
from gptlab.finetuning.supervised import AnswerCorpus
from gptlab.model import GPT, evaluation_mode
from gptlab.tokenizer import Tokenizer

DATA = Path(__file__).resolve().parent.parent / "gptlab" / "data"
NAME = "small-world-answers"
BETAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
GROUP, LOOKS = 8, (2, 5, 10, 20, 40)  # answers to one question, and after which rounds


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("model", "reward", "dpo", "grpo"))
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
        self.tok, self.prompts = tok, [one.prompt for one in asked]
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
        """How likely the right answer in each manner is, and KL to the reference over answers of its own, in nats."""
        with evaluation_mode(model):
            shares = [answer_log_probs(model, batch).exp().mean().item() for batch in self.right]
        answers = sample_answers(model, self.tok, self.prompts, 16, generator=0)
        ids = [prompt_ids(self.tok, prompt)[0].tolist() for prompt in self.prompts]
        kl = answer_kl(model, reference, masked_batch(ids, answers)).mean().item()
        return dict(zip(tasks.MANNERS, shares, strict=True)) | {"kl": kl}


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
    every = max(1, args.dpo_steps // 10)
    rows, margins = [{"step": 0, "margin": 0.0} | manners.shares(model, reference)], []
    for step in train_dpo(model, tok, tasks.taste, args.dpo_steps, beta=beta, seed=args.seed):
        margins.append(step.margin)
        if step.number % every == 0:
            rows.append({"step": step.number, "margin": fmean(margins)} | manners.shares(model, reference))
            margins.clear()
    print(f"DPO at {beta:g}: {rows[-1]}", flush=True)
    return {"beta": beta, "rows": [{name: round(value, 4) for name, value in row.items()} for row in rows]}


def group_of(model: GPT, tok: Tokenizer, asked: tasks.Counting, args: argparse.Namespace) -> dict:
    """Answers to one question, with their rewards."""
    answers = sample_answers(model, tok, [asked.prompt] * GROUP, 14, generator=args.seed)
    texts = [tok.decode(ids) for ids in answers]
    return {"answers": texts, "rewards": [sum(tasks.counting_rewards(asked, text).values()) for text in texts]}


def grpo_with(kl: float, reference: GPT, tok: Tokenizer, args: argparse.Namespace) -> dict:
    """Train a copy of the reference to count; gives rewards and divergence round by round."""
    model, rows = copy.deepcopy(reference), []
    one = tasks.Counting("Anna Stone found five apples. She counted the apples:", 5)
    groups = {0: group_of(model, tok, one, args)}
    for step in train_grpo(
        model,
        tok,
        tasks.counting,
        tasks.counting_rewards,
        args.grpo_steps,
        learning_rate=1.5e-3,
        beta=kl,
        seed=args.seed,
    ):
        rows.append({**step.rewards, "kl": step.kl, "silent": step.silent})
        if step.number in LOOKS:
            groups[step.number] = group_of(model, tok, one, args)
    rng = random.Random(f"held out {args.seed}")
    asked = [tasks.counting(rng) for _ in range(4 * args.questions)]
    answers = sample_answers(model, tok, [one.prompt for one in asked], 16, temperature=0)
    rewards = [tasks.counting_rewards(one, tok.decode(ids)) for one, ids in zip(asked, answers, strict=True)]
    held_out = {name: sum(one[name] for one in rewards) / len(rewards) for name in rewards[0]}
    print(f"GRPO with KL {kl:g}: {rows[0]} … {rows[-1]}; held out {held_out}", flush=True)
    rounded = [{name: round(value, 4) for name, value in row.items()} for row in rows]
    return {"beta": kl, "rounds": rounded, "held_out": held_out, "prompt": one.prompt, "groups": groups}


def record(args: argparse.Namespace) -> None:
    """Write the parts that are asked for into the record; the others stay as they are."""
    reference, tok = gptlab.load(args.output / NAME)
    parts = {
        "reward": lambda: reward_model(reference, tok, args),
        "dpo": lambda: [dpo_at(beta, reference, tok, args) for beta in BETAS],
        "grpo": lambda: [grpo_with(kl, reference, tok, args) for kl in (0.02, 0.0)],
    }
    path = args.output / "fine_tuning.json"
    written = json.loads(path.read_text()) if path.exists() else {}
    written["settings"] = {name: value for name, value in vars(args).items() if isinstance(value, int)}
    for name in (args.only,) if args.only else parts:
        began = time.process_time()
        written[name] = parts[name]()
        written[f"{name}_seconds"] = round(time.process_time() - began)
        path.write_text(json.dumps(written, indent=1) + "\n")


def main(words: Sequence[str] | None = None) -> None:
    args = options().parse_args(words)
    torch.set_num_threads(args.threads)
    if args.only in (None, "model"):
        fine_tune(args)
    if args.only != "model":
        record(args)


if __name__ == "__main__":
    main()
