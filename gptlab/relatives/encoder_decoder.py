"""An encoder and a decoder that reads it: the transformer as it was first made, for translation.

The encoder is our GPT without the mask: every token of the source sees every other. The decoder is our GPT with one
more sublayer in each block, whose queries come from the target so far and whose keys and values come from the encoder
(Vaswani et al. 2017, sections 3.1 and 3.2.3; there with post-norm, here with pre-norm as in GPT-2).

Axes: B batch, S tokens of the source, T tokens of the target, V vocabulary of the target, L layers, H heads, d model
width, dk = d / H width of a head. Rows of a batch have sources of one length: an encoder would look at padding too.
"""

from typing import no_type_check

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.config import GPTConfig
from gptlab.model import GPT, Block, attention_pattern, attention_scores, evaluation_mode


class CrossAttention(nn.Module):
    """Heads whose queries and whose keys and values come from two texts: softmax(Q Kᵀ/√dk) V, with Q = xW_Q from the
    target and K = mW_K, V = mW_V from the encoder's memory m (Vaswani et al. 2017, 3.2.3). Nothing of it is masked:
    the whole source is there before the first word of the target. `pattern_point` passes the weights by.
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.q = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.kv = nn.Linear(config.d_model, 2 * config.d_model, bias=config.bias)
        self.output = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.pattern_point = nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Float[Tensor, "B T d"], memory: Float[Tensor, "B S d"]) -> Float[Tensor, "B T d"]:
        (B, T, d), S = x.shape, memory.shape[1]
        q = self.q(x).view(B, T, self.n_heads, -1).transpose(1, 2)  # (B,H,T,dk)
        k, v = self.kv(memory).view(B, S, 2, self.n_heads, -1).permute(2, 0, 3, 1, 4)  # each (B,H,S,dk)
        z = self.pattern_point(attention_pattern(attention_scores(q, k))) @ v
        return self.dropout(self.output(z.transpose(1, 2).reshape(B, T, d)))


class DecoderBlock(Block):
    """Look back at the target, look across at the source, work on it; each adds to what is there."""

    def __init__(self, config: GPTConfig, layer: int) -> None:
        super().__init__(config, layer)
        self.cross_norm = nn.LayerNorm(config.d_model, bias=config.bias)
        self.cross_attention = CrossAttention(config)

    def forward(self, x: Float[Tensor, "B T d"], memory: Float[Tensor, "B S d"]) -> Float[Tensor, "B T d"]:
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return x + self.mlp(self.mlp_norm(x))


class Decoder(GPT):
    """A GPT whose blocks also read an encoder's memory."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.blocks = nn.ModuleList(DecoderBlock(config, layer) for layer in range(config.n_layers))
        self._initialise()

    @no_type_check  # wrong ids are to meet the refusal of `check`
    def forward(self, ids: Int64[Tensor, "B T"], memory: Float[Tensor, "B S d"]) -> Float[Tensor, "B T V"]:
        """Logits of the token after each, given the memory of the source."""
        self.check(ids)
        x = self._embed(ids, 0)
        for block in self.blocks:
            x = block(x, memory)
        return self.unembed(self.final_norm(x))


class EncoderDecoder(nn.Module):
    """Source ids and the target so far to logits of the target's next token.

    `source` and `target` configure the two halves: pre-norm, of one width, the first with causal=False, the second
    with causal=True; ValueError otherwise. Weights start as a GPT's.
    """

    def __init__(self, source: GPTConfig, target: GPTConfig) -> None:
        super().__init__()
        if source.causal:
            raise refuse("source.causal", True, "False: an encoder sees both ways")
        if not target.causal:
            raise refuse("target.causal", False, "True: a decoder that saw later words would read its own answer")
        if source.d_model != target.d_model:
            raise refuse("target.d_model", target.d_model, f"the source's, {source.d_model}")
        for name, config in (("source.norm", source), ("target.norm", target)):
            if config.norm != "pre":
                raise refuse(name, config.norm, "'pre'")
        self.encoder = GPT(source)
        self.decoder = Decoder(target)

    @no_type_check
    def forward(self, source: Int64[Tensor, "B S"], target: Int64[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits (B,T,V): the one at t is of the target's token t+1. ValueError for ids that do not fit."""
        return self.decode(self.encode(source), target)

    @no_type_check
    def encode(self, source: Int64[Tensor, "B S"]) -> Float[Tensor, "B S d"]:
        """The memory: a vector for each token of the source, made once, however long the target becomes."""
        return self.encoder.hidden(source)

    @no_type_check
    def decode(self, memory: Float[Tensor, "B S d"], target: Int64[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the token after each of the target's, given the memory."""
        if len(memory) != len(target):
            raise refuse("the number of targets", len(target), f"that of the sources, {len(memory)}")
        return self.decoder(target, memory)


@no_type_check
def cross_attention(
    model: EncoderDecoder, source: Int64[Tensor, "B S"], target: Int64[Tensor, "B T"]
) -> Float[Tensor, "L B H T S"]:
    """Where each position of the target looks in the source: for each layer and head, rows that sum to 1.

    Row t is the look from which token t+1 of the target is told.
    """
    seen: list[Tensor] = []
    hooks = [
        block.cross_attention.pattern_point.register_forward_hook(lambda point, given, weights: seen.append(weights))
        for block in model.decoder.blocks
    ]
    try:
        with torch.no_grad(), evaluation_mode(model):
            model(source, target)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(seen)


@torch.no_grad()
@no_type_check
def greedy_translation(
    model: EncoderDecoder, source: Int64[Tensor, "B S"], *, end: int, max_tokens: int | None = None
) -> Int64[Tensor, "B T"]:
    """The likeliest token at each step, from `end` at the start until each row has told `end` again.

    Gives (B,T) ids with `end` at the start and behind each translation; T is at most `max_tokens`, the decoder's
    context if None. ValueError for a limit out of range.
    """
    longest = model.decoder.config.context_length
    max_tokens = longest if max_tokens is None else max_tokens
    if not 1 <= max_tokens <= longest:
        raise refuse("max_tokens", max_tokens, f"from 1 to the decoder's context, {longest}, or None")
    with evaluation_mode(model):
        memory = model.encode(source)
        target = torch.full((len(source), 1), end)
        ended = torch.zeros(len(source), dtype=torch.bool)
        while target.shape[1] < max_tokens and not ended.all():
            told = model.decode(memory, target)[:, -1].argmax(-1)
            told[ended] = end
            target = torch.cat([target, told[:, None]], 1)
            ended |= told == end
    return target
