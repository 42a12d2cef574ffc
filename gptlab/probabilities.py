"""From logits to the probabilities of the next token: temperature, then top-k, then top-p.

Axes: B batch (any axes, or none), V vocabulary.
"""

from math import isfinite
from numbers import Integral, Real

import torch
from jaxtyping import Float, Int64, Num
from torch import Tensor, nn

from gptlab._refuse import refuse

Number = int | float

# A mass that misses top_p by no more than rounding does has reached it: .4 + .3 reaches .7.
ROUNDING = 1e-6


def next_token_probabilities(
    logits: Num[Tensor, "..."],
    temperature: Number = 1.0,
    top_k: Number | None = None,
    top_p: Number | None = None,
) -> Float[Tensor, "*B V"]:
    """Softmax of logits / temperature, cut to the top_k likeliest tokens, then to the nucleus of mass top_p.

    In this order, each step's result summing to 1 again: (…,V) to (…,V), in float32 or, from float64, float64.

    - temperature 0 is its limit, the likeliest token alone (as `greedy`); inf is uniform over the top_k.
    - top_k (Fan et al. 2018, section 5.3): None keeps every token, as does a number of V or more.
    - top_p (Holtzman et al. 2020, section 3.1): the smallest set of likeliest tokens whose mass reaches top_p, at
      least one token; None or 1 keeps every token and changes no bit.
    - Equal logits rank by id, the lowest first. A logit of +inf takes all, several share; -inf is never drawn.

    ValueError for a temperature below 0, a top_k below 1, a top_p outside (0, 1], NaN anywhere, and a row that is
    -inf throughout.
    """
    refuse_bad_shaping(temperature, top_k, top_p)
    logits = usable_logits(logits)
    if temperature == 0:
        return nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    return shaped(logits, temperature, top_k, top_p)


def shaped(
    logits: Float[Tensor, "*B V"], temperature: Number, top_k: Number | None, top_p: Number | None
) -> Float[Tensor, "*B V"]:
    """`next_token_probabilities` above temperature 0, nothing checked: of rows that `usable_logits` changes NaN."""
    n_tokens = logits.shape[-1]
    scaled = logits if temperature == 1 else _divided(logits - logits.amax(-1, keepdim=True), temperature)
    n_kept = n_tokens if top_k is None else min(top_k, n_tokens)
    if n_kept == n_tokens and top_p in (None, 1):
        return scaled.softmax(-1)
    # Ranked before scaling: no temperature changes the order, but rounding may merge what it scales.
    ids = likeliest_ids(logits, n_kept)
    ranked = scaled.gather(-1, ids).softmax(-1)
    if top_p is not None and top_p < 1:
        mass_before = ranked.double().cumsum(-1) - ranked
        ranked = ranked.where(mass_before < top_p * (1 - ROUNDING), 0.0)
        ranked = ranked / ranked.sum(-1, keepdim=True)
    return torch.zeros_like(scaled).scatter(-1, ids, ranked)


def drawn(probabilities: Float[Tensor, "B V"], numbers: Float[Tensor, "B 1"]) -> Int64[Tensor, " B"] | None:
    """A token for each row: the one in whose part of [0, 1) its number falls, a double. None where NaN is among them.

    The parts lie side by side in the order of the ids, each as wide as its probability; so a token without any is never
    drawn. Doubles keep them apart, and a row whose sum rounding has left beside 1 is its own measure.
    """
    ends = probabilities.cumsum(-1, dtype=torch.float64)
    places = numbers.to(ends.device) * ends.narrow(1, -1, 1)
    if not isfinite(places if places.numel() == 1 else places.sum()):
        return None
    return torch.searchsorted(ends, places, right=True).flatten()


def _divided(logits: Float[Tensor, "*B V"], temperature: Number) -> Float[Tensor, "*B V"]:
    """Within the type's range no division makes NaN of 0/0 or inf/inf, and its ends are as good as 0 and inf."""
    limits = torch.finfo(logits.dtype)
    return logits / min(max(temperature, limits.tiny), limits.max)


def likeliest_ids(logits: Float[Tensor, "*B V"], n: int) -> Int64[Tensor, "*B n"]:
    """The ids of the n largest logits, n at most V, the largest first; of equal ones the lowest id first."""
    if n < logits.shape[-1]:
        # Many times faster than sorting them all, but it orders equal ones as it likes.
        values, ids = logits.topk(n + 1)
        if (values[..., :-1] > values[..., 1:]).all():
            return ids[..., :-1]
    return logits.argsort(dim=-1, descending=True, stable=True)[..., :n]


def usable_logits(logits: Num[Tensor, "..."]) -> Float[Tensor, "*B V"]:
    """The logits in float32 or float64, +inf and what it beats as 0 and -inf: each row's maximum is finite.

    ValueError, naming the place, for NaN and for a row that is -inf throughout: softmax has no answer there.
    """
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise refuse("logits' shape", tuple(logits.shape), "(…, vocabulary), with at least one token")
    logits = in_full(logits)
    highest = logits.amax(-1, keepdim=True)
    if isfinite(highest if highest.numel() == 1 else highest.sum()):  # fewer operations than asking each
        return logits
    unusable = ~(highest > -torch.inf)  # NaN, the maximum of a row that holds one, is not above it either
    if unusable.any():
        _refuse_row(logits, tuple(unusable.nonzero()[0, :-1].tolist()))
    shared_by = torch.where(logits == torch.inf, 0.0, -torch.inf)
    return logits.where(highest < torch.inf, shared_by)


def in_full(logits: Num[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The same in float32, or as they are in float32 and float64."""
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()


def _refuse_row(logits: Float[Tensor, "*B V"], row: tuple[int, ...]) -> None:
    if logits[row].isnan().any():
        place = (*row, int(logits[row].isnan().nonzero()[0]))
        would_do = "a number: look for NaN in the weights, or in the loss that trained them"
        raise refuse(f"logits{list(place)}", float("nan"), would_do)
    raise refuse(f"logits{list(row) if row else ''}", "-inf throughout", "above -inf somewhere: no token is left")


def refuse_bad_shaping(temperature: Number, top_k: Number | None, top_p: Number | None) -> None:
    """ValueError unless they are what `next_token_probabilities` takes."""
    if not is_a(Real, temperature) or not temperature >= 0:
        raise refuse("temperature", temperature, "a number of at least 0, which is greedy")
    if top_k is not None and (not is_a(Integral, top_k) or top_k < 1):
        raise refuse("top_k", top_k, "a whole number of at least 1, or None to keep every token")
    if top_p is not None and not (is_a(Real, top_p) and 0 < top_p <= 1):
        raise refuse("top_p", top_p, "a probability above 0 and at most 1, or None to keep every token")


def is_a(kind: type, value: object) -> bool:
    """Whether it is a number of that kind; True and False, which Python counts as integers, are not."""
    return isinstance(value, kind) and not isinstance(value, bool)
