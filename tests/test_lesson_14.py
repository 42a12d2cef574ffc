"""Lesson 14 with weights: a small random GPT-2 from a hub on loopback, or from a folder; and why there are none."""

import os
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

import gptlab
from gptlab.tokenizer import Tokenizer
from tests.hub_server import PATIENT, running_hub
from tests.lessons import FIGURE, ROOT

LESSON = ROOT / "notebooks" / "14_the_real_gpt2.ipynb"
SOURCE = 'source = "gpt2"'

pytestmark = pytest.mark.lesson


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """GPT-2's vocabulary and kind, with few and random numbers behind it."""
    torch.manual_seed(0)
    sizes = {"context_length": 128, "n_layers": 3, "n_heads": 2, "d_model": 32, "activation": "gelu_tanh"}
    folder = tmp_path_factory.mktemp("published")
    gptlab.save(folder, gptlab.GPT(gptlab.GPTConfig(50_257, **sizes)), Tokenizer.gpt2(), layout="huggingface")
    return folder


@pytest.fixture
def run(tmp_path):
    """Run cells in a kernel of their own, whose cache is this test's: all code cells of the lesson by their ids."""

    def run_(*first: str, until: str | None = None, source: str = SOURCE, **settings: str) -> dict:
        notebook = nbformat.read(LESSON, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert SOURCE in code[0].source
        code[0].source = code[0].source.replace(SOURCE, source)
        last = [cell.id for cell in code].index(until) + 1 if until else len(code)
        notebook.cells = [*map(new_code_cell, first), *code[:last]]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= {"HF_HOME": str(tmp_path / "cache"), **PATIENT} | settings
        client = NotebookClient(notebook, timeout=600, kernel_name="python3", store_widget_state=False)
        client.execute(env=environment)
        return {cell.id: cell.outputs for cell in notebook.cells}

    return run_


def words(outputs: list) -> str:
    """What a cell ends in, without the progress bars above it."""
    return "".join(output.data["text/plain"] for output in outputs if output.output_type == "execute_result")


def test_every_cell_works_with_weights_from_the_hub(published, run):
    with running_hub(published) as server:
        outputs = run(HF_ENDPOINT=server.url)
        assert "model.safetensors" in server.sent
    assert words(outputs["load"]) == "'Loaded gpt2.'"
    assert "vocab_size=50257" in words(outputs["texts"])
    assert "truth" not in words(outputs["bars"])
    assert "3 layers with 2 heads" in words(outputs["app"])
    stored = nbformat.read(LESSON, as_version=4).cells
    assert {id for id, cell in outputs.items() if shows_a_figure(cell)} == {
        cell.id for cell in stored if shows_a_figure(cell.get("outputs", ()))
    }


def shows_a_figure(outputs: list) -> bool:
    return any(FIGURE in output.get("data", {}) for output in outputs)


def test_weights_from_a_folder_need_no_network(published, run):
    outputs = run(until="theta", source=f"source = {str(published)!r}", HF_HUB_OFFLINE="1")
    assert words(outputs["load"]) == repr(f"Loaded {published}.")
    assert int(words(outputs["theta"])) == gptlab.load(published)[0].config.parameter_count()["total"]


def test_a_folder_that_is_not_there_is_said_and_not_passed_over(run):
    with pytest.raises(Exception, match="no-such-folder"):
        run(until="load", source='source = "no-such-folder"', HF_HUB_OFFLINE="1")


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ((), "the hub cannot be reached"),
        (("import sys\nsys.modules['huggingface_hub'] = None",), "pip install 'gptlab[hub]'"),
    ],
)
def test_without_weights_it_says_why_and_goes_on_with_the_small_world(run, first, reason):
    outputs = run(*first, until="texts", HF_HUB_OFFLINE="1")
    assert reason in words(outputs["load"]) and "small world's model" in words(outputs["load"])
    assert "vocab_size=2385" in words(outputs["texts"])


def test_the_tests_of_lessons_find_no_weights_whoever_runs_them():
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert list(Path(os.environ["HF_HUB_CACHE"]).iterdir()) == []
