"""GPT-1 and GPT-2 in the layout of Hugging Face's `transformers`: names and shapes there and here, both ways.

A folder there holds config.json and safetensors, in one file or in several with an index; nothing of that library is
needed to read it. Axes: V vocabulary, T context length, d model width.

    there                        here                         shape there
    wte, tokens_embed            token_embedding              (V,d)
    wpe, positions_embed         position_embedding           (T,d)
    h.0.ln_1, h.0.ln_2           attention_norm, mlp_norm     (d)
    h.0.attn.c_attn, c_proj      attention.qkv, .output       (d,3d), (d,d): the transpose of ours
    h.0.mlp.c_fc, c_proj         mlp.up, mlp.down             (d,4d), (4d,d): the transpose of ours
    ln_f (GPT-2 alone)           final_norm                   (d)
    lm_head                      unembedding, if untied       (V,d)
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.checkpoint import CONFIG, WEIGHTS, as_stored, bare_names, filled
from gptlab.config import PRESETS, GPTConfig
from gptlab.model import GPT
from gptlab.storage import damaged, read_tensors, write_tensors

INDEX = "model.safetensors.index.json"
PREFIX = "transformer."  # before the names in a model with a head; one without leaves it out
MASKS = re.compile(r"h\.\d+\.attn\.(masked_)?bias")  # constant buffers that older versions stored

_GPT2, _GPT1 = "gpt2", "openai-gpt"
_BLOCK = {  # ours: theirs, and whether it is stored transposed
    "attention_norm": ("ln_1", False),
    "attention.qkv": ("attn.c_attn", True),
    "attention.output": ("attn.c_proj", True),
    "mlp_norm": ("ln_2", False),
    "mlp.up": ("mlp.c_fc", True),
    "mlp.down": ("mlp.c_proj", True),
}
_EMBEDDINGS = {_GPT2: ("wte", "wpe"), _GPT1: ("tokens_embed", "positions_embed")}
_ACTIVATION_KEY = {_GPT2: "activation_function", _GPT1: "afn"}
_ACTIVATIONS = {
    _GPT2: {"gelu_new": "gelu_tanh", "gelu": "gelu", "relu": "relu", "gelu_pytorch_tanh": "gelu_tanh"},
    _GPT1: {"gelu": "gelu_tanh", "relu": "relu"},
}
_DROPOUTS = ("resid_pdrop", "embd_pdrop", "attn_pdrop")
_ALWAYS = {  # what our model does, where a config there may say otherwise
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}


def is_theirs(folder: Path) -> bool:
    """Whether the folder's config.json is in that layout: it names the kind of model."""
    try:
        return "model_type" in json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def read_model(folder: Path) -> GPT:
    """The model in a folder. ValueError in one line, with the path, for another kind of model and for damaged files."""
    settings = json.loads((folder / CONFIG).read_bytes())
    try:
        config = config_from(settings)
    except (ValueError, TypeError, OverflowError) as reason:
        raise damaged(folder / CONFIG, f"describes a model that gptlab does not have: {reason}") from reason
    stored, path = _read_weights(folder)
    stored = {name.removeprefix(PREFIX): weight for name, weight in stored.items()}
    head = stored.get("lm_head.weight")
    embedding = stored.get(f"{_EMBEDDINGS[settings['model_type']][0]}.weight")
    if config.tie_weights and head is not None and embedding is not None:
        if not torch.equal(head, embedding):
            raise damaged(path, f"has an lm_head of its own, but {CONFIG} says that it is the embedding")
        del stored["lm_head.weight"]
    weights = {}
    for ours, theirs, transposed in _names(settings["model_type"], config):
        if theirs not in stored:
            raise damaged(path, f"lacks {theirs}, which belongs to the model of {CONFIG}")
        weight = stored.pop(theirs)
        weights[ours] = weight.T if transposed else weight
    unknown = next((name for name in stored if not MASKS.fullmatch(name)), None)
    if unknown is not None:
        raise damaged(path, f"has {unknown}, which does not belong to the model of {CONFIG}")
    return filled(config, weights, path)


def write_model(folder: Path, model: torch.nn.Module, end_of_text: int | None, dtype: torch.dtype | None) -> None:
    """Write config.json and model.safetensors. ValueError, naming it, for what the layout cannot hold.

    Positions that are sinusoidal become a learned table of the same numbers, biases that are missing become zeros: the
    logits are the same.
    """
    settings = settings_from(model.config, end_of_text)
    here = bare_names(model.state_dict())
    tensors = {}
    for ours, theirs, transposed in _names(settings["model_type"], model.config):
        weight = model.position_embedding if ours == "position_embedding" else here.get(ours)
        if weight is None:  # a bias that this model does without
            weight = torch.zeros(len(here[ours.replace("bias", "weight")]))
        weight = as_stored(ours, weight, dtype)
        name = theirs if theirs.startswith("lm_head") else PREFIX + theirs
        tensors[name] = weight.T if transposed else weight
    settings["dtype"] = str(next(iter(tensors.values())).dtype).removeprefix("torch.")
    (folder / CONFIG).write_text(json.dumps(settings, indent=2), encoding="utf-8")
    write_tensors(folder / WEIGHTS, tensors, {"format": "pt"})


def config_from(settings: dict[str, Any]) -> GPTConfig:
    """Our config of theirs; ValueError names the setting that our model does not have."""
    kind = settings.get("model_type")
    if kind not in _EMBEDDINGS:
        raise refuse("model_type", kind, "'gpt2' or 'openai-gpt'")
    for name, value in _ALWAYS.items():
        if settings.get(name, value) != value:
            raise refuse(name, settings[name], repr(value))
    published = PRESETS["gpt2" if kind == _GPT2 else "gpt1"]  # what that library takes for what is not said
    activation = settings.get(_ACTIVATION_KEY[kind], "gelu_new" if kind == _GPT2 else "gelu")
    if activation not in _ACTIVATIONS[kind]:
        raise refuse(_ACTIVATION_KEY[kind], activation, "one of " + ", ".join(_ACTIVATIONS[kind]))
    dropouts = {settings.get(name, 0.1) for name in _DROPOUTS}
    if len(dropouts) > 1:
        raise refuse(", ".join(_DROPOUTS), sorted(dropouts), "one and the same dropout")
    return GPTConfig(
        vocab_size=settings.get("vocab_size", published["vocab_size"]),
        context_length=settings.get("n_positions", published["context_length"]),
        n_layers=settings.get("n_layer", published["n_layers"]),
        n_heads=settings.get("n_head", published["n_heads"]),
        d_model=settings.get("n_embd", published["d_model"]),
        d_ff=settings.get("n_inner") if kind == _GPT2 else None,
        norm="pre" if kind == _GPT2 else "post",
        activation=_ACTIVATIONS[kind][activation],
        tie_weights=settings.get("tie_word_embeddings", True),
        dropout=dropouts.pop(),
    )


def settings_from(config: GPTConfig, end_of_text: int | None) -> dict[str, Any]:
    """Their settings of our config: GPT-2 for pre-norm, GPT-1 for post-norm; ValueError for what neither can hold."""
    kind = _GPT2 if config.norm == "pre" else _GPT1
    theirs = {ours: name for name, ours in reversed(_ACTIVATIONS[kind].items())}
    if not config.causal:
        raise refuse("causal", config.causal, "True: the layout has no GPT that sees later tokens")
    if config.activation not in theirs:
        raise refuse("activation", config.activation, f"{' or '.join(map(repr, theirs))} in a post-norm model there")
    if kind == _GPT1 and config.d_ff != 4 * config.d_model:
        raise refuse("d_ff", config.d_ff, f"{4 * config.d_model} = 4·d_model in a post-norm model there")
    own = {
        _GPT2: {"architectures": ["GPT2LMHeadModel"], "n_inner": config.d_ff, "n_ctx": config.context_length},
        _GPT1: {"architectures": ["OpenAIGPTLMHeadModel"]},
    }
    return {
        "model_type": kind,
        "vocab_size": config.vocab_size,
        "n_positions": config.context_length,
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
        "n_embd": config.d_model,
        _ACTIVATION_KEY[kind]: theirs[config.activation],
        "layer_norm_epsilon": _ALWAYS["layer_norm_epsilon"],
        "tie_word_embeddings": config.tie_weights,
        "bos_token_id": end_of_text,
        "eos_token_id": end_of_text,
        **dict.fromkeys(_DROPOUTS, config.dropout),
        **own[kind],
    }


def _names(kind: str, config: GPTConfig) -> Iterator[tuple[str, str, bool]]:
    """Each weight: our name, theirs, and whether it is stored transposed there."""
    tokens, positions = _EMBEDDINGS[kind]
    yield "token_embedding.weight", f"{tokens}.weight", False
    yield "position_embedding", f"{positions}.weight", False
    for layer in range(config.n_layers):
        for ours, (theirs, transposed) in _BLOCK.items():
            yield f"blocks.{layer}.{ours}.weight", f"h.{layer}.{theirs}.weight", transposed
            yield f"blocks.{layer}.{ours}.bias", f"h.{layer}.{theirs}.bias", False
    if kind == _GPT2:
        yield "final_norm.weight", "ln_f.weight", False
        yield "final_norm.bias", "ln_f.bias", False
    if not config.tie_weights:
        yield "unembedding.weight", "lm_head.weight", False


def _read_weights(folder: Path) -> tuple[dict[str, Tensor], Path]:
    """All tensors by their names, and the file to name when one is wrong."""
    index = folder / INDEX
    if not index.exists():
        if not (folder / WEIGHTS).exists():
            raise damaged(folder, f"has no {WEIGHTS}; weights in a pickle (pytorch_model.bin) are not opened")
        return read_tensors(folder / WEIGHTS)[0], folder / WEIGHTS
    try:
        places = json.loads(index.read_bytes())["weight_map"]
        shards = sorted(set(places.values()))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise damaged(index, f"is no index of weights: {error!r}") from error
    stored = {}
    for shard in shards:
        if Path(shard).name != shard or not (folder / shard).exists():
            raise damaged(folder, f"lacks {shard}, which {INDEX} names")
        stored |= read_tensors(folder / shard)[0]
    return stored, index
