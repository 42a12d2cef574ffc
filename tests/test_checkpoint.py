"""A model and its tokenizer, saved and loaded: bit for bit, whole or not at all, damage refused in words."""

import json
import os
import pickle
import shutil
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import gptlab
from gptlab import GPT, GPTConfig, Tokenizer
from gptlab import checkpoint as checkpoint_module
from gptlab.checkpoint import shipped
from tests.disks import little_room, names_in

TOK = Tokenizer.train("so so many many words and so on and on", 270)
FILES = ["config.json", "model.safetensors", "tokenizer.json"]


def tiny_model(seed=0, **changed):
    torch.manual_seed(seed)
    sizes = {"vocab_size": TOK.vocab_size, "context_length": 8, "n_layers": 2, "n_heads": 2, "d_model": 8}
    return GPT(GPTConfig(**sizes | changed))


def same_model(one, other):
    ours, theirs = one.state_dict(), other.state_dict()
    return (
        one.config == other.config
        and ours.keys() == theirs.keys()
        and all(torch.equal(ours[name], theirs[name]) for name in ours)
    )


@pytest.fixture
def saved(tmp_path):
    """A folder with a checkpoint, and the model in it."""
    model = tiny_model()
    gptlab.save(tmp_path / "model", model, TOK)
    return tmp_path / "model", model


@settings(max_examples=20)
@given(
    norm=st.sampled_from(["pre", "post"]), positions=st.sampled_from(["learned", "sinusoidal"]), bias=st.booleans(),
    tie_weights=st.booleans(), causal=st.booleans(), n_heads=st.sampled_from([1, 2, 4]), n_layers=st.integers(1, 3),
    dropout=st.sampled_from([0.0, 0.25]), with_tok=st.booleans(),
)  # fmt: skip
def test_every_kind_of_model_comes_back_bit_for_bit(tmp_path_factory, with_tok, **changed):
    path, model = tmp_path_factory.mktemp("kinds") / "model", tiny_model(**changed)
    gptlab.save(path, model, TOK if with_tok else None)
    loaded, tok = gptlab.load(path)
    assert same_model(loaded, model) and not loaded.training
    assert (tok and tok.to_json()) == (TOK.to_json() if with_tok else None)
    ids = torch.arange(8)[None]
    assert torch.equal(loaded(ids), model.eval()(ids))


def test_the_folder_holds_three_files_and_readable_settings(saved):
    path, model = saved
    assert names_in(path) == FILES
    assert GPTConfig.from_dict(json.loads((path / "config.json").read_text())) == model.config
    assert Tokenizer.load(path / "tokenizer.json").to_json() == TOK.to_json()


def test_the_path_may_be_a_string_with_blanks_and_umlauts(tmp_path):
    path = str(tmp_path / "mein schönes Modell" / "1")
    gptlab.save(path, tiny_model(), TOK)
    assert same_model(gptlab.load(path)[0], tiny_model())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_stored_in_another_type_are_loaded_as_float32(tmp_path, dtype):
    model = tiny_model()
    gptlab.save(tmp_path / "m", model, TOK, dtype=dtype)
    loaded, _ = gptlab.load(tmp_path / "m")
    for name, weight in model.state_dict().items():
        assert loaded.state_dict()[name].dtype == torch.float32
        assert torch.equal(loaded.state_dict()[name], weight.to(dtype).float())
    assert all(weight.dtype == torch.float32 for weight in model.state_dict().values()), "the model itself is kept"


def test_float16_halves_the_file(tmp_path):
    model = tiny_model(d_model=64)
    gptlab.save(tmp_path / "full", model)
    gptlab.save(tmp_path / "half", model, dtype=torch.float16)
    full, half = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "half"))
    assert half < 0.55 * full


def test_a_type_that_cannot_hold_the_weights_is_refused(tmp_path):
    model = tiny_model()
    with torch.no_grad():
        model.blocks[1].mlp.up.weight[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"dtype is torch.float16.*blocks.1.mlp.up.weight.*1e\+06"):
        gptlab.save(tmp_path / "m", model, dtype=torch.float16)
    with pytest.raises(ValueError, match="dtype is torch.int8"):
        gptlab.save(tmp_path / "m", model, dtype=torch.int8)
    assert names_in(tmp_path) == []


def test_loading_leaves_the_global_random_state_alone(saved):
    before = torch.get_rng_state()
    gptlab.load(saved[0])
    assert torch.equal(torch.get_rng_state(), before)


def test_a_saved_model_can_be_trained_on(saved):
    model, _ = gptlab.load(saved[0])
    model(torch.arange(8)[None]).logsumexp(-1).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_case_118_tied_weights_are_saved_once_and_tied_again(saved):
    path, model = saved
    stored = load_file(path / "model.safetensors")
    assert sum(weight.numel() for weight in stored.values()) == model.config.parameter_count()["total"]
    loaded, _ = gptlab.load(path)
    before = loaded.unembed(torch.ones(1, 8))
    with torch.no_grad():
        loaded.token_embedding.weight[3] += 1
    changed = (loaded.unembed(torch.ones(1, 8)) - before)[0]
    assert changed.nonzero().flatten().tolist() == [3]


def test_case_119_names_of_a_compiled_model_are_taken_off_when_saving(tmp_path):
    model = tiny_model()
    gptlab.save(tmp_path / "whole", torch.compile(model, backend="eager"), TOK)
    part = tiny_model()
    part.blocks[0] = torch.compile(part.blocks[0], backend="eager")
    gptlab.save(tmp_path / "part", part, TOK)
    for name in ("whole", "part"):
        stored = load_file(tmp_path / name / "model.safetensors")
        assert stored.keys() == model.state_dict().keys()
        assert same_model(gptlab.load(tmp_path / name)[0], model)


def test_case_119_names_of_a_compiled_model_are_accepted_when_loading(saved):
    path, model = saved
    stored = load_file(path / "model.safetensors")
    save_file({f"_orig_mod.{name}": weight for name, weight in stored.items()}, path / "model.safetensors")
    assert same_model(gptlab.load(path)[0], model)


def test_saving_again_replaces_the_model_and_keeps_other_files(saved):
    path, _ = saved
    (path / "curve.json").write_text("[1, 2]")
    gptlab.save(path, tiny_model(seed=1, n_layers=1))
    assert names_in(path) == ["config.json", "curve.json", "model.safetensors"]
    assert (path / "curve.json").read_text() == "[1, 2]"
    loaded, tok = gptlab.load(path)
    assert same_model(loaded, tiny_model(seed=1, n_layers=1)) and tok is None
    assert names_in(path.parent) == ["model"]


def test_a_path_that_is_a_file_or_has_folders_in_it_is_refused(tmp_path):
    (tmp_path / "home" / "letters").mkdir(parents=True)
    (tmp_path / "file").write_text("a letter")
    for name in ("home", "file"):
        with pytest.raises(ValueError, match="path is .*folder for the checkpoint alone"):
            gptlab.save(tmp_path / name, tiny_model())
    assert names_in(tmp_path) == ["file", "home"] and names_in(tmp_path / "home") == ["letters"]


def test_an_unknown_name_lists_what_there_is(monkeypatch, tmp_path):
    gptlab.save(tmp_path / "data" / "big-world", tiny_model())
    gptlab.save(tmp_path / "data" / "small-world", tiny_model(), TOK)
    monkeypatch.setattr(checkpoint_module, "_data", lambda: tmp_path / "data")
    assert shipped() == ["big-world", "small-world"]
    with pytest.raises(ValueError, match="name_or_path is 'smal-world', but must be .*: big-world, small-world"):
        gptlab.load("smal-world")
    assert same_model(gptlab.load("small-world")[0], tiny_model())


class OpensAFile:
    """What a pickle may do when it is opened: here, leave a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (self.mark, "w")


@pytest.mark.parametrize("protocol", [2, 5])
def test_case_111_what_could_run_code_is_refused_and_has_not_run(saved, tmp_path, protocol):
    path, _ = saved
    mark = tmp_path / "mark"
    evil = OpensAFile(str(mark))
    torch.save(evil, tmp_path / "evil.pt")
    (tmp_path / "evil.safetensors").write_bytes(pickle.dumps(evil, protocol))
    for name in ("evil.pt", "evil.safetensors"):
        with pytest.raises(ValueError, match=rf"{name} is a pickle"):
            gptlab.load(tmp_path / name)
        shutil.copy(tmp_path / name, path / "model.safetensors")
        with pytest.raises(ValueError, match="model.safetensors is a pickle"):
            gptlab.load(path)
    assert not mark.exists()
    pickle.loads(pickle.dumps(evil, protocol)).close()
    assert mark.exists(), "it would have run"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (lambda content: content[:-8], r"cut short: [\d,]+ of [\d,]+ bytes"),
        (lambda content: content[:20], "cut short: 20 bytes of at least"),
        (lambda content: b"", "empty"),
        (lambda content: b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
    ],
)
def test_case_112_damaged_weights_are_named_in_one_line(saved, content, what):
    path, _ = saved
    weights = path / "model.safetensors"
    weights.write_bytes(content(weights.read_bytes()))
    for given_path in (path, weights):
        with pytest.raises(ValueError, match=what) as refused:
            gptlab.load(given_path)
        assert str(weights) in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_in_place_of_the_folder_is_refused_with_what_would_do(saved):
    with pytest.raises(ValueError, match="is one file, but a model is the folder with"):
        gptlab.load(saved[0] / "model.safetensors")


def rewritten(path, change):
    """The weights changed by `change`, as a file of somebody else would be: without our checksums."""
    stored = load_file(path / "model.safetensors")
    save_file(change(stored), path / "model.safetensors")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda w: w | {"blocks.0.mlp.up.weight": w["blocks.0.mlp.up.weight"].T.contiguous()},
            r"blocks.0.mlp.up.weight as float32 \(8, 32\).*\(32, 8\)",
        ),
        (lambda w: {name: w[name] for name in w if name != "final_norm.bias"}, "lacks final_norm.bias"),
        (lambda w: w | {"lm_head": torch.ones(3)}, "has lm_head, which does not belong"),
        (lambda w: w | {"final_norm.bias": torch.ones(8, dtype=torch.int64)}, r"final_norm.bias as int64 \(8,\)"),
        (lambda w: {"a": torch.ones(3)}, "holds 3 numbers, but config.json describes a model of [0-9,]+"),
        (lambda w: {}, "holds 0 numbers"),
    ],
)
def test_item_19_weights_that_do_not_fit_are_named(saved, change, what):
    path, _ = saved
    rewritten(path, change)
    with pytest.raises(ValueError, match=what) as refused:
        gptlab.load(path)
    assert str(path) in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"vocab_sise": 3}, "vocab_sise"),
        ({"n_layers": 0}, "n_layers is 0"),
        ({"n_heads": 3}, "multiple of n_heads"),
        ({"norm": "middle"}, "norm is 'middle'"),
        ({"n_layers": 10**12}, "config.json is not the file that was saved"),
        ({"n_heads": 4}, "config.json is not the file that was saved"),
        (None, "no config of a model"),
        ("[" * 100_000, "no config of a model"),
        ("{\n", "no config of a model"),
        ("\udcff", "no config of a model"),
    ],
)
def test_item_19_a_config_that_cannot_be_is_refused_with_the_reason(saved, config, what):
    path, model = saved
    text = config if isinstance(config, str) else json.dumps(config and model.config.to_dict() | config)
    (path / "config.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=what) as refused:
        gptlab.load(path)
    assert str(path / "config.json") in str(refused.value) and "\n" not in str(refused.value)


def test_item_19_a_missing_key_is_named(saved):
    path, model = saved
    settings = model.config.to_dict()
    del settings["d_model"]
    (path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match="config.json.*d_model"):
        gptlab.load(path)


def test_a_config_of_another_size_takes_no_memory_before_it_is_refused(saved):
    path, model = saved
    rewritten(path, lambda weights: weights)
    (path / "config.json").write_text(json.dumps(model.config.to_dict() | {"d_ff": 10**15}))
    with pytest.raises(ValueError, match="describes a model of"):
        gptlab.load(path)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(saved, name):
    path, _ = saved
    (path / name).unlink()
    with pytest.raises(ValueError, match=name):
        gptlab.load(path)


def test_another_models_tokenizer_is_noticed(saved):
    path, _ = saved
    Tokenizer.train("other words, other tokens", 262).save(path / "tokenizer.json")
    with pytest.raises(ValueError, match="tokenizer.json is not the file that was saved"):
        gptlab.load(path)


@pytest.fixture(scope="module")
def smallest(tmp_path_factory):
    """As `saved`, and as small as can be: a test that damages a file puts it right again."""
    path, model = tmp_path_factory.mktemp("damaged") / "m", tiny_model(n_layers=1, d_model=2)
    gptlab.save(path, model, TOK)
    return path, model


@settings(max_examples=150)
@given(name=st.sampled_from(FILES), cut=st.tuples(*[st.floats(0, 1)] * 2), put_in=st.binary(max_size=8))
def test_any_damage_ends_in_a_sentence_with_the_path(smallest, name, cut, put_in):
    path, model = smallest
    sound = (path / name).read_bytes()
    start, end = sorted(round(share * len(sound)) for share in cut)
    (path / name).write_bytes(sound[:start] + put_in + sound[end:])
    try:
        loaded, tok = gptlab.load(path)
    except ValueError as refused:
        assert str(path / name) in str(refused) and "\n" not in str(refused)
    else:
        assert same_model(loaded, model) and tok.to_json() == TOK.to_json()
    finally:
        (path / name).write_bytes(sound)


def test_case_120_a_full_disk_keeps_the_old_model(tmp_path):
    with little_room(tmp_path / "small", 262_144) as small:
        gptlab.save(small / "m", tiny_model(), TOK)
        with pytest.raises(OSError, match="m was not written, what was there is unchanged"):
            gptlab.save(small / "m", tiny_model(d_model=256), TOK)
        assert same_model(gptlab.load(small / "m")[0], tiny_model())
        assert names_in(small) == ["m"] and names_in(small / "m") == FILES


KILLED_WHILE_SAVING = """
import os, random, signal, sys, time
import torch, gptlab
from gptlab import GPT, GPTConfig, Tokenizer

torch.set_num_threads(1)
models, tok, path, draw = [], Tokenizer.train("so so on and on", 260), sys.argv[1], random.Random(0)
for seed in range(2):
    torch.manual_seed(seed)
    models.append(GPT(GPTConfig(260, 8, 1 + seed, 2, 8)).eval())  # of two sizes: a mixture would not load
gptlab.save(path, models[0], tok)
for _ in range(20):
    child = os.fork()
    if child == 0:
        for turn in range(10**9):
            gptlab.save(path, models[turn % 2], tok)
    time.sleep(draw.uniform(0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    model, _ = gptlab.load(path)
    right = models[model.config.n_layers - 1].state_dict()
    assert all(torch.equal(weight, right[name]) for name, weight in model.state_dict().items())
"""


def test_case_120_killed_at_any_moment_the_old_or_the_new_model_loads(tmp_path):
    said = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_SAVING, tmp_path / "m"], capture_output=True, text=True, env=os.environ
    )
    assert said.returncode == 0, said.stderr
