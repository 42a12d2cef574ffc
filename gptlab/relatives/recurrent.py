"""Recurrent language models: a state goes from token to token, through an RNN, a GRU or an LSTM.

    h_t = cell(x_t, h_{t-1}),  logits_t = W_e W h_t

Each token is read once and put into a state of fixed width; what is not in the state is forgotten. Lesson 10 writes the
cells out; here they are torch's, which compute the same and faster.
Axes: B batch, T tokens, V vocabulary, L layers, d width of an embedding, n width of a state.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, no_type_check

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from gptlab._refuse import refuse
from gptlab.storage import damaged, read_tensors, write_tensors, write_whole

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
State = Tensor | tuple[Tensor, Tensor]  # (L,B,n); an LSTM's is two of them, h and c


@no_type_check  # values come from JSON too: what is wrong with one is said below, not by the test run's type checker
@dataclass(frozen=True)
class RecurrentConfig:
    """A recurrent model's sizes; it is valid or it does not exist (ValueError names the field)."""

    cell: str
    vocab_size: int
    d_model: int
    d_state: int
    n_layers: int = 1

    def __post_init__(self) -> None:
        if self.cell not in CELLS:
            raise refuse("cell", self.cell, " or ".join(map(repr, CELLS)))
        for name in ("vocab_size", "d_model", "d_state", "n_layers"):
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise refuse(name, size, "a whole number of at least 1")

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, ready for JSON."""
        return asdict(self)


class RecurrentLM(nn.Module):
    """Token ids to logits of the next token: embed, run the cell along the text, project, unembed with the embedding.

    No position is added: the order of the tokens is the order of the steps. An LSTM's forget gates start with a bias of
    1, so that it begins by remembering (Jozefowicz et al. 2015). Randomness is torch's global generator.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.cell = CELLS[config.cell](config.d_model, config.d_state, config.n_layers, batch_first=True)
        self.output = nn.Linear(config.d_state, config.d_model, bias=False)
        nn.init.normal_(self.token_embedding.weight, std=config.d_model**-0.5)
        if config.cell == "lstm":
            with torch.no_grad():
                for layer in range(config.n_layers):
                    getattr(self.cell, f"bias_hh_l{layer}")[config.d_state : 2 * config.d_state] = 1.0

    def forward(self, ids: Int64[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the token after each, read from an empty state."""
        return self.unembed(self.hidden(ids)[0])

    def hidden(self, ids: Int64[Tensor, "B T"], state: State | None = None) -> tuple[Float[Tensor, "B T n"], State]:
        """The last layer's state at each token, and what to hand on to the tokens that come next."""
        return self.cell(self.token_embedding(ids), state)

    def unembed(self, hidden: Float[Tensor, "*B n"]) -> Float[Tensor, "*B V"]:
        """Logits from states."""
        return F.linear(self.output(hidden), self.token_embedding.weight)


class Carried(nn.Module):
    """A recurrent model that goes on, in training, from the state in which the batch before has left it.

    So a text of any length is learned piece by piece. The state is handed on and its gradient is not: truncated
    back-propagation through time (Williams and Peng 1990). Outside training each call begins with an empty state.
    """

    def __init__(self, model: RecurrentLM) -> None:
        super().__init__()
        self.model = model
        self.state: State | None = None

    def forward(self, ids: Int64[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        hidden, state = self.model.hidden(ids, self.state if self.training else None)
        if self.training:
            self.state = cut(state)
        return self.model.unembed(hidden)


def cut(state: State) -> State:
    """The same numbers with no way back for a gradient."""
    return state.detach() if isinstance(state, Tensor) else tuple(part.detach() for part in state)


def save_recurrent(path: str | os.PathLike, model: RecurrentLM, dtype: torch.dtype = torch.float16) -> None:
    """Write a model to one file, stored as `dtype`, which takes the old one's place when it is complete."""
    weights = {name: weight.to(dtype) for name, weight in model.state_dict().items()}
    write_whole(path, lambda file: write_tensors(file, weights, {"config": json.dumps(model.config.to_dict())}))


def load_recurrent(path: str | os.PathLike) -> RecurrentLM:
    """The model that `save_recurrent` wrote, in float32 and in evaluation mode.

    ValueError, in one line with the path, for a file that is missing, damaged or of another kind.
    """
    path = Path(path)
    if not path.is_file():
        raise refuse("path", str(path), "a file that save_recurrent wrote")
    weights, texts = read_tensors(path, checksum_optional=False)
    if "config" not in texts:
        raise damaged(path, "says nothing of a recurrent model: save_recurrent did not write it")
    with torch.random.fork_rng(devices=[]):  # a new model's weights are drawn, here to be overwritten
        model = RecurrentLM(RecurrentConfig(**json.loads(texts["config"])))
    model.load_state_dict(weights)
    return model.eval()
