"""A trace beside a plain forward pass; the attention of all heads as a picture: bytes of the page, and seconds."""

import json
from collections.abc import Callable, Iterator

import torch

import gptlab
from benchmarks._measure import OURS, Comparison, milliseconds, seconds
from benchmarks._models import S, ours, theirs
from gptlab.figures import attention_heatmap, head_grid
from gptlab.tracing import trace_bytes

HEADS, TOKENS, LONG = (12, 12), 128, 512


@torch.no_grad()
def tracing() -> Iterator[Comparison]:
    model = ours(S)
    plain, showing = theirs(model), theirs(model, attention="eager")
    ids = torch.randint(S.vocab_size, (1, S.context_length), generator=torch.Generator().manual_seed(0))
    kept = trace_bytes(S, 1, S.context_length, {"attention"}), trace_bytes(S, 1, S.context_length)
    contestants = {
        f"{OURS}, plain forward pass": lambda: model(ids),
        f"{OURS}, trace of attention ({kept[0] / 2**20:.1f} MiB)": lambda: gptlab.trace(model, ids, {"attention"}),
        f"{OURS}, trace of everything ({kept[1] / 2**20:.1f} MiB)": lambda: gptlab.trace(model, ids),
        "transformers, plain forward pass": lambda: plain(ids, use_cache=False),
        "transformers, with its attentions": lambda: showing(ids, use_cache=False, output_attentions=True),
    }
    yield Comparison(f"trace of {S.context_length} tokens, S", "ms", milliseconds(seconds(contestants, 8)))


def pictures() -> Iterator[Comparison]:
    weights, tokens = some_attention(*HEADS, TOKENS), [f"token {i}" for i in range(TOKENS)]
    pages: dict[str, Callable[[], str]] = {
        f"{OURS}, attention_heatmap": lambda: stored(attention_heatmap(weights, tokens)),
        f"{OURS}, head_grid": lambda: stored(head_grid(weights, tokens)),
        "bertviz, head_view": lambda: bertviz_page(weights, tokens),
        "circuitsvis, attention_patterns": lambda: circuitsvis_page(weights, tokens),
    }
    what = f"attention of {HEADS[0]} × {HEADS[1]} heads at {TOKENS} tokens"
    yield Comparison(what, "ms", milliseconds(seconds(pages, 0)))
    yield Comparison(what, "bytes a weight", {who: [len(page()) / weights.numel()] for who, page in pages.items()})
    weights, tokens = some_attention(LONG), [f"token {i}" for i in range(LONG)]
    taken = seconds({f"{OURS}, attention_heatmap": lambda: stored(attention_heatmap(weights, tokens))}, 2)
    yield Comparison(f"attention of one head at {LONG} tokens", "ms", milliseconds(taken))


def some_attention(*shape: int) -> torch.Tensor:
    scores = 3 * torch.randn(*shape, shape[-1], generator=torch.Generator().manual_seed(0))
    return scores.masked_fill(torch.ones(shape[-1], shape[-1]).triu(1).bool(), float("-inf")).softmax(-1)


def stored(figure: object) -> str:
    """What a notebook stores of a figure."""
    return json.dumps(figure._repr_mimebundle_()["application/vnd.plotly.v1+json"])


def bertviz_page(weights: torch.Tensor, tokens: list[str]) -> str:
    from bertviz import head_view

    return head_view(attention=[layer[None] for layer in weights], tokens=tokens, html_action="return").data


def circuitsvis_page(weights: torch.Tensor, tokens: list[str]) -> str:
    from circuitsvis.attention import attention_patterns

    return str(attention_patterns(tokens=tokens, attention=weights.flatten(0, 1)))
