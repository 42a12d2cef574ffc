"""Attention as it comes, whatever computed it, made one array.

    an array                        (T,S) of one head, or (L,H,T,S)
    a list with an item a layer     of (1,H,T,S) each, as `transformers` keeps them, or of (H,T,S)
    an output of `transformers`     whose fields, named in `PARTS`, hold such tuples
    a trace of gptlab               whose `attention` is (L,1,H,T,S)

They are told apart by their attributes, so that nobody's library has to be there.
Axes: L layers, B texts in a batch, of which there must be one, H heads, T queries, S keys.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gptlab._refuse import refuse
from gptlab.figures._canvas import as_array

# What `part` says → the field of an output: models with an encoder and a decoder have three kinds of attention.
PARTS = {
    "self": "attentions",
    "encoder": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}
NOT_KEPT = "kept by the model: call it with output_attentions=True, loaded with attn_implementation='eager'"
KINDS = (
    "numbers (tokens, keys) or (layers, heads, tokens, keys), a model's output with attentions, or a trace with them"
)


def attention_of(weights: Any, part: str | None = None) -> np.ndarray:
    """The weights as numbers, (T,S) or (L,H,T,S) unless an array of another shape was given.

    part: which attention of an output, one of `PARTS`; None where it holds one alone. ValueError, naming it, for
    attention that a model did not keep, for layers of different shapes, and for more than one text.
    """
    if any(hasattr(weights, field) for field in PARTS.values()):
        weights = _chosen(weights, part)
    elif part is not None:
        raise refuse("part", part, "None: only the output of a model has several parts")
    elif hasattr(weights, "attention"):
        return _of_one_text(as_array(weights.attention))
    if isinstance(weights, Sequence) and len(weights) and all(hasattr(layer, "ndim") for layer in weights):
        return _stacked([as_array(layer) for layer in weights])
    if isinstance(weights, Sequence) and any(_is_a_step(step) for step in weights):
        raise refuse("weights", f"a tuple of {len(weights)} tuples", "of one step of generate: weights[0]")
    try:
        array = as_array(weights)
    except (TypeError, ValueError, RuntimeError) as reason:
        raise refuse("weights", weights, KINDS) from reason
    if array.dtype.kind not in "fiub":
        raise refuse("weights", weights, KINDS)
    return array.astype(np.float32) if array.dtype.kind == "b" else array


def _chosen(output: Any, part: str | None) -> Sequence[Any]:
    """One attention of an output: a tuple with an item a layer."""
    fields = {name: getattr(output, field, None) for name, field in PARTS.items()}
    kept = {name: layers for name, layers in fields.items() if layers and all(layer is not None for layer in layers)}
    if not kept:
        raise refuse("the attention in weights", None, NOT_KEPT)
    if part not in kept and not (part is None and len(kept) == 1):
        raise refuse("part", part, f"{' or '.join(map(repr, kept))}, which this output holds")
    return kept[part] if part is not None else next(iter(kept.values()))


def _stacked(layers: list[np.ndarray]) -> np.ndarray:
    shapes = sorted({layer.shape for layer in layers})
    if len(shapes) > 1:
        raise refuse("the shapes of the layers", shapes, "one and the same")
    stacked = np.stack(layers)
    return _of_one_text(stacked) if stacked.ndim == 5 else stacked


def _of_one_text(weights: np.ndarray) -> np.ndarray:
    if weights.ndim != 5:
        raise refuse("the shape of the attention", weights.shape, "(layers, texts, heads, tokens, keys)")
    if weights.shape[1] != 1:
        raise refuse("the number of texts in weights", weights.shape[1], "1: let the model read one text alone")
    return weights[:, 0]


def _is_a_step(step: Any) -> bool:
    """Whether it is one step of generate: a tuple with a (B,H,T,S) a layer."""
    return isinstance(step, Sequence) and any(getattr(layer, "ndim", 0) == 4 for layer in step)
