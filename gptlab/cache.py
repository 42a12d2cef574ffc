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
        # Axes B, L, 2H, C, dk: a row of the batch in one piece, and in a layer the keys of all heads, then the values.
        self._held = torch.empty(0, n_layers, 0, context_length, 0)
        self._spare: Tensor | None = None  # where `select` puts the rows, in turn, so that it asks for no new memory

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return self._held.nbytes + (0 if self._spare is None else self._spare.nbytes)

    @torch.no_grad()
    def update(
        self, layer: int, k: Float[Tensor, "B H T dk"], v: Float[Tensor, "B H T dk"]
    ) -> tuple[Float[Tensor, "B H S dk"], Float[Tensor, "B H S dk"]]:
        """Append to a layer's keys and values; give back all of them as views, (B,H,S,dk) each.

        `length` moves on when the last layer has been served, so a pass that is broken off leaves it as it was.
        """
        B, H, T, dk = k.shape
        end = self._end(T)
        room = (B, self.n_layers, 2 * H, self.context_length, dk)
        if self._held.shape != room or self._held.dtype != k.dtype:
            if self.length > 0:
                rows = len(self._held)
                raise refuse("the new keys' batch size", B, f"{rows}, of the same shape and type as what is cached")
            self._held, self._spare = k.new_empty(room), None
        keys, values = self._held[:, layer, :, :end].chunk(2, dim=1)
        keys[:, :, self.length :], values[:, :, self.length :] = k, v
        if layer == self.n_layers - 1:
            self.length = end
        return keys, values

    def room_for_one(self) -> list[tuple[Tensor, Tensor, Tensor]]:
        """For each layer the place of one more token's keys and values, (B,2H,1,dk), and all of either with it.

        In few operations for all layers; whoever has filled the places adds 1 to `length`.
        """
        end, n_heads = self._end(1), self._held.shape[2] // 2
        held = self._held.narrow(3, 0, end)
        keys, values = held.narrow(2, 0, n_heads), held.narrow(2, n_heads, n_heads)
        return list(zip(held.narrow(3, end - 1, 1).unbind(1), keys.unbind(1), values.unbind(1), strict=True))

    def select(self, rows: Int64[Tensor, " rows"]) -> None:
        """Make row i of the batch what row rows[i] was; a row may come twice or not at all (beam search)."""
        if self._spare is None or len(self._spare) != len(rows):
            self._spare = self._held.new_empty(len(rows), *self._held.shape[1:])
        held, spare = (room.narrow(3, 0, self.length) for room in (self._held, self._spare))
        torch.index_select(held, 0, rows, out=spare)
        self._held, self._spare = self._spare, self._held

    def reset(self) -> None:
        """Hold no tokens again; the memory is kept for what comes."""
        self.length = 0

    def _end(self, n_new: int) -> int:
        end = self.length + n_new
        if end > self.context_length:
            raise refuse("the number of cached tokens", end, f"at most the context_length of {self.context_length}")
        return end
