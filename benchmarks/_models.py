"""The models that are compared: three sizes of ours, the same weights in transformers, and plain code as one writes it.

Axes: B batch, T tokens, V vocabulary, d model width.
"""

import tempfile

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import gptlab

S = gptlab.GPTConfig(1_024, 128, n_layers=4, n_heads=4, d_model=128, activation="gelu_tanh")
M = gptlab.GPTConfig(1_024, 256, n_layers=6, n_heads=6, d_model=384, activation="gelu_tanh")
L = gptlab.GPTConfig.preset("gpt2")
SIZES = {"S (4 × 128)": S, "M (6 × 384)": M, "L (GPT-2 small)": L}


def ours(config: gptlab.GPTConfig) -> gptlab.GPT:
    """A model of ours with the weights of the seed 0."""
    torch.manual_seed(0)
    return gptlab.GPT(config).eval()


def theirs(model: gptlab.GPT, attention: str = "sdpa") -> nn.Module:
    """The same weights in transformers' GPT-2, which never ends a text by itself."""
    from transformers import GPT2LMHeadModel

    with tempfile.TemporaryDirectory() as folder:
        gptlab.save(folder + "/model", model, layout="huggingface")
        other = GPT2LMHeadModel.from_pretrained(folder + "/model", attn_implementation=attention).eval()
    other.generation_config.eos_token_id, other.generation_config.pad_token_id = None, 0
    return other


class PlainGPT(nn.Module):
    """A GPT as one writes it down from the paper, in the manner of nanoGPT: torch's own modules, no cache."""

    def __init__(self, config: gptlab.GPTConfig) -> None:
        super().__init__()
        self.context, self.heads, d = config.context_length, config.n_heads, config.d_model
        self.tokens, self.positions = nn.Embedding(config.vocab_size, d), nn.Embedding(self.context, d)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(d),
                    "qkv": nn.Linear(d, 3 * d),
                    "out": nn.Linear(d, d),
                    "norm2": nn.LayerNorm(d),
                    "mlp": nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(approximate="tanh"), nn.Linear(4 * d, d)),
                }
            )
            for _ in range(config.n_layers)
        )
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, config.vocab_size, bias=False)
        self.head.weight = self.tokens.weight
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                deep = name.endswith(("out.weight", "mlp.2.weight"))
                nn.init.normal_(parameter, std=0.02 / ((2 * config.n_layers) ** 0.5 if deep else 1))

    def forward(self, ids: Tensor, last_only: bool = False) -> Tensor:
        B, T = ids.shape
        x = self.tokens(ids) + self.positions(torch.arange(T))
        for block in self.blocks:
            q, k, v = (
                part.view(B, T, self.heads, -1).transpose(1, 2) for part in block["qkv"](block["norm1"](x)).chunk(3, -1)
            )
            z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + block["out"](z.transpose(1, 2).reshape(B, T, -1))
            x = x + block["mlp"](block["norm2"](x))
        return self.head(self.norm(x[:, -1:] if last_only else x))

    @torch.no_grad()
    def generate(self, ids: Tensor, n_new: int) -> Tensor:
        for _ in range(n_new):
            logits = self(ids[:, -self.context :], last_only=True)
            ids = torch.cat([ids, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
        return ids
