"""What a GPT computed on the way, and what it would compute if something in it were otherwise.

The model's attention passes its q, k, v, scores, pattern and heads through named points whenever its formula is
written out (`fused` off); here torch's forward hooks read and change what goes by.
Axes: L layers, B batch, H heads, T tokens, S keys (T without a cache), V vocabulary, d model width, dk head width.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import product
from typing import no_type_check

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.config import GPTConfig
from gptlab.model import GPT, evaluation_mode


class Trace:
    """The intermediate results of one forward pass; a name that was not kept raises AttributeError.

    attention  (L,B,H,T,T)   the pattern after softmax: row i is how token i spreads its look over tokens j
    scores     (L,B,H,T,T)   q_i·k_j / √dk, before the mask
    q, k, v    (L,B,H,T,dk)  queries, keys, values
    residual   (L+1,B,T,d)   [l] enters block l, [L] stands before the final norm (or is the last, without one)
    mlp        (L,B,T,d)     what each MLP gives, before it is added to the residual
    logits     (B,T,V)
    """

    attention: Float[Tensor, "L B H T T"]
    scores: Float[Tensor, "L B H T T"]
    q: Float[Tensor, "L B H T dk"]
    k: Float[Tensor, "L B H T dk"]
    v: Float[Tensor, "L B H T dk"]
    residual: Float[Tensor, "L+1 B T d"]
    mlp: Float[Tensor, "L B T d"]
    logits: Float[Tensor, "B T V"]

    def __init__(self, kept: dict[str, Tensor]) -> None:
        self.__dict__.update(kept)

    def __getattr__(self, name: str) -> Tensor:
        raise AttributeError(f"this trace kept {', '.join(sorted(vars(self)))}, not {name}")

    def __repr__(self) -> str:
        return "Trace(" + ", ".join(f"{name} {tuple(kept.shape)}" for name, kept in vars(self).items()) + ")"


PARTS = tuple(Trace.__annotations__)


@no_type_check  # wrong ids are to meet the model's refusal, not a type checker's
def trace(
    model: GPT, ids: Int64[Tensor, "B T"], keep: Collection[str] | None = None, *, max_bytes: int = 2**30
) -> Trace:
    """Run the model on ids (B,T) and keep what it computed on the way; see `Trace` for names and shapes.

    keep: the names wanted, all of them if None; the pass ends where nothing more is wanted. Attention is the formula
    written out, dropout is off, no gradient is recorded, and the model is afterwards in the mode it was in. A trace
    above max_bytes is refused before anything is computed (`trace_bytes` says what it takes): a ValueError, as for
    unknown names and for ids the model refuses.
    """
    model.check(ids)
    size = trace_bytes(model.config, *ids.shape, keep)
    if size > max_bytes:
        raise refuse("the trace's size in bytes", size, f"at most max_bytes = {max_bytes}; keep fewer parts of it")
    kept: dict[str, Tensor] = {}
    with ExitStack() as stack, torch.no_grad():
        stack.enter_context(evaluation_mode(model))
        stack.enter_context(_attention_set(model, "fused", False))
        for handle in _capture(model, _parts(keep), kept):
            stack.callback(handle.remove)
        stack.enter_context(suppress(_AllKept))
        model(ids)
    return Trace(kept)


def trace_bytes(config: GPTConfig, batch: int, tokens: int, keep: Collection[str] | None = None) -> int:
    """Memory that a trace holds, at 4 bytes a number: for the attention of GPT-2 at 1,024 tokens, 604 MB."""
    square = config.n_layers * batch * config.n_heads * tokens**2
    stream = batch * tokens * config.d_model
    numbers = dict.fromkeys(("q", "k", "v", "mlp"), config.n_layers * stream)
    numbers |= {"attention": square, "scores": square, "residual": (config.n_layers + 1) * stream}
    numbers |= {"logits": batch * tokens * config.vocab_size}
    return 4 * sum(numbers[name] for name in _parts(keep))


@contextmanager
def intervene(
    model: GPT,
    *,
    heads: Collection[tuple[int, int]] = (),
    pattern: Callable[[int, Tensor], Tensor] | None = None,
    mask: bool = True,
) -> Iterator[None]:
    """Compute otherwise inside the `with` block, whatever calls the model; blocks nest, and end also by exception.

    heads: pairs (layer, head) whose output, before W_O, is set to 0; the bias of W_O stays.
    pattern: called as pattern(layer, weights) with the softmaxed weights (B,H,T,S); what it gives takes their place
    as it is, not scaled anew. Behind a cache, T counts the new tokens only.
    mask: False lets every token see the later ones; the model then refuses a cache.
    ValueError for a head that does not exist and for a pattern of another shape.
    """
    _check_heads(model.config, heads)
    with ExitStack() as stack:
        stack.enter_context(_attention_set(model, "fused", False))
        if not mask:
            stack.enter_context(_attention_set(model, "causal", False))
        for layer, block in enumerate(model.blocks):
            if pattern is not None:
                hook = block.attention.pattern_point.register_forward_hook(_replace_by(pattern, layer))
                stack.callback(hook.remove)
            silent = [head for in_layer, head in heads if in_layer == layer]
            if silent:
                hook = block.attention.heads_point.register_forward_hook(_silence(silent))
                stack.callback(hook.remove)
        yield


def _parts(keep: Collection[str] | None) -> Collection[str]:
    if keep is None:
        return PARTS
    if isinstance(keep, str) or not set(keep) <= set(PARTS):
        raise refuse("keep", keep, "None or a set of names among " + ", ".join(PARTS))
    return [name for name in PARTS if name in keep]


class _AllKept(Exception):
    """Raised inside a forward pass when nothing that is still to come was asked for."""


def _capture(
    model: GPT, names: Collection[str], kept: dict[str, Tensor]
) -> Iterator[torch.utils.hooks.RemovableHandle]:
    """Copy what passes the points of these names to kept, one layer behind the other; after the last, `_AllKept`."""
    points = {name: _points(model, name) for name in names}
    awaited = sum(map(len, points.values()))

    def store(name: str, layer: int, passing: Tensor) -> None:
        nonlocal awaited
        if name == "logits":
            kept[name] = passing
        else:
            # One tensor for all layers from the start: stacking them at the end would hold everything twice.
            if name not in kept:
                kept[name] = passing.new_empty(len(points[name]), *passing.shape)
            kept[name][layer] = passing
        awaited -= 1
        if not awaited:
            raise _AllKept

    for name, layers in points.items():
        for layer, point in enumerate(layers):
            at = partial(store, name, layer)
            if name == "residual":
                yield point.register_forward_pre_hook(lambda module, args, at=at: at(args[0]))
            else:
                yield point.register_forward_hook(lambda module, args, output, at=at: at(output))


def _points(model: GPT, name: str) -> list[nn.Module]:
    """The modules that a part passes, layer by layer."""
    if name == "logits":
        return [model]
    if name == "residual":
        return [*model.blocks, model.final_norm]
    if name == "mlp":
        return [block.mlp for block in model.blocks]
    point = "pattern_point" if name == "attention" else f"{name}_point"
    return [getattr(block.attention, point) for block in model.blocks]


@contextmanager
def _attention_set(model: GPT, name: str, value: bool) -> Iterator[None]:
    """Each attention's setting of that name, for a while."""
    before = [getattr(block.attention, name) for block in model.blocks]
    try:
        for block in model.blocks:
            setattr(block.attention, name, value)
        yield
    finally:
        for block, old in zip(model.blocks, before, strict=True):
            setattr(block.attention, name, old)


def _check_heads(config: GPTConfig, heads: Collection[tuple[int, int]]) -> None:
    there_are = list(product(range(config.n_layers), range(config.n_heads)))
    for pair in heads:
        if pair not in there_are:
            raise refuse("a pair in heads", pair, f"(layer, head), from (0, 0) to {there_are[-1]} in this model")


def _silence(heads: list[int]) -> Callable[[nn.Module, tuple, Tensor], Tensor]:
    def hook(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
        return output.index_fill(1, torch.tensor(heads, device=output.device), 0.0)

    return hook


def _replace_by(pattern: Callable[[int, Tensor], Tensor], layer: int) -> Callable[[nn.Module, tuple, Tensor], Tensor]:
    def hook(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
        edited = pattern(layer, output)
        if not isinstance(edited, Tensor) or edited.shape != output.shape:
            given = tuple(edited.shape) if isinstance(edited, Tensor) else edited
            raise refuse("the shape of what pattern gave", given, f"{tuple(output.shape)}, as it was")
        return edited

    return hook
