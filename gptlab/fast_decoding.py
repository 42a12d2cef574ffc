"""One more token, in few operations: what `model(ids, cache)` computes in the case that decoding repeats.

With one new token a row, a small model's arithmetic takes less time than the calls of its modules, and a larger one
waits for its weights to come from memory. So the pass of model.py stands here once more without modules, and each
matrix is multiplied in whichever way a short trial finds the fastest on this machine. A model that is hooked or
changed in any way is not taken: there decoding calls the model itself.

Axes: B batch, S tokens so far with the new one, V vocabulary, H heads, d model width, dk head width.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from statistics import median
from time import perf_counter

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.module import _has_any_global_hook

from gptlab.cache import Cache
from gptlab.model import GPT, MLP, Block, CausalSelfAttention

Matrix = tuple[Tensor, Tensor | None]  # a weight (outputs,inputs) and its bias
Product = Callable[[Tensor], Tensor]  # (B,inputs) → (B,outputs)
Way = Callable[[Tensor, Tensor | None], Product]

AS_BUILT = {GPT, Block, CausalSelfAttention, MLP}
AS_BUILT |= {nn.ModuleList, nn.Embedding, nn.Linear, nn.LayerNorm, nn.Dropout, nn.Identity}
TINY = 4_000_000  # parameters: a core's own memory holds them, and sharing them out costs more than it brings
WORTH_COPYING = 16  # tokens to come; for fewer, copying weights takes longer than it saves
MOST_COPIED = 256 * 2**20  # bytes, beside the model's own

_fastest: dict[tuple, dict[torch.Size, Way]] = {}  # what the trials have found


class OneMore:
    """The logits behind one more token a row: `step(tokens)`, when the model has read all before into `cache`.

    The first of n_steps is near; where many are to come and memory allows, weights are copied into a faster layout, as
    they are at this moment. `halve` lets matrices be read in bfloat16 where that is faster; all else stays float32.
    """

    def __init__(self, model: GPT, cache: Cache, rows: int, n_steps: int, halve: bool) -> None:
        self.cache, self._attentions = cache, [block.attention for block in model.blocks]
        self._hooks = [hooks for m in model.modules() for hooks in (m._forward_hooks, m._forward_pre_hooks)]
        self._tokens, self._positions = model.token_embedding.weight, model.position_embedding
        linears = [linear for block in model.blocks for linear in _linears(block)]
        matrices = [*((linear.weight, linear.bias) for linear in linears), (model.output_vectors, None)]
        *products, self._unembed = _products(matrices, rows, _ways(model, rows, n_steps, halve))
        self._layers = [_Layer(block, products[4 * i : 4 * i + 4]) for i, block in enumerate(model.blocks)]
        self._final_norm = _norm(model.final_norm)

    @staticmethod
    def takes(model: object) -> bool:
        """Whether it is a GPT as model.py builds it, no part of it exchanged, in float32 on the processor."""
        return (
            type(model) is GPT
            and all(type(module) in AS_BUILT and "forward" not in vars(module) for module in model.modules())
            and all(p.dtype == torch.float32 and p.device.type == "cpu" for p in model.parameters())
        )

    def stands_for(self) -> bool:
        """Whether a call of the model would do just what this does: nothing is hooked now, attention is as usual."""
        hooked = _has_any_global_hook() or any(self._hooks)
        return not hooked and all(attention.fused and attention.causal for attention in self._attentions)

    @torch.inference_mode()
    def __call__(self, tokens: Int64[Tensor, " B"]) -> Float[Tensor, "B V"]:
        x = self._tokens.index_select(0, tokens) + self._positions[self.cache.length]
        for layer, room in zip(self._layers, self.cache.room_for_one(), strict=True):
            x = layer(x, *room)
        self.cache.length += 1
        return self._unembed(self._final_norm(x))


class _Layer:
    """What `Block` computes of one token a row, (B,d) to (B,d)."""

    def __init__(self, block: Block, products: list[Product]) -> None:
        self.pre_norm = block.pre_norm
        self.attention_norm, self.mlp_norm = _norm(block.attention_norm), _norm(block.mlp_norm)
        self.qkv, self.output, self.up, self.down = products
        self.activation = block.mlp.activation

    def __call__(self, x: Tensor, place: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        if self.pre_norm:
            x += self._attention(self.attention_norm(x), place, keys, values)
            return x.add_(self._mlp(self.mlp_norm(x)))
        x = self.attention_norm(x + self._attention(x, place, keys, values))
        return self.mlp_norm(x + self._mlp(x))

    def _attention(self, x: Tensor, place: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        B, H, _, dk = keys.shape
        qkv = self.qkv(x).view(B, 3 * H, 1, dk)
        place.copy_(qkv.narrow(1, H, 2 * H))
        return self.output(F.scaled_dot_product_attention(qkv.narrow(1, 0, H), keys, values).view(B, H * dk))

    def _mlp(self, x: Tensor) -> Tensor:
        return self.down(self.activation(self.up(x)))


@contextmanager
def suitable_threads(model: object) -> Iterator[None]:
    """One thread for a tiny model inside the block: two that wait for each other on a busy machine take far longer."""
    before = torch.get_num_threads()
    if isinstance(model, GPT) and _size(model) < TINY:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _size(model: GPT) -> int:
    return model.config.parameter_count()["total"]


def _linears(block: Block) -> tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear]:
    return block.attention.qkv, block.attention.output, block.mlp.up, block.mlp.down


def _norm(norm: nn.LayerNorm | nn.Identity) -> Callable[[Tensor], Tensor]:
    if isinstance(norm, nn.Identity):
        return norm
    shape, weight, bias, eps = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def _ways(model: GPT, rows: int, n_steps: int, halve: bool) -> list[Way]:
    """The ways to multiply by this model's matrices that come into question."""
    size, ways = _size(model), [_as_it_is]
    if size < TINY:
        return ways
    if rows == 1 and torch.get_num_threads() > 1:
        ways.append(_shared_out)
    if rows > 1 and n_steps >= WORTH_COPYING and 4 * size <= MOST_COPIED:
        ways.append(_packed)
    if halve and n_steps >= WORTH_COPYING and 2 * size <= MOST_COPIED:
        ways.append(_halved)
    return ways


def _products(matrices: list[Matrix], rows: int, ways: list[Way]) -> list[Product]:
    """Multiplication by each matrix in the way that is the fastest for its shape, by a trial once in a process."""
    if len(ways) == 1:
        return [ways[0](*matrix) for matrix in matrices]
    case = (*(weight.shape for weight, _ in matrices), rows, torch.get_num_threads(), *ways)
    if case not in _fastest:
        taken = {way: _seconds(way, matrices, rows) for way in ways}
        _fastest[case] = {weight.shape: min(ways, key=lambda way: taken[way][weight.shape]) for weight, _ in matrices}
    return [_fastest[case][weight.shape](weight, bias) for weight, bias in matrices]


@torch.inference_mode()
def _seconds(way: Way, matrices: list[Matrix], rows: int) -> dict[torch.Size, float]:
    """The median time of each shape; endless where this machine cannot go that way.

    Twice through all matrices, as for two tokens: so weights come from where they come from in earnest, which for most
    models is not the processor's own memory.
    """
    taken = defaultdict(list)
    try:
        products = [way(*matrix) for matrix in matrices]
        for (weight, _), product in 2 * list(zip(matrices, products, strict=True)):
            x = weight.new_zeros(rows, weight.shape[1])
            began = perf_counter()
            product(x)
            taken[weight.shape].append(perf_counter() - began)
    except (RuntimeError, AttributeError):
        return defaultdict(lambda: inf)
    return {shape: median(seconds) for shape, seconds in taken.items()}


def _as_it_is(weight: Tensor, bias: Tensor | None) -> Product:
    return lambda x: F.linear(x, weight, bias)


def _shared_out(weight: Tensor, bias: Tensor | None) -> Product:
    """A part of the outputs to each thread; for a single row the library leaves all to one."""
    outputs, inputs = weight.shape
    n_parts = next((n for n in range(torch.get_num_threads(), 64) if outputs % n == 0), 1)
    parts = weight.view(n_parts, outputs // n_parts, inputs).transpose(1, 2)

    def product(x: Tensor) -> Tensor:
        y = torch.bmm(x.expand(n_parts, 1, inputs), parts).view(1, outputs)
        return y if bias is None else y.add_(bias)

    return product


def _packed(weight: Tensor, bias: Tensor | None) -> Product:
    """In the blocks that oneDNN's kernels read."""
    packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
    return lambda x: torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")


def _halved(weight: Tensor, bias: Tensor | None) -> Product:
    product = _packed(weight.bfloat16(), None if bias is None else bias.bfloat16())
    return lambda x: product(x.bfloat16()).float()
