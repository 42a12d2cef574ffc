"""A GPT whose tokens look back over a window: a text of T tokens costs T·w, and T may be as large as one likes.

Each layer looks w − 1 tokens back, so L layers reach L·(w − 1) (Beltagy et al. 2020, section 3.1).
Axes: B batch, H heads, T tokens, dk head width, N blocks of w tokens, w tokens a window.
"""

from typing import no_type_check

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional as F

from gptlab._refuse import refuse
from gptlab.config import GPTConfig
from gptlab.model import GPT, CausalSelfAttention, KeysAndValues, attention_pattern, attention_scores


def window_mask(n_tokens: int, window: int) -> Bool[Tensor, "T T"]:
    """True where a query may look: at its own token and at the `window` − 1 before it."""
    return torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril().triu(1 - window)


def window_attention(
    q: Float[Tensor, "B H T dk"], k: Float[Tensor, "B H T dk"], v: Float[Tensor, "B H T dk"], window: int
) -> Float[Tensor, "B H T dk"]:
    """Attention under `window_mask` without the T × T scores: a block of w queries needs 2w keys."""
    B, H, T, dk = q.shape
    padding = -T % window
    q, k, v = (F.pad(x, (0, 0, 0, padding)).view(B, H, -1, window, dk) for x in (q, k, v))  # each (B,H,N,w,dk)
    k, v = (torch.cat([F.pad(x, (0, 0, 0, 0, 1, 0))[:, :, :-1], x], dim=3) for x in (k, v))  # (B,H,N,2w,dk)
    mask = window_mask(2 * window, window)[window:].repeat(q.shape[2], 1, 1)  # (N,w,2w)
    mask[0, :, :window] = False  # before the first block there is none
    z = F.scaled_dot_product_attention(q, k, v, mask)
    return z.reshape(B, H, T + padding, dk)[:, :, :T]


class WindowedAttention(CausalSelfAttention):
    """`CausalSelfAttention` over a window; there is no cache for it."""

    def __init__(self, config: GPTConfig, layer: int, window: int) -> None:
        super().__init__(config, layer)
        self.window = window

    def forward(self, x: Float[Tensor, "B T d"], cache: KeysAndValues | None = None) -> Float[Tensor, "B T d"]:
        if cache is not None:
            raise refuse("cache", type(cache), "None: attention over a window reads its tokens at once")
        return super().forward(x)

    def _fused(
        self, q: Float[Tensor, "B H T dk"], k: Float[Tensor, "B H T dk"], v: Float[Tensor, "B H T dk"]
    ) -> Float[Tensor, "B H T dk"]:
        return window_attention(q, k, v, self.window)

    def _written_out(
        self, q: Float[Tensor, "B H T dk"], k: Float[Tensor, "B H T dk"], v: Float[Tensor, "B H T dk"]
    ) -> Float[Tensor, "B H T dk"]:
        q, k, v = self.q_point(q), self.k_point(k), self.v_point(v)
        scores = self.scores_point(attention_scores(q, k))
        pattern = self.pattern_point(attention_pattern(scores, window_mask(q.shape[-2], self.window)))
        return self.heads_point(pattern @ v)


class WindowedGPT(GPT):
    """A GPT that reads texts of any length, each token over a window of `window` tokens.

    Position t has row t mod context_length of the table: within a window no two tokens share one, and no row is left
    untrained however long the text. ValueError for a window below 1 or longer than the config's context_length.
    """

    def __init__(self, config: GPTConfig, window: int) -> None:
        if not 1 <= window <= config.context_length:
            raise refuse("window", window, f"from 1 to the config's context_length, {config.context_length}")
        super().__init__(config)
        for layer, block in enumerate(self.blocks):
            attention = WindowedAttention(config, layer, window)
            attention.load_state_dict(block.attention.state_dict())
            block.attention = attention

    @no_type_check
    def check(self, ids: Int64[Tensor, "B T"], start: int = 0) -> None:
        """Refuse ids that the model cannot take, as a GPT does, but for their number."""
        if isinstance(ids, Tensor) and ids.ndim == 2 and ids.numel():
            for part in ids.split(self.config.context_length, dim=1):
                super().check(part)
        else:
            super().check(ids)

    def _embed(self, ids: Int64[Tensor, "B T"], start: int) -> Float[Tensor, "B T d"]:
        rows = torch.arange(start, start + ids.shape[1]) % self.config.context_length
        return self.dropout(self.token_embedding(ids) + self.position_embedding[rows])
