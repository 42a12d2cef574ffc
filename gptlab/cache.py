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
        self._keys = self._values = torch.empty(n_layers, 0, 0, 0, 0)

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
        room = (self.n_layers, B, H, self.context_length, dk)
        if self._keys.shape != room or self._keys.dtype != k.dtype:
            if self.length > 0:
                raise refuse("the batch size", B, f"{self._keys.shape[1]}, as many rows as the cache holds")
            self._keys, self._values = k.new_empty(room), v.new_empty(room)
        keys, values = self._keys[layer, :, :, :end], self._values[layer, :, :, :end]
        keys[:, :, self.length :], values[:, :, self.length :] = k, v
        if layer == self.n_layers - 1:
            self.length = end
        return keys, values

    def select(self, rows: Int64[Tensor, " rows"]) -> None:
        """Make row i of the batch what row rows[i] was; a row may come twice or not at all (beam search)."""
        room = (self.n_layers, len(rows), *self._keys.shape[2:])
        for name in ("_keys", "_values"):
            held = getattr(self, name)[:, rows, :, : self.length]  # the rest of the room holds nothing worth copying
            setattr(self, name, held.new_empty(room))
            getattr(self, name)[:, :, :, : self.length] = held

    def reset(self) -> None:
        """Hold no tokens again; the memory is kept for what comes."""
        self.length = 0
