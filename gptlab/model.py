"""The whole GPT, to be read downward: scores, pattern, attention, MLP, block, model.

Axes: B batch, T tokens that come in, S tokens that can be attended to (cached ones and T), V vocabulary,
L layers, H heads, d model width, dk = d / H width of a head. Vectors are rows: x W rather than W x.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import sqrt
from typing import Protocol, no_type_check, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from gptlab._refuse import refuse
from gptlab.config import GPTConfig

ACTIVATIONS = {"gelu": F.gelu, "gelu_tanh": partial(F.gelu, approximate="tanh"), "relu": F.relu}


@runtime_checkable
class KeysAndValues(Protocol):
    """What the model asks of a cache: how many tokens it holds, and to take in what comes new."""

    length: int

    def update(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append (B,H,T,dk) to the layer's keys and values; give back all of them, (B,H,S,dk)."""
        ...


def attention_scores(q: Float[Tensor, "*B T dk"], k: Float[Tensor, "*B S dk"]) -> Float[Tensor, "*B T S"]:
    """How well query i fits key j: q_i·k_j / √dk, before any mask (Vaswani et al. 2017, 3.2.1).

    Half types are multiplied in float32: a product of two of their numbers soon exceeds their range.
    """
    exact = torch.promote_types(q.dtype, torch.float32)
    return q.to(exact) @ k.to(exact).transpose(-2, -1) / sqrt(q.shape[-1])


def attention_pattern(
    scores: Float[Tensor, "*B T S"], mask: Bool[Tensor, "T S"] | None = None
) -> Float[Tensor, "*B T S"]:
    """Softmax of the scores over the keys that the mask lets through (True); rows sum to 1.

    A hidden key gets exactly 0. A row that hides every key is 0, as in torch's fused attention, never NaN.
    """
    if mask is None:
        return scores.softmax(-1)
    pattern = torch.where(mask, scores, float("-inf")).softmax(-1)
    return pattern if mask.any(-1).all() else pattern.masked_fill(~mask, 0.0)


def causal_mask(n_queries: int, n_keys: int, device: torch.device | None = None) -> Bool[Tensor, "T S"]:
    """True where a query may look: at keys not after it, when the last query is at the last key."""
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(n_keys - n_queries)


class CausalSelfAttention(nn.Module):
    """Heads side by side: Concat(softmax(Q_h K_hᵀ/√dk + M) V_h) W_O (Vaswani et al. 2017, 3.2.2).

    `fused` chooses between torch's one-step attention and the formula written out, which passes the named
    points q, k, v, scores, pattern and heads; tracing and interventions hook on to these.
    """

    def __init__(self, config: GPTConfig, layer: int) -> None:
        super().__init__()
        self.layer, self.n_heads, self.causal = layer, config.n_heads, config.causal
        self.fused = True
        self.qkv = nn.Linear(config.d_model, 3 * config.d_model, bias=config.bias)
        self.output = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.pattern_dropout = nn.Dropout(config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        for point in ("q", "k", "v", "scores", "pattern", "heads"):
            self.add_module(f"{point}_point", nn.Identity())

    def forward(self, x: Float[Tensor, "B T d"], cache: KeysAndValues | None = None) -> Float[Tensor, "B T d"]:
        B, T, d = x.shape
        q, k, v = (part.view(B, T, self.n_heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))  # (B,H,T,dk)
        if cache is not None:
            if not self.causal:
                raise refuse("cache", type(cache), "None where tokens see later ones: what is cached never saw them")
            k, v = cache.update(self.layer, k, v)
        z = self._fused(q, k, v) if self.fused else self._written_out(q, k, v)
        return self.dropout(self.output(z.transpose(1, 2).reshape(B, T, d)))

    def _fused(
        self, q: Float[Tensor, "B H T dk"], k: Float[Tensor, "B H S dk"], v: Float[Tensor, "B H S dk"]
    ) -> Float[Tensor, "B H T dk"]:
        T, S = q.shape[-2], k.shape[-2]
        # torch's is_causal puts the first query at the first key, which is wrong behind cached tokens.
        mask = causal_mask(T, S, q.device) if self.causal and 1 < T < S else None
        dropout = self.pattern_dropout.p if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=self.causal and T == S)

    def _written_out(
        self, q: Float[Tensor, "B H T dk"], k: Float[Tensor, "B H S dk"], v: Float[Tensor, "B H S dk"]
    ) -> Float[Tensor, "B H T dk"]:
        q, k, v = self.q_point(q), self.k_point(k), self.v_point(v)
        scores = self.scores_point(attention_scores(q, k))
        mask = causal_mask(q.shape[-2], k.shape[-2], q.device) if self.causal else None
        pattern = self.pattern_point(attention_pattern(scores, mask))
        return self.heads_point(self.pattern_dropout(pattern).to(v.dtype) @ v)


class MLP(nn.Module):
    """Each token by itself: widen, bend, narrow: activation(x W_up) W_down (Vaswani et al. 2017, 3.3)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        return self.dropout(self.down(self.activation(self.up(x))))


class Block(nn.Module):
    """Attention moves information between tokens, the MLP works on it; both add to what is there.

    pre-norm:  x += attention(norm(x)), x += mlp(norm(x))    (GPT-2: Radford et al. 2019, 2.3)
    post-norm: x = norm(x + attention(x)), x = norm(x + mlp(x))    (GPT-1: Radford et al. 2018)
    """

    def __init__(self, config: GPTConfig, layer: int) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.attention_norm = nn.LayerNorm(config.d_model, bias=config.bias)
        self.attention = CausalSelfAttention(config, layer)
        self.mlp_norm = nn.LayerNorm(config.d_model, bias=config.bias)
        self.mlp = MLP(config)

    def forward(self, x: Float[Tensor, "B T d"], cache: KeysAndValues | None = None) -> Float[Tensor, "B T d"]:
        if self.pre_norm:
            x = x + self.attention(self.attention_norm(x), cache)
            return x + self.mlp(self.mlp_norm(x))
        x = self.attention_norm(x + self.attention(x, cache))
        return self.mlp_norm(x + self.mlp(x))


class GPT(nn.Module):
    """Token ids to logits of the next token: embed, L blocks, unembed.

    Weights start as GPT-2's: normal with deviation 0.02, those that write into the residual stream divided by
    √(2L), biases 0, so that the first loss is near ln V. Randomness is torch's global generator.
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        if config.positions == "learned":
            self.position_embedding = nn.Parameter(torch.empty(config.context_length, config.d_model))
        else:
            table = sinusoidal_positions(config.context_length, config.d_model)
            self.register_buffer("position_embedding", table, persistent=False)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.n_layers))
        self.final_norm = nn.LayerNorm(config.d_model, bias=config.bias) if config.norm == "pre" else nn.Identity()
        self.unembedding = None if config.tie_weights else nn.Linear(config.d_model, config.vocab_size, bias=False)
        self._initialise()

    @no_type_check  # here and below, wrong ids are to meet the refusal of `check`, not a type checker's
    def forward(self, ids: Int64[Tensor, "B T"], cache: KeysAndValues | None = None) -> Float[Tensor, "B T V"]:
        """Logits of the token after each: (B,T) int64 ids to (B,T,V).

        With a cache, ids continue the tokens that it holds. ValueError for ids outside the vocabulary, of
        another type or shape, or reaching past the context length.
        """
        return self.unembed(self.hidden(ids, cache))

    @no_type_check
    def hidden(self, ids: Int64[Tensor, "B T"], cache: KeysAndValues | None = None) -> Float[Tensor, "B T d"]:
        """What stands before the unembedding (after the final norm, where there is one): (B,T,d)."""
        start = 0 if cache is None else cache.length
        self.check(ids, start)
        x = self._embed(ids, start)
        for block in self.blocks:
            x = block(x, cache)
        return self.final_norm(x)

    def unembed(self, hidden: Float[Tensor, "*B d"]) -> Float[Tensor, "*B V"]:
        """Logits from hidden vectors: inner products with each token's output vector."""
        return F.linear(hidden, self.output_vectors)

    @property
    def output_vectors(self) -> Float[Tensor, "V d"]:
        """What the model unembeds with: the token embedding itself, where they are tied."""
        return (self.token_embedding if self.unembedding is None else self.unembedding).weight

    @no_type_check
    def check(self, ids: Int64[Tensor, "B T"], start: int = 0) -> None:
        """Refuse ids that the model cannot take behind `start` tokens, with a ValueError that says what would do."""
        if not isinstance(ids, Tensor) or ids.dtype != torch.int64:
            raise refuse("ids' type", getattr(ids, "dtype", type(ids)), "a tensor of torch.int64")
        if ids.ndim != 2 or ids.numel() == 0:
            raise refuse("ids' shape", tuple(ids.shape), "(batch, tokens), with at least one of each")
        if start + ids.shape[1] > self.config.context_length:
            behind = f", {start} cached tokens included" if start else ""
            what = f"at most the model's context_length of {self.config.context_length}{behind}"
            raise refuse("the number of tokens", start + ids.shape[1], what)
        low, high = torch.aminmax(ids)
        if low < 0 or high >= self.config.vocab_size:
            row, place = ((ids < 0) | (ids >= self.config.vocab_size)).nonzero()[0].tolist()
            would_do = f"a token id from 0 to {self.config.vocab_size - 1}, the model's vocabulary"
            raise refuse(f"ids[{row}, {place}]", int(ids[row, place]), would_do)

    def _embed(self, ids: Int64[Tensor, "B T"], start: int) -> Float[Tensor, "B T d"]:
        positions = self.position_embedding[start : start + ids.shape[1]]
        return self.dropout(self.token_embedding(ids) + positions)

    def _initialise(self) -> None:
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif "norm" not in name:
                writes_residual = name.endswith(("attention.output.weight", "mlp.down.weight"))
                nn.init.normal_(parameter, std=0.02 / (sqrt(2 * self.config.n_layers) if writes_residual else 1.0))


def sinusoidal_positions(n_positions: int, d_model: int) -> Float[Tensor, "T d"]:
    """Row t holds sin(t/10000^(2i/d)) at 2i and the cosine of the same at 2i+1 (Vaswani et al. 2017, 3.5)."""
    dimension = torch.arange(d_model, dtype=torch.float64)
    frequency = 10_000.0 ** (-(dimension - dimension % 2) / d_model)
    angle = torch.arange(n_positions, dtype=torch.float64)[:, None] * frequency
    return torch.where(dimension % 2 == 0, angle.sin(), angle.cos()).to(torch.get_default_dtype())


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Dropout off inside the block; afterwards each module is in the mode it was found in."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True
