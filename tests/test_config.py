"""Sizes of the published GPTs, parameters counted against parameters allocated, and configs that may not exist."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import product

import pytest
import torch

from gptlab.config import PRESETS, GPTConfig
from gptlab.model import GPT

SIZES = {"vocab_size": 11, "context_length": 6, "n_layers": 2, "n_heads": 2, "d_model": 8}


def allocated(config):
    """Parameters by part of a model that exists, without its memory."""
    with torch.device("meta"):
        model = GPT(config)
    count = dict.fromkeys(config.parameter_count(), 0)
    for name, parameter in model.named_parameters():
        part = name.split(".")[2] if name.startswith("blocks") else name.split(".")[0]
        count["norms" if part.endswith("_norm") and part != "final_norm" else part] += parameter.numel()
        count["total"] += parameter.numel()
    return count


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("gpt1", 116_534_784),
        ("gpt2", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("gpt2-large", 774_030_080),
        ("gpt2-xl", 1_557_611_200),
        ("gpt3", 174_604_259_328),
    ],
)
def test_case_87_parameters_of_the_published_models(name, total):
    assert GPTConfig.preset(name).parameter_count()["total"] == total


@pytest.mark.parametrize(("name", "total"), [("gpt2", 163_037_184), ("gpt3", 175_221_817_344)])
def test_case_87_an_unembedding_of_its_own_counts(name, total):
    untied = GPTConfig(**PRESETS[name], tie_weights=False)
    assert untied.parameter_count()["total"] == total


def test_the_mlps_of_gpt3_alone():
    d = 12_288
    with_bias, without = GPTConfig.preset("gpt3"), GPTConfig(**PRESETS["gpt3"], bias=False)
    assert with_bias.parameter_count()["mlp"] == 115_970_015_232
    assert without.parameter_count()["mlp"] == 2 * 4 * d * d * 96 == 115_964_116_992


@pytest.mark.parametrize("name", PRESETS)
def test_parameters_counted_are_parameters_allocated_in_presets(name):
    config = GPTConfig.preset(name)
    assert config.parameter_count() == allocated(config)


@pytest.mark.parametrize(
    ("norm", "positions", "tie_weights", "bias", "d_ff"),
    list(product(["pre", "post"], ["learned", "sinusoidal"], [True, False], [True, False], [None, 5])),
)
def test_parameters_counted_are_parameters_allocated(norm, positions, tie_weights, bias, d_ff):
    config = GPTConfig(**SIZES, norm=norm, positions=positions, tie_weights=tie_weights, bias=bias, d_ff=d_ff)
    assert config.parameter_count() == allocated(config)


def test_presets_are_the_papers():
    gpt1, gpt2, gpt3 = (GPTConfig.preset(name) for name in ("gpt1", "gpt2", "gpt3"))
    assert (gpt1.vocab_size, gpt1.context_length, gpt1.norm, gpt1.activation) == (40_478, 512, "post", "gelu_tanh")
    assert (gpt1.n_layers, gpt1.d_model, gpt1.n_heads) == (12, 768, 12)
    assert (gpt2.vocab_size, gpt2.context_length, gpt2.norm, gpt2.activation) == (50_257, 1_024, "pre", "gelu_tanh")
    assert (gpt3.vocab_size, gpt3.context_length, gpt3.n_layers, gpt3.d_model) == (50_257, 2_048, 96, 12_288)
    assert gpt3.n_heads == 96
    assert gpt3.d_head == 128
    assert all(GPTConfig.preset(name).positions == "learned" for name in PRESETS)
    assert all(GPTConfig.preset(name).tie_weights for name in PRESETS)


def test_d_ff_is_four_times_the_width_unless_given():
    assert GPTConfig(**SIZES).d_ff == 32
    assert GPTConfig(**SIZES, d_ff=5).d_ff == 5


def test_a_config_travels_through_json_and_cannot_be_changed():
    config = GPTConfig(**SIZES, norm="post", positions="sinusoidal", activation="relu", bias=False, dropout=0.1)
    assert GPTConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    with pytest.raises(FrozenInstanceError):
        config.d_model = 16


@pytest.mark.parametrize("size", ["vocab_size", "context_length", "n_layers", "n_heads", "d_model", "d_ff"])
@pytest.mark.parametrize("value", [0, -3, 2.0, True, "8", float("nan")])
def test_sizes_are_whole_numbers_of_at_least_1(size, value):
    with pytest.raises(ValueError, match=f"^{size} is {value!r}, but must be a whole number of at least 1"):
        GPTConfig(**SIZES | {size: value})


@pytest.mark.parametrize(
    ("field", "value", "would_do"),
    [
        ("d_model", 9, "a multiple of n_heads, which is 2"),
        ("norm", "batch", "'pre' or 'post'"),
        ("norm", ["pre"], "'pre' or 'post'"),
        ("positions", "rotary", "'learned' or 'sinusoidal'"),
        ("activation", None, "'gelu' or 'gelu_tanh' or 'relu'"),
        ("bias", 1, "True or False"),
        ("tie_weights", None, "True or False"),
        ("causal", "no", "True or False"),
        ("dropout", 1.0, "at least 0 and below 1"),
        ("dropout", -0.1, "at least 0 and below 1"),
        ("dropout", float("nan"), "at least 0 and below 1"),
        ("dropout", "0.1", "at least 0 and below 1"),
    ],
)
def test_a_field_is_refused_by_name_with_what_would_do(field, value, would_do):
    with pytest.raises(ValueError) as refusal:
        GPTConfig(**SIZES | {field: value})
    assert str(refusal.value).startswith(f"{field} is {value!r}, but must be ")
    assert would_do in str(refusal.value)


def test_from_dict_names_what_is_unknown_and_what_is_missing():
    with pytest.raises(ValueError, match="'n_layer', but must be one of vocab_size, .*, n_layers, .*, causal"):
        GPTConfig.from_dict(SIZES | {"n_layer": 3})
    with pytest.raises(ValueError, match="n_layers, d_model as well"):
        GPTConfig.from_dict({"vocab_size": 11, "context_length": 6, "n_heads": 2})
    with pytest.raises(ValueError, match="settings is None"):
        GPTConfig.from_dict(None)


def test_an_unknown_preset_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="preset is 'gpt4', but must be one of gpt1, gpt2, gpt2-medium"):
        GPTConfig.preset("gpt4")


def test_the_module_needs_no_torch():
    code = "import sys, gptlab.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
