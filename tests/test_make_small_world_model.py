"""The script that makes the shipped model, on a model so small that it takes seconds."""

import json
from itertools import pairwise

import pytest
import torch

import gptlab
from scripts import make_small_world_model as script

TINY = """
    --precision float32 --threads 1 --layers 1 --heads 1 --width 8 --context 192
    --held-out 5 --judged-on 10
"""


@pytest.fixture
def make(tmp_path, capsys, monkeypatch):
    small = [leg._replace(tokens_per_batch=leg.tokens_per_batch // 8) for leg in script.LEGS]
    monkeypatch.setattr(script, "LEGS", small)

    def run(words=""):
        folders = ["--work", str(tmp_path / "work"), "--output", str(tmp_path / "out")]
        script.main([*TINY.split(), "--share", "0.008", "--validate-every", "40", *folders, *words.split()])
        return capsys.readouterr().out

    return run


def test_it_ends_in_a_model_with_its_tokenizer_and_its_curve(make, tmp_path):
    said = make("--snapshots 0 40")
    model, tok = gptlab.load(tmp_path / "out")
    assert model.config.d_model == 8 and tok.vocab_size == model.config.vocab_size
    record = json.loads((tmp_path / "out" / "curve.json").read_text())
    assert [row["step"] for row in record["rows"]] == [40, 50, 80, 96, 100, 112]  # 96 and 16 steps
    assert [row["val_loss"] is None for row in record["rows"]] == [False, True, False, False, True, False]
    assert all(one["tokens"] < other["tokens"] for one, other in pairwise(record["rows"]))
    assert record["rows"][0]["loss"] > record["rows"][-1]["loss"] > record["rows"][-1]["floor"] > 0
    assert record["result"]["gap"] == pytest.approx(record["result"]["loss"] - record["result"]["floor"], abs=2e-5)
    assert record["settings"]["share"] == 0.008 and record["settings"]["seed"] == 0
    assert [leg["steps"] for leg in record["legs"]] == [12_000, 2_000]
    assert "minutes left" in said and "nats per token" in said
    for step in (0, 40):
        assert gptlab.load(tmp_path / f"out@{step}")[0].config == model.config


def test_before_training_scores_differ_and_neighbours_have_the_nearest_positions():
    torch.manual_seed(0)
    model = script.first_weights(gptlab.GPTConfig(500, 64, 2, 4, 128)).eval()
    ids = torch.randint(500, (4, 64))
    scores = gptlab.trace(model, ids).scores
    assert 0.1 < scores.std() < 3
    position = model.position_embedding
    nearness = torch.nn.functional.cosine_similarity(position[10:11], position)
    assert nearness.argsort(descending=True)[:3].sort().values.tolist() == [9, 10, 11]


def test_broken_off_it_goes_on_to_the_same_model(make, tmp_path, monkeypatch):
    make()
    whole, _ = gptlab.load(tmp_path / "out")
    rows = json.loads((tmp_path / "out" / "curve.json").read_text())["rows"]

    add = script.Curve.add

    def break_off(curve, step, last):
        if step.number == 10 and curve.rows and curve.rows[-1]["step"] >= 96:
            raise KeyboardInterrupt
        return add(curve, step, last)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(script.Curve, "add", break_off)
        make("--anew")
    make()
    again, _ = gptlab.load(tmp_path / "out")
    assert all(map(torch.equal, again.parameters(), whole.parameters()))
    for old, new in zip(rows, json.loads((tmp_path / "out" / "curve.json").read_text())["rows"], strict=True):
        assert (new["step"], new["val_loss"], new["tokens"]) == (old["step"], old["val_loss"], old["tokens"])
        assert new["seconds"] > 0
