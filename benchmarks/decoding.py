"""Writing a text: greedy, sampled, and by beam search, from a prompt of 32 tokens."""

from collections.abc import Iterator

import torch

import gptlab
from benchmarks._measure import OURS, Comparison, rates, seconds
from benchmarks._models import SIZES, L, PlainGPT, S, ours, theirs

HALF = f"{OURS}, precision='bfloat16'"
PROMPT, WIDTH = 32, 5
N_NEW = {"S": 96, "M": 96, "L": 48}
BUDGET = {"S": 8, "M": 14, "L": 30}


def greedy() -> Iterator[Comparison]:
    for name in SIZES:
        yield greedy_of(name)


def greedy_of(name: str) -> Comparison:
    model, ids, n = ours(SIZES[name]), prompt(), N_NEW[name[0]]
    peer, plain = theirs(model), PlainGPT(model.config).eval()
    contestants = {OURS: lambda: gptlab.greedy(model, ids, n), "transformers": lambda: generate(peer, ids, n)}
    if model.config is not S:
        contestants[HALF] = lambda: gptlab.greedy(model, ids, n, precision="bfloat16")
    if model.config is not L:  # where it would take all the time there is
        contestants["plain, as nanoGPT (no cache)"] = lambda: plain.generate(ids, n)
    taken = seconds(contestants, BUDGET[name[0]])
    return Comparison(f"greedy, {n} tokens, {name}", "tokens/s", rates(taken, n))


def sampling() -> Iterator[Comparison]:
    model, ids, n = ours(S), prompt(), N_NEW["S"]
    peer = theirs(model)
    contestants = {
        OURS: lambda: gptlab.sample(model, ids, n, generator=0),
        "gptlab.greedy": lambda: gptlab.greedy(model, ids, n),
        "gptlab, top_k=40": lambda: gptlab.sample(model, ids, n, top_k=40, generator=0),
        "transformers": lambda: generate(peer, ids, n, do_sample=True, top_k=0),
        "transformers, top_k=40": lambda: generate(peer, ids, n, do_sample=True, top_k=40),
    }
    yield Comparison(f"sampling, {n} tokens, S", "tokens/s", rates(seconds(contestants, 8), n))


def beam() -> Iterator[Comparison]:
    for name in list(SIZES)[:2]:
        yield beam_of(name)


def beam_of(name: str) -> Comparison:
    model, ids, n = ours(SIZES[name]), prompt(), N_NEW[name[0]]
    peer = theirs(model)
    contestants = {
        OURS: lambda: gptlab.beam_search(model, ids, n, WIDTH),
        "transformers": lambda: generate(peer, ids, n, num_beams=WIDTH),
    }
    if model.config is not S:
        contestants[HALF] = lambda: gptlab.beam_search(model, ids, n, WIDTH, precision="bfloat16")
    taken = seconds(contestants, 2 * BUDGET[name[0]])
    return Comparison(f"beam search, width {WIDTH}, {n} tokens, {name}", "tokens/s", rates(taken, n))


def prompt() -> torch.Tensor:
    return torch.randint(1_000, (1, PROMPT), generator=torch.Generator().manual_seed(0))


def generate(peer: torch.nn.Module, ids: torch.Tensor, n: int, **options: object) -> torch.Tensor:
    return peer.generate(ids, max_new_tokens=n, min_new_tokens=n, use_cache=True, **{"do_sample": False} | options)
