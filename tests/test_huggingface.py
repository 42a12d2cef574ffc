"""The layout of transformers, both ways: the same logits, attention and tokens there and here, whatever the variant."""

import json

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import gptlab
from gptlab.huggingface import config_from, settings_from
from gptlab.model import GPT
from tests.unchecked import unchecked

SIZES = {"vocab_size": 300, "n_positions": 32, "n_embd": 24, "n_layer": 2, "n_head": 3}
NO_TOKENS = {"bos_token_id": None, "eos_token_id": None}
IDS = torch.randint(300, (2, 20), generator=torch.Generator().manual_seed(0))


def theirs(kind: str = "gpt2", **settings):
    """A model that transformers makes at random, its biases and norms too."""
    config, model = {
        "gpt2": (transformers.GPT2Config, transformers.GPT2LMHeadModel),
        "openai-gpt": (transformers.OpenAIGPTConfig, transformers.OpenAIGPTLMHeadModel),
    }[kind]
    torch.manual_seed(1)
    made = model(config(**SIZES, **NO_TOKENS, **settings)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return made


def logits_of(model, ids=IDS):
    with torch.no_grad():
        return model(ids).logits


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("gpt2", {}),
        ("gpt2", {"activation_function": "gelu"}),
        ("gpt2", {"activation_function": "relu", "n_inner": 40}),
        ("gpt2", {"tie_word_embeddings": False}),
        ("openai-gpt", {}),
        ("openai-gpt", {"afn": "relu"}),
    ],
)
def test_case_115_a_folder_of_theirs_gives_the_same_logits_here(tmp_path, kind, settings):
    there = theirs(kind, **settings)
    there.save_pretrained(tmp_path)
    here, tok = gptlab.load(tmp_path)
    assert tok is None and not here.training
    torch.testing.assert_close(here(IDS), logits_of(there), atol=1e-4, rtol=1e-4)
    assert here.config.norm == ("pre" if kind == "gpt2" else "post")


def test_attention_and_the_tokens_that_follow_are_the_same(tmp_path):
    there = theirs(attn_implementation="eager")
    there.save_pretrained(tmp_path)
    here, _ = gptlab.load(tmp_path)
    with torch.no_grad():
        attention = torch.stack(there(IDS, output_attentions=True).attentions)
    torch.testing.assert_close(gptlab.trace(here, IDS).attention, attention, atol=1e-5, rtol=1e-4)

    plain = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0, "attention_mask": torch.ones_like(IDS[:1])}
    assert gptlab.greedy(here, IDS[:1], max_new_tokens=8).equal(there.generate(IDS[:1], **plain))
    beams = there.generate(IDS[:1], **plain, num_beams=3, num_return_sequences=3, length_penalty=0.0)
    with unchecked():
        found = gptlab.beam_search(here, IDS[:1], max_new_tokens=8, width=3)
    assert [ids.flatten().tolist() for ids, _ in found] == beams.tolist()


def test_case_116_names_with_and_without_prefix_masks_and_head(tmp_path):
    there = theirs()
    there.save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    bare = {name.removeprefix("transformer."): weight for name, weight in stored.items()}
    masks = {f"h.{layer}.attn.bias": torch.ones(1, 1, 32, 32).tril() for layer in range(2)}
    masks |= {f"h.{layer}.attn.masked_bias": torch.tensor(-1e4) for layer in range(2)}
    head = {"lm_head.weight": bare["wte.weight"].clone()}
    for variant in (stored, bare, bare | masks, bare | head):
        save_file({name: weight.contiguous() for name, weight in variant.items()}, tmp_path / "model.safetensors")
        torch.testing.assert_close(gptlab.load(tmp_path)[0](IDS), logits_of(there), atol=1e-4, rtol=1e-4)


def test_a_model_in_shards(tmp_path):
    there = theirs()
    there.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    torch.testing.assert_close(gptlab.load(tmp_path)[0](IDS), logits_of(there), atol=1e-4, rtol=1e-4)
    lost = sorted(tmp_path.glob("*.safetensors"))[0]
    lost.unlink()
    with pytest.raises(ValueError, match=f"lacks {lost.name}"):
        gptlab.load(tmp_path)


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"activation": "gelu_tanh", "dropout": 0.1},
        {"positions": "sinusoidal"},
        {"bias": False},
        {"tie_weights": False, "d_ff": 40, "activation": "relu"},
        {"norm": "post", "activation": "gelu_tanh"},
        {"norm": "post", "activation": "relu", "positions": "sinusoidal", "bias": False, "tie_weights": False},
    ],
)
def test_a_model_of_ours_opens_there_with_the_same_logits_and_comes_back(tmp_path, variant):
    torch.manual_seed(2)
    here = GPT(gptlab.GPTConfig(300, 32, 2, 3, 24, **variant)).eval()
    with torch.no_grad():
        for parameter in here.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    gptlab.save(tmp_path / "saved", here, layout="huggingface")
    there = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "saved").eval()
    torch.testing.assert_close(logits_of(there), here(IDS), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(gptlab.load(tmp_path / "saved")[0](IDS), here(IDS), atol=1e-6, rtol=1e-6)


def test_half_precision_halves_the_file_and_opens_there(tmp_path):
    model = GPT(gptlab.GPTConfig(300, 32, 2, 3, 24)).eval()
    for name, dtype in (("whole", None), ("half", torch.float16)):
        gptlab.save(tmp_path / name, model, dtype=dtype, layout="huggingface")
    whole, half = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "half"))
    assert half < 0.7 * whole
    there = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "half", dtype=torch.float32).eval()
    torch.testing.assert_close(logits_of(there), model(IDS), atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize(
    ("variant", "named"),
    [
        ({"causal": False}, "causal"),
        ({"norm": "post"}, "activation"),
        ({"norm": "post", "activation": "relu", "d_ff": 40}, "d_ff"),
    ],
)
def test_what_the_layout_cannot_hold_is_refused_by_name_and_nothing_is_written(tmp_path, variant, named):
    model = GPT(gptlab.GPTConfig(300, 32, 1, 3, 24, **variant))
    with pytest.raises(ValueError, match=f"^{named} is"):
        gptlab.save(tmp_path / "saved", model, layout="huggingface")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"model_type": "llama"}, "model_type"),
        ({"model_type": "gpt2", "layer_norm_epsilon": 1e-6}, "layer_norm_epsilon"),
        ({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx"),
        ({"model_type": "gpt2", "activation_function": "silu"}, "activation_function"),
        ({"model_type": "gpt2", "attn_pdrop": 0.0}, "resid_pdrop"),
        ({"model_type": "openai-gpt", "afn": "swish"}, "afn"),
    ],
)
def test_a_model_that_ours_cannot_be_is_refused_by_name(tmp_path, settings, named):
    with pytest.raises(ValueError, match=named):
        config_from(settings)
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match=rf"config\.json.*{named}"):
        gptlab.load(tmp_path)


def test_the_published_sizes_are_the_presets():
    for name in ("gpt2", "gpt1"):
        preset = gptlab.GPTConfig.preset(name)
        assert config_from(settings_from(preset, None)) == preset
    assert config_from({"model_type": "gpt2"}).parameter_count()["total"] == 124_439_808


def test_what_is_missing_or_too_much_is_named(tmp_path):
    theirs().save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    save_file({name: w for name, w in stored.items() if "h.1.ln_2.bias" not in name}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"lacks h\.1\.ln_2\.bias"):
        gptlab.load(tmp_path)
    save_file(stored | {"score.weight": torch.zeros(2, 24)}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"has score\.weight"):
        gptlab.load(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"no model\.safetensors.*pickle"):
        gptlab.load(tmp_path)


def test_saving_in_another_layout_leaves_no_file_of_the_first(tmp_path):
    model = GPT(gptlab.GPTConfig(300, 32, 1, 3, 24)).eval()
    tok = gptlab.Tokenizer.train("a b c", 260)
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "notes.txt").write_text("mine")
    for layout in ("gptlab", "huggingface", "gptlab"):
        gptlab.save(tmp_path / "saved", model, tok, layout=layout)
        again, tok_again = gptlab.load(tmp_path / "saved")
        assert again(IDS).equal(model(IDS)) and tok_again.encode("abc") == tok.encode("abc")
    names = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert names == ["config.json", "model.safetensors", "notes.txt", "tokenizer.json"]


def test_an_unknown_layout_is_refused(tmp_path):
    with pytest.raises(ValueError, match="layout is 'onnx'"):
        gptlab.save(tmp_path, GPT(gptlab.GPTConfig(300, 32, 1, 3, 24)), layout="onnx")
