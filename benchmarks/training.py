"""A training step, and where the same steps lead."""

from collections.abc import Callable, Iterator
from itertools import count

import torch
from torch import nn

import gptlab
from benchmarks._measure import OURS, Comparison, rates, seconds
from benchmarks._models import SIZES, PlainGPT, ours, theirs
from gptlab.corpus import Batch, HeldOut, StoryCorpus
from gptlab.loss import mean_loss

ROWS = {"S": 12, "M": 4}
BUDGET = {"S": 20, "M": 30}
RECIPE = {"learning_rate": 1e-3, "final_learning_rate": 1e-3, "warmup": 0, "betas": (0.9, 0.95), "weight_decay": 0.1}
STEPS = 100  # of the runs whose losses are compared


class RandomIds:
    """Batches of random ids, always of one shape: what they cost is known, what they teach does not matter."""

    settings: dict = {}
    held_out: HeldOut | None = None

    def __init__(self, config: gptlab.GPTConfig, rows: int) -> None:
        self.vocab_size, self.shape = config.vocab_size, (rows, config.context_length + 1)

    def batch(self, step: int) -> Batch:
        ids = torch.randint(self.vocab_size, self.shape, generator=torch.Generator().manual_seed(step))
        return Batch(ids[:, :-1], ids[:, 1:])


def training() -> Iterator[Comparison]:
    for name, config in list(SIZES.items())[:2]:
        data = RandomIds(config, ROWS[name[0]])
        plain = "plain, as nanoGPT"
        contestants = {
            OURS: our_step(config, data, "float32"),
            f"{OURS}, precision='auto'": our_step(config, data, "auto"),
            plain: usual_step(PlainGPT(config), data),
            f"{plain}, bfloat16, fused AdamW": usual_step(PlainGPT(config), data, half=True),
            "transformers": usual_step(theirs(ours(config)), data),
        }
        taken = seconds(contestants, BUDGET[name[0]])
        yield Comparison(f"training step, {name}", "tokens/s", rates(taken, data.batch(0).n_targets))
    yield where_it_leads()


def where_it_leads() -> Comparison:
    """Loss on held-out stories of the small world, after the same batches from the same weights."""
    model, tok = gptlab.load("small-world")
    config, losses = model.config, {}
    for precision in ("float32", "auto"):
        data = StoryCorpus(gptlab.world.ENGLISH_WORLD, tok, tokens_per_batch=1_024, held_out_stories=100)
        *_, last = gptlab.train(ours(config), data, STEPS, precision=precision, **RECIPE)
        losses[OURS if precision == "float32" else f"{OURS}, precision='auto'"] = [last.val_loss]
    peer = theirs(ours(config))
    step = usual_step(peer, data)
    for _ in range(STEPS):
        step()
    losses["transformers, torch's AdamW"] = [mean_loss(lambda ids: logits_of(peer, ids), data.held_out.batches)]
    return Comparison(f"loss of the small world after {STEPS} steps", "nats a token", losses)


def our_step(config: gptlab.GPTConfig, data: RandomIds, precision: str) -> Callable[[], object]:
    steps = gptlab.train(ours(config), data, 10**6, precision=precision, **RECIPE)
    return lambda: next(steps)


def usual_step(model: nn.Module, data: RandomIds | StoryCorpus, *, half: bool = False) -> Callable[[], object]:
    """The usual loop: loss, backward, clip, step."""
    parameters, numbers = list(model.train().parameters()), count()
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": RECIPE["weight_decay"]},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RECIPE["learning_rate"], betas=RECIPE["betas"], fused=half)

    def step() -> float:
        ids, targets = data.batch(next(numbers))
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = nn.functional.cross_entropy(logits_of(model, ids).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def logits_of(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    return model(ids) if isinstance(model, PlainGPT) else model(ids, use_cache=False).logits
