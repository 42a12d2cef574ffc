"""The benchmarks' arithmetic, and that what they compare computes the same."""

import subprocess
import sys

import pytest
import torch

import gptlab
from benchmarks import training
from benchmarks._measure import Comparison, rates, seconds, short
from benchmarks._models import PlainGPT, S, ours, theirs
from benchmarks.decoding import generate, prompt
from tests.lessons import ROOT

NAMES = {
    "attention_norm": "norm1",
    "attention.qkv": "qkv",
    "attention.output": "out",
    "mlp_norm": "norm2",
    "mlp.up": "mlp.0",
    "mlp.down": "mlp.2",
    "token_embedding": "tokens",
    "final_norm": "norm",
}


def plain(model):
    """The plain model with the same weights."""
    weights = {}
    for name, weight in model.state_dict().items():
        for long, short_name in NAMES.items():
            name = name.replace(f"{long}.", f"{short_name}.")
        weights[name.replace("position_embedding", "positions.weight")] = weight
    other = PlainGPT(model.config).eval()
    other.load_state_dict(weights | {"head.weight": weights["tokens.weight"]})
    return other


def lively():
    """A model whose choices are far apart."""
    model = ours(S)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
    return model


@torch.no_grad()
def test_the_contestants_compute_the_same():
    model, ids = lively(), prompt()
    others = {"plain": plain(model), "transformers": theirs(model)}
    for other in others.values():
        torch.testing.assert_close(training.logits_of(other, ids), model(ids), atol=1e-3, rtol=1e-4)
    written = gptlab.greedy(model, ids, 24)
    assert written.equal(others["plain"].generate(ids, 24)) and written.equal(generate(others["transformers"], ids, 24))
    assert len(written[0, 32:].unique()) > 5
    assert (
        gptlab.beam_search(model, ids, 12, 5)[0][0].tolist()
        == generate(others["transformers"], ids, 12, num_beams=5)[0].tolist()
    )


def test_a_training_step_of_each_leads_to_the_same_losses():
    model = ours(S)
    data = training.RandomIds(S, rows=2)
    steps = gptlab.train(ours(S), data, 10**6, **training.RECIPE)
    usual = {"plain": training.usual_step(plain(model), data), "transformers": training.usual_step(theirs(model), data)}
    for _ in range(3):
        loss = next(steps).loss
        assert {name: step() for name, step in usual.items()} == pytest.approx(dict.fromkeys(usual, loss), abs=1e-4)


def test_a_row_says_how_many_times_better_the_first_is():
    rows = list(Comparison("write", "tokens/s", {"gptlab": [30, 10, 20], "other": [4, 5, 6]}).rows())
    assert rows == [["write, tokens/s", "gptlab", "20", "10 – 30", "", "3"], ["", "other", "5", "4 – 6", "4.00 ×", "3"]]
    rows = list(Comparison("build", "ms", {"gptlab": [2.0], "other": [5.0]}).rows())
    assert rows[1] == ["", "other", "5", "", "2.50 ×", "1"]


def test_contestants_take_turns_and_the_first_round_is_not_counted():
    calls = []
    taken = seconds({name: lambda name=name: calls.append(name) for name in "abc"}, 0)
    assert {name: len(times) for name, times in taken.items()} == {"a": 3, "b": 3, "c": 3}
    rounds = [calls[i : i + 3] for i in range(0, len(calls), 3)]
    assert len(rounds) == 4 and all(set(one) == set("abc") for one in rounds)
    assert rates({"a": [0.5]}, 10) == {"a": [20]}


@pytest.mark.parametrize(("value", "said"), [(1234.5, "1,234"), (0, "0"), (99.94, "99.9"), (0.03756, "0.0376")])
def test_figures_are_short(value, said):
    assert short(value) == said


def test_the_benchmarks_begin_outside_of_the_tests():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "nothing"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 1 and run.stderr.startswith("there is no nothing; there are greedy, sample"), run.stderr
