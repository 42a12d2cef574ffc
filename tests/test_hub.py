"""Weights from the hub, from a server on loopback: fetched once, checked, and said plainly when not there."""

import os
import subprocess
import sys

import pytest
import torch

import gptlab
from gptlab import hub
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from tests.hub_server import PATIENT, running_hub

LOAD = """
import gptlab, sys
try:
    model, tok = gptlab.load(sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
else:
    print("loaded", model.config.d_model, tok.vocab_size, round(model.token_embedding.weight.sum().item(), 3))
"""
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    torch.manual_seed(0)
    tok = Tokenizer.train("the cat sat on the mat and the dog ran after it", 270)
    model = GPT(gptlab.GPTConfig(270, 32, 2, 2, 64))
    folder = tmp_path_factory.mktemp("published")
    gptlab.save(folder, model, tok, layout="huggingface")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle that nobody wants")
    return folder, f"loaded 64 270 {model.token_embedding.weight.sum().item():.3f}"


@pytest.fixture
def load(tmp_path):
    """Load in a process of its own, whose cache is this test's."""

    def run(name="gpt2", url="http://127.0.0.1:9", **more):
        settings = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": url, **PATIENT, **more}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        said = subprocess.run(
            [sys.executable, "-c", LOAD, name], env=environment | settings, capture_output=True, text=True, timeout=300
        )
        assert said.returncode == 0, said.stderr
        return said.stdout.strip()

    return run


def test_it_is_fetched_once_and_then_kept(published, load):
    folder, loaded = published
    with running_hub(folder) as server:
        assert load(url=server.url) == loaded
        assert sorted(server.sent) == ["config.json", "merges.txt", WEIGHTS, "vocab.json"]
        server.sent.clear()
        assert load(url=server.url) == loaded
        assert server.sent == []
    assert load(HF_HUB_OFFLINE="1") == loaded


def test_broken_off_half_way_it_is_no_model_and_the_next_try_works(published, load):
    folder, loaded = published
    with running_hub(folder) as server:
        server.faults[WEIGHTS] = "cut"
        said = load(url=server.url)
        assert said.startswith("ConnectionError") and "try again" in said and "\n" not in said
        assert not load(HF_HUB_OFFLINE="1").startswith("loaded")
        server.faults.clear()
        assert load(url=server.url) == loaded


def test_a_corrupt_file_is_taken_out_and_the_next_try_works(published, load):
    folder, loaded = published
    with running_hub(folder) as server:
        server.faults[WEIGHTS] = "corrupt"
        said = load(url=server.url)
        assert said.startswith("ConnectionError") and "damaged on the way" in said
        assert not load(HF_HUB_OFFLINE="1").startswith("loaded")
        server.faults.clear()
        assert load(url=server.url) == loaded


def test_offline_with_an_empty_cache_a_sentence_says_what_to_do(load):
    for settings in ({"HF_HUB_OFFLINE": "1"}, {}):
        said = load(**settings)
        assert said.startswith("ConnectionError openai-community/gpt2"), said
        assert "give its path" in said and "\n" not in said


def test_a_repository_that_is_not_there_is_refused_by_name(published, load):
    with running_hub(published[0]) as server:
        said = load("hub:nobody/nothing", url=server.url)
    assert said.startswith("ValueError name_or_path is 'hub:nobody/nothing'")


def test_any_repository_by_its_name(published, load):
    with running_hub(published[0]) as server:
        assert load("hub:openai-community/gpt2", url=server.url) == published[1]


def test_a_name_that_is_none_is_refused_without_asking():
    with pytest.raises(ValueError, match="hub:owner/name"):
        hub.fetch("hub:nonsense")


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"pip install 'gptlab\[hub\]'"):
        gptlab.load("gpt2")
