"""Attention rollout: where, over several layers, what a token holds came from.

A layer's attention says where its heads looked, at vectors that earlier layers had mixed already. Rollout follows the
mixing down to the tokens of the text by multiplying the layers' patterns. It is a reading aid and no proof: it knows
neither values nor MLPs, and takes all heads as equal.
Axes: L layers, H heads, T tokens.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def attention_rollout(attention: Float[Tensor, "L H T T"], *, residual: bool = True) -> Float[Tensor, "L T T"]:
    """How much of each token's vector after layer l comes from each token of the text: [l] is A_l A_{l-1} … A_0.

    A is the mean over the layer's heads, and half of it with half of the identity, since the residual connection
    carries each token's own vector past the attention. residual: False leaves that half out. Rows sum to 1 as those of
    `attention` do (Abnar and Zuidema 2020, section 3).
    """
    layers = attention.mean(1)
    if residual:
        layers = (layers + torch.eye(layers.shape[-1], dtype=layers.dtype, device=layers.device)) / 2
    products = [layers[0]]
    for layer in layers[1:]:
        products.append(layer @ products[-1])
    return torch.stack(products)
