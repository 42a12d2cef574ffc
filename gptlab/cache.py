"""Keys and values so far: what attention would otherwise compute again for every new token.

A causal model's keys and values of a token never change once computed, so they are kept.
Axes: L layers, B batch, H heads, T new tokens, S tokens held with the new ones, dk head width.
Memory is taken once, for the whole context C: 2·L·B·H·C·dk numbers (GPT-2, one row, float32: 75 MB).
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from gptlab._refuse import refuse


class Cache:
    """Room for the keys and values of one batch of sequences; hand it to `model(ids, cache)`.

    Batch size, head width and number type are those of the first keys that arrive. No gradient passes through.
    """

    def __init__(self, n_layers: int, context_length: int) -> None:
        self.n_layers, self.context_length = n_layers, context_length
        self.length = 0
        self._held = torch.empty(2, n_layers, 0, 0, context_length, 0)

    @torch.no_grad()
    def update(
        self, layer: int, k: Float[Tensor, "B H T dk"], v: Float[Tensor, "B H T dk"]
    ) -> tuple[Float[Tensor, "B H S dk"], Float[Tensor, "B H S dk"]]:
        """Append to a layer's keys and values; give back all of them as views, (B,H,S,dk) each.

        `length` moves on when the last layer has been served, so a pass that is broken off leaves it as it was.
        """
        B, H, T, dk = k.shape
        end = self.length + T
        if end > self.context_length:
            raise refuse("the number of cached tokens", end, f"at most the context_length of {self.context_length}")
        room = (2, self.n_layers, B, H, self.context_length, dk)
        if self._held.shape != room or self._held.dtype != k.dtype:
            if self.length > 0:
                rows = self._held.shape[2]
                raise refuse("the new keys' batch size", B, f"{rows}, of the same shape and type as what is cached")
            self._held = k.new_empty(room)
        keys, values = self._held[:, layer, :, :, :end]
        keys[:, :, self.length :], values[:, :, self.length :] = k, v
        if layer == self.n_layers - 1:
            self.length = end
        return keys, values

    def select(self, rows: Int64[Tensor, " rows"]) -> None:
        """Make row i of the batch what row rows[i] was; a row may come twice or not at all (beam search)."""
        held = self._held[:, :, rows, :, : self.length]  # the rest of the room holds nothing worth copying
        room = list(self._held.shape)
        room[2] = len(rows)
        self._held = held.new_empty(room)
        self._held[:, :, :, :, : self.length] = held

    def reset(self) -> None:
        """Hold no tokens again; the memory is kept for what comes."""
        self.length = 0
