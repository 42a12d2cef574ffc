"""The script that fine-tunes and records, on steps that take seconds; and what it has made, which ships."""

import json

import pytest

import gptlab
from gptlab.finetuning import tasks
from scripts import make_fine_tuning as script

SMALL = "--steps 3 --validate-every 2 --questions 2 --reward-steps 2 --dpo-steps 2 --grpo-steps 2 --output"


@pytest.fixture(scope="module")
def record():
    return json.loads((script.DATA / "fine_tuning.json").read_text())


def test_it_makes_a_model_its_curve_and_a_record_part_by_part(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "BETAS", (0.1, 1.0))
    monkeypatch.setattr(script, "LOOKS", (1, 2))
    script.main([*SMALL.split(), str(tmp_path)])
    model, tok = gptlab.load(tmp_path / script.NAME)
    assert tok.vocab_size == model.config.vocab_size
    rows = json.loads((tmp_path / script.NAME / "curve.json").read_text())["rows"]
    assert [row["step"] for row in rows] == [2, 3]
    assert not list(tmp_path.glob("*unfinished*"))
    record = json.loads((tmp_path / "fine_tuning.json").read_text())
    assert [row["step"] for row in record["reward"]] == [0, 1, 2]
    assert [one["beta"] for one in record["dpo"]] == [0.1, 1.0]
    assert record["dpo"][0]["rows"][0]["kl"] == 0
    assert [len(one["rounds"]) for one in record["grpo"]] == [2, 2]
    assert list(record["grpo"][0]["groups"]) == ["0", "1", "2"]
    assert "held out" in capsys.readouterr().out
    before = record["dpo"]
    script.main([*SMALL.split(), str(tmp_path), "--only", "reward", "--reward-steps", "1"])
    again = json.loads((tmp_path / "fine_tuning.json").read_text())
    assert again["dpo"] == before and [row["step"] for row in again["reward"]] == [0, 1]


def test_the_curve_of_the_model_that_ships_falls():
    curve = gptlab.recorded_curve(script.NAME)
    assert curve.steps[-1] == 1500 and curve.val_loss[-1] < 0.3 < 0.7 < curve.val_loss[0]


def test_its_judge_knows_manners_and_starts_from_nothing(record):
    first, last = record["reward"][0], record["reward"][-1]
    assert first["right"] == first["wrong"] == [0, 0, 0]
    told, curt, full = last["right"]
    assert tuple(tasks.MANNERS) == ("as told", "curt", "full") and curt < told < full


def test_dpo_goes_the_further_the_smaller_beta_is(record):
    assert [one["beta"] for one in record["dpo"]] == list(script.BETAS)
    for one in record["dpo"]:
        assert one["rows"][0]["margin"] == one["rows"][0]["kl"] == 0
    kl = [one["rows"][-1]["kl"] for one in record["dpo"]]
    margin = [one["rows"][-1]["margin"] for one in record["dpo"]]
    assert margin == sorted(margin, reverse=True)
    assert min(kl[:3]) > 5 * kl[-1]


def test_grpo_rises_from_below_30_to_above_80_per_cent(record):
    for one in record["grpo"]:
        assert len(one["rounds"]) == 40 and list(one["groups"]) == ["0", "2", "5", "10", "20", "40"]
    held = record["grpo"][0]["held_out"]
    assert held["accuracy"] > 0.8 and held["form"] > 0.8
