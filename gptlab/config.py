"""The numbers that fix a GPT before any weight exists, and what they cost in parameters.

Plain arithmetic, no torch. Names: vocab_size V, context_length T (at most), n_layers L, n_heads H,
d_model d, d_ff the width inside the MLP; a head is dk = d / H wide.
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, get_args, no_type_check

from gptlab._refuse import refuse

Norm = Literal["pre", "post"]
Positions = Literal["learned", "sinusoidal"]
Activation = Literal["gelu", "gelu_tanh", "relu"]

_GPT2 = {"vocab_size": 50_257, "context_length": 1_024, "activation": "gelu_tanh"}

PRESETS: dict[str, dict[str, Any]] = {
    "gpt1": {"vocab_size": 40_478, "context_length": 512, "n_layers": 12, "n_heads": 12, "d_model": 768}
    | {"norm": "post", "activation": "gelu_tanh"},
    "gpt2": _GPT2 | {"n_layers": 12, "n_heads": 12, "d_model": 768},
    "gpt2-medium": _GPT2 | {"n_layers": 24, "n_heads": 16, "d_model": 1_024},
    "gpt2-large": _GPT2 | {"n_layers": 36, "n_heads": 20, "d_model": 1_280},
    "gpt2-xl": _GPT2 | {"n_layers": 48, "n_heads": 25, "d_model": 1_600},
    "gpt3": _GPT2 | {"context_length": 2_048, "n_layers": 96, "n_heads": 96, "d_model": 12_288},
}


@no_type_check  # values come from JSON too: what is wrong with one is said below, not by the test run's type checker
@dataclass(frozen=True)
class GPTConfig:
    """A GPT's sizes and variants; it is valid or it does not exist (ValueError names the field).

    norm: "pre" norms what enters attention and MLP and ends in a final norm (GPT-2); "post" norms each
    sum x + f(x) and has no final norm (GPT-1, Vaswani et al. 2017). positions: a learned table, or the fixed
    sinusoids of Vaswani et al. 2017, section 3.5. activation: "gelu" is x·Φ(x), "gelu_tanh" its approximation
    used by GPT-1 and GPT-2 (Hendrycks and Gimpel 2016). bias: whether linear maps and norms add a vector; the
    unembedding never does. tie_weights: unembed with the token embedding's transpose. causal: False lets every
    token see every other (an encoder). d_ff: 4·d_model where it is None.
    """

    vocab_size: int
    context_length: int
    n_layers: int
    n_heads: int
    d_model: int
    d_ff: int | None = None
    norm: Norm = "pre"
    positions: Positions = "learned"
    activation: Activation = "gelu"
    bias: bool = True
    tie_weights: bool = True
    dropout: float = 0.0
    causal: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "context_length", "n_layers", "n_heads", "d_model"):
            _check_size(name, getattr(self, name))
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        _check_size("d_ff", self.d_ff)
        if self.d_model % self.n_heads:
            raise refuse("d_model", self.d_model, f"a multiple of n_heads, which is {self.n_heads}")
        for name, kind in (("norm", Norm), ("positions", Positions), ("activation", Activation)):
            if getattr(self, name) not in get_args(kind):
                raise refuse(name, getattr(self, name), " or ".join(map(repr, get_args(kind))))
        for name in ("bias", "tie_weights", "causal"):
            if not isinstance(getattr(self, name), bool):
                raise refuse(name, getattr(self, name), "True or False")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise refuse("dropout", self.dropout, "a probability of at least 0 and below 1")

    @property
    def d_head(self) -> int:
        """Width dk of one head's queries, keys and values."""
        return self.d_model // self.n_heads

    @classmethod
    def preset(cls, name: str) -> GPTConfig:
        """The published sizes of a GPT (Radford et al. 2018 and 2019, Brown et al. 2020), without dropout."""
        if name not in PRESETS:
            raise refuse("preset", name, "one of " + ", ".join(PRESETS))
        return cls(**PRESETS[name])

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> GPTConfig:
        """The config that `to_dict` described; ValueError for a name that is unknown or missing."""
        if not isinstance(settings, dict):
            raise refuse("settings", settings, "a dict of GPTConfig's fields")
        known = [field.name for field in fields(cls)]
        unknown = [name for name in settings if name not in known]
        if unknown:
            raise refuse("a GPTConfig key", unknown[0], "one of " + ", ".join(known))
        missing = [field.name for field in fields(cls) if field.default is MISSING and field.name not in settings]
        if missing:
            raise refuse("settings", settings, f"a dict with {', '.join(missing)} as well")
        return cls(**settings)

    def parameter_count(self) -> dict[str, int]:
        """How many numbers the model learns, by part and in "total"; nothing is allocated.

        A tied unembedding counts 0, as do sinusoidal positions. "norms" are those inside the blocks.
        """
        d, n_layers, bias = self.d_model, self.n_layers, int(self.bias)
        norm = d + bias * d
        count = {
            "token_embedding": self.vocab_size * d,
            "position_embedding": self.context_length * d if self.positions == "learned" else 0,
            "attention": n_layers * (4 * d * d + bias * 4 * d),
            "mlp": n_layers * (2 * d * self.d_ff + bias * (self.d_ff + d)),
            "norms": n_layers * 2 * norm,
            "final_norm": norm if self.norm == "pre" else 0,
            "unembedding": 0 if self.tie_weights else self.vocab_size * d,
        }
        return count | {"total": sum(count.values())}


def _check_size(name: str, size: object) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise refuse(name, size, "a whole number of at least 1")
