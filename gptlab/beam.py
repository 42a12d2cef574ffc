"""Beam search: follow the few likeliest texts at once; and the tree of all that was considered.

Each step continues every open hypothesis by one token and keeps the `width` likeliest of all continuations
(Lowerre 1976; for translation with transformers Wu et al. 2016, section 7).
Axes: W open hypotheses, K continuations of each that can be among the kept, T tokens, V vocabulary.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.decoding import refuse_bad_stop_token
from gptlab.probabilities import Number, is_a, likeliest_ids, usable_logits
from gptlab.window import Model, Window, decoding_mode

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BeamStep:
    """The continuations that one step considered, likeliest first: the `width` likeliest of each open hypothesis."""

    parents: Int64[Tensor, " WK"]  # which of the hypotheses that the step before kept and left open
    tokens: Int64[Tensor, " WK"]
    log_probs: Float64[Tensor, " WK"]  # natural log, of all new tokens
    width: int
    stop_token: int | None

    @property
    def kept(self) -> Bool[Tensor, " WK"]:
        """Whether it is among the `width` likeliest of all."""
        return torch.arange(len(self.tokens)) < self.width

    @property
    def ended(self) -> Bool[Tensor, " WK"]:
        """Whether the token is the stop token: kept or not, nothing follows."""
        nothing = torch.zeros_like(self.tokens, dtype=torch.bool)
        return nothing if self.stop_token is None else self.tokens == self.stop_token


@dataclass(frozen=True)
class BeamNode:
    """A continuation in the tree; its parents, up to None for the prompt, are the tokens before it."""

    parent: int | None
    depth: int
    token: int
    log_prob: float
    kept: bool
    ended: bool


class BeamTree:
    """All continuations that a search considered, the kept and the dropped, for a picture of it.

    tree = BeamTree()
    beam_search(model, ids, 3, width=2, on_step=tree.grow)
    tree.nodes
    """

    def __init__(self) -> None:
        self.nodes: list[BeamNode] = []
        self._open: list[int | None] = [None]
        self._depth = 0

    def grow(self, step: BeamStep) -> None:
        """Take in one step: a node for each continuation, likeliest first."""
        before, self._open, self._depth = self._open, [], self._depth + 1
        columns = (step.parents, step.tokens, step.log_probs, step.kept, step.ended)
        for parent, token, log_prob, kept, ended in zip(*(column.tolist() for column in columns), strict=True):
            if kept and not ended:
                self._open.append(len(self.nodes))
            self.nodes.append(BeamNode(before[parent], self._depth, token, log_prob, kept, ended))


def beam_search(
    model: Model,
    ids: Tensor,
    max_new_tokens: int,
    width: Number,
    *,
    stop_token: int | None = None,
    length_penalty: Number = 0.0,
    cache: bool = True,
    precision: str = "float32",
    on_step: Callable[[BeamStep], object] | None = None,
    on_slide: Callable[[str], object] = _log.warning,
) -> list[tuple[Int64[Tensor, " T"], float]]:
    """The likeliest texts found, best first: (1,T) int64 ids to at most `width` pairs (ids with the prompt, log_prob).

    log_prob is the natural log of the new tokens' probability, their end mark included. Width 1 is `greedy`.
    A hypothesis that draws `stop_token` has ended: it frees its place for others, keeps its log_prob, and is ranked
    at last with those that ended elsewhere or were cut at max_new_tokens. Equal ones rank by hypothesis, then by id.

    Longer texts are less probable, so the plain ranking favours short ones. `length_penalty` α ranks the results
    by log_prob / n^α instead, n the number of new tokens, the end mark counted: with α = 1, an end at once of
    probability .45 has ln .45 / 1 = -.798508, a token of .55 and an end of .95 have ln(.55·.95) / 2 = -.324565.

    on_step is called with each `BeamStep`. The other options, and the bad input refused, as in `greedy`.
    """
    _refuse_bad_options(ids, width, length_penalty)
    refuse_bad_stop_token(stop_token)
    window = Window(model, ids, max_new_tokens, cache, precision, on_slide, rows=width)
    log_probs = torch.zeros(1, dtype=torch.float64)  # of the open hypotheses, which are the window's rows
    ended: list[tuple[Tensor, float]] = []

    def rank(hypothesis: tuple[Tensor, float]) -> float:
        text, log_prob = hypothesis
        return -log_prob / max(1, len(text) - ids.shape[1]) ** length_penalty

    with decoding_mode(model):
        for _ in range(max_new_tokens):
            step = _continue(log_probs, window.next_logits(), width, stop_token)
            if on_step is not None:
                on_step(step)
            if stop_token is not None:
                ended = sorted([*ended, *_ended(window.text, step)], key=rank)[:width]
            going_on = slice(width) if stop_token is None else (step.kept & ~step.ended).nonzero().flatten()
            window.select(step.parents[going_on])
            window.append(step.tokens[going_on])
            log_probs = step.log_probs[going_on]
            # An open hypothesis only loses probability, and its length helps it most at the very end.
            if not len(log_probs) or (
                len(ended) == width and rank(ended[-1]) <= -float(log_probs[0]) / max_new_tokens**length_penalty
            ):
                break
    still_open = zip(window.text.clone(), log_probs.tolist(), strict=True)
    return sorted([*ended, *still_open], key=rank)[:width]


def _continue(
    log_probs: Float64[Tensor, " W"], logits: Float[Tensor, "W V"], width: int, stop_token: int | None
) -> BeamStep:
    """Rank the `width` likeliest continuations of each open hypothesis against each other."""
    logits = usable_logits(logits)
    tokens = likeliest_ids(logits, min(width, logits.shape[1]))  # (W,K)
    token_log_probs = logits.double().log_softmax(-1).gather(-1, tokens)
    totals = (log_probs[:, None] + token_log_probs).flatten()
    log_probs, best = totals.sort(descending=True, stable=True)
    if log_probs[-1] == -torch.inf:  # what has probability 0 is no continuation
        best = best[log_probs > -torch.inf]
        log_probs = log_probs[: len(best)]
    return BeamStep(best // tokens.shape[1], tokens.take(best), log_probs, width, stop_token)


def _ended(text: Int64[Tensor, "W T"], step: BeamStep) -> list[tuple[Tensor, float]]:
    """The hypotheses that this step brought to their end, with the stop token."""
    return [
        (torch.cat([text[step.parents[i]], step.tokens[i, None]]), float(step.log_probs[i]))
        for i in (step.kept & step.ended).nonzero().flatten().tolist()
    ]


def _refuse_bad_options(ids: Tensor, width: Number, length_penalty: Number) -> None:
    if isinstance(ids, Tensor) and ids.ndim == 2 and len(ids) != 1:
        raise refuse("ids' shape", tuple(ids.shape), "(1, tokens): a beam search starts from one prompt")
    if not is_a(Integral, width) or width < 1:
        raise refuse("width", width, "a whole number of at least 1")
    if not is_a(Real, length_penalty) or not 0 <= length_penalty < inf:
        raise refuse("length_penalty", length_penalty, "a number of at least 0, which ranks by probability alone")
