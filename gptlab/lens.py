"""The logit lens: what a model would say if it stopped after each block.

All blocks write into the same residual stream, and the unembedding reads it at the end. It can be read earlier too:
final norm and unembedding, applied to what stands there before and after each block (nostalgebraist 2020,
"interpreting GPT: the logit lens").

Axes: L layers, B batch, T tokens, V vocabulary, d model width.
"""

from collections.abc import Iterator
from typing import no_type_check

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.model import GPT
from gptlab.tracing import trace


@no_type_check  # wrong ids are to meet the model's refusal, not a type checker's
def logit_lens(model: GPT, ids: Int64[Tensor, "B T"], *, last: int | None = None) -> Iterator[Float[Tensor, "B T V"]]:
    """Logits of the token after each, L+1 times: from the embeddings alone, then after each block.

    ids: (B,T). Each item is (B,T,V), and the last is what the model says in the end; they are made one at a time, since
    a vocabulary times all layers takes gigabytes. last: read only so many of the last tokens; all of them if None.
    ValueError for ids that the model refuses and for less than one token.
    """
    if last is not None and last < 1:
        raise refuse("last", last, "a whole number of at least 1, or None for all tokens")
    residual = trace(model, ids, keep={"residual"}).residual
    return (_read(model, stream if last is None else stream[:, -last:]) for stream in residual)


@torch.no_grad()
def _read(model: GPT, stream: Float[Tensor, "B T d"]) -> Float[Tensor, "B T V"]:
    return model.unembed(model.final_norm(stream))
