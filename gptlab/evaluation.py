"""Evaluation: a model against the truth of the small world, which is known at every place of a story.

At a place where the next token is w with probability p(w) and the model says q(w), it loses on average the entropy of
p, which nobody can do without, and KL(p‖q) = Σ_w p(w) ln(p(w)/q(w)), which is its own (Cover and Thomas 2006, section
2.3). The mean over all places hides what is rare, so it is taken for each kind of link too (``gptlab.world.story``).

Axes: B stories, T tokens, V vocabulary.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from gptlab._refuse import refuse
from gptlab.model import evaluation_mode
from gptlab.tokenizer import Tokenizer
from gptlab.world import ENGLISH_WORLD, ImpossiblePrefix, World

_STORIES_PER_BATCH = 16
_CERTAIN = 0.999  # from this probability on there is one right answer


class AtLinks(NamedTuple):
    """How a model fares at the words with a link of one kind."""

    count: int  # such words
    kl: float  # mean KL(truth‖model) there, in nats
    accuracy: float | None  # share of those certain in truth that the model finds most likely; None if none is certain


class Evaluation(NamedTuple):
    """Means over the same targets, each word of the stories and their ends, in nats."""

    loss: float  # of the model, at the tokens that were drawn
    floor: float  # of the truth, at the same tokens
    kl: float  # KL(truth‖model): what loss − floor is when so many stories are drawn that chance evens out
    by_kind: dict[str, AtLinks]


class _Place(NamedTuple):
    """One target and what model and truth say of it."""

    loss: float
    floor: float
    kl: float
    kinds: set[str]
    certain: bool
    right: bool


def evaluate(model: nn.Module, tok: Tokenizer, world: World, stories: int = 200, seed: int = 0) -> Evaluation:
    """Compare a model's distribution with the true one at each token of stories sampled from `seed`, `seed` + 1, …

    `model` turns (B,T) ids into (B,T,V) logits; `tok` has one token for each word of the world. The truth is compared
    as a whole distribution, not only at the token that was drawn. Raises ValueError for less than one story, and for a
    tokenizer that cuts words.
    """
    if stories < 1:
        raise refuse("stories", stories, "a whole number of at least 1")
    texts = sorted((world.sample(seed + n) for n in range(stories)), key=len)  # equal lengths together: little padding
    places: list[_Place] = []
    with evaluation_mode(model), torch.no_grad():
        for start in range(0, stories, _STORIES_PER_BATCH):
            places.extend(_compare(model, tok, world, texts[start : start + _STORIES_PER_BATCH]))
    kinds = defaultdict(list)
    for place in places:
        for kind in place.kinds:
            kinds[kind].append(place)
    return Evaluation(
        loss=fmean(place.loss for place in places),
        floor=fmean(place.floor for place in places),
        kl=fmean(place.kl for place in places),
        by_kind={kind: _at_links(kinds[kind]) for kind in sorted(kinds)},
    )


def could_have_told(texts: Iterable[str], world: World = ENGLISH_WORLD) -> float:
    """The share of texts that stories of the world begin with; one that ends in `<|endoftext|>` must be a whole one."""
    told = [_is_told(text, world) for text in texts]
    if not told:
        raise refuse("texts", told, "at least one text")
    return sum(told) / len(told)


def _compare(model: nn.Module, tok: Tokenizer, world: World, texts: list[str]) -> Iterator[_Place]:
    ids = [torch.tensor([tok.end_of_text, *tok.encode(text), tok.end_of_text]) for text in texts]
    logits: Float[Tensor, "B T V"] = model(pad_sequence([story[:-1] for story in ids], batch_first=True))
    for text, story, rows in zip(texts, ids, logits, strict=True):
        truth = torch.from_numpy(world.token_distributions(text, tok))
        targets = story[1:, None]
        log_q = rows[: len(truth)].double().log_softmax(-1)
        kl = _kl(truth, log_q)
        columns = zip(
            -log_q.gather(1, targets)[:, 0],
            -truth.gather(1, targets)[:, 0].log(),
            kl,
            (truth.max(-1).values > _CERTAIN),
            (truth.argmax(-1) == log_q.argmax(-1)),
            world.analyse(text, complete=True),
            strict=True,
        )
        for loss, floor, at, certain, right, reading in columns:
            kinds = {link.kind for link in reading.links}
            yield _Place(loss.item(), floor.item(), at.item(), kinds, certain.item(), right.item())


def _kl(truth: Float[Tensor, "T V"], log_q: Float[Tensor, "T V"]) -> Float[Tensor, " T"]:
    """KL(truth‖model) in each row. What cannot come counts nothing, though the model may give it no probability at all.

    Rounding may take a sum that should be 0 below it; no divergence is negative.
    """
    log_q = log_q.masked_fill(truth == 0, 0.0)
    return (torch.xlogy(truth, truth) - truth * log_q).sum(-1).clamp(min=0)


def _at_links(places: list[_Place]) -> AtLinks:
    right = [place.right for place in places if place.certain]
    return AtLinks(len(places), fmean(place.kl for place in places), fmean(right) if right else None)


def _is_told(text: str, world: World) -> bool:
    try:
        world.analyse(text)
    except ImpossiblePrefix:
        return False
    return True
