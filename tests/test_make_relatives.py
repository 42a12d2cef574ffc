"""The scripts that make the translator and the encoder of hidden words, on models so small that it takes seconds."""

import json

import pytest
import torch

import gptlab
from gptlab.relatives.translator import load_translator
from scripts import make_masked_encoder, make_translator

TINY = {
    make_translator: "--width 8 --heads 1 --stories 30 --steps 6 --log-every 2 --validate-every 3",
    make_masked_encoder: "--width 8 --heads 1 --layers 1 --stories 400 --steps 4 --validate-every 2 --context 12",
}


@pytest.fixture
def make(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(make_translator, "JUDGED", range(20))
    monkeypatch.setattr(make_translator, "VALIDATED", range(20, 60))

    def run(script, words=""):
        folders = ["--work", str(tmp_path / "work"), "--output", str(tmp_path / "out")]
        script.main([*TINY[script].split(), *folders, *words.split()])
        return json.loads((tmp_path / "out" / "curve.json").read_text()), capsys.readouterr().out

    return run


def weights(tmp_path, script):
    out = tmp_path / "out"
    model = load_translator(out).model if script is make_translator else gptlab.load(out)[0]
    return list(model.parameters())


def test_the_translator_comes_with_its_curve(make, tmp_path):
    record, said = make(make_translator)
    assert [row["step"] for row in record["rows"]] == [2, 4, 6]
    assert [row["val_loss"] is None for row in record["rows"]] == [True, True, False]
    assert record["rows"][0]["loss"] > record["rows"][-1]["loss"]
    assert record["result"]["parameters"] == sum(p.numel() for p in weights(tmp_path, make_translator))
    assert 0 <= record["result"]["exact"] <= 1 and record["result"]["sentences"] > 0
    assert "held-out sentences exact" in said


def test_the_encoder_comes_with_its_curve(make, tmp_path):
    record, said = make(make_masked_encoder)
    model, tok = gptlab.load(tmp_path / "out")
    assert not model.config.causal and model.config.vocab_size == tok.vocab_size
    assert [row["step"] for row in record["rows"]] == [2, 4]
    assert record["rows"][-1]["val_loss"] == record["result"]["loss"]
    assert "nats per hidden word" in said


@pytest.mark.parametrize("script", TINY)
def test_broken_off_it_goes_on_to_the_same_model(script, make, tmp_path, monkeypatch):
    whole_record, _ = make(script)
    whole = weights(tmp_path, script)

    if script is make_translator:
        saved, place = make_translator.save_state, "save_state"
    else:
        saved, place = make_masked_encoder.json.dumps, None

    def break_off(*args, **options):
        saved(*args, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(*((script, place) if place else (make_masked_encoder.json, "dumps")), break_off)
        make(script, "--anew")
    record, _ = make(script)
    assert all(map(torch.equal, weights(tmp_path, script), whole))
    plain = [[{k: v for k, v in row.items() if k != "seconds"} for row in r["rows"]] for r in (record, whole_record)]
    assert plain[0] == plain[1]


def test_before_training_scores_differ(make):
    torch.manual_seed(0)
    model = make_translator.first_weights(48, 96, 4, 1, 1)
    memory, x = model.encode(torch.randint(2_000, (2, 20))), torch.randn(2, 5, 96)
    across = model.decoder.blocks[0].cross_attention
    q, k = across.q(x), across.kv(memory)[..., :96]
    assert 0.05 < (q @ k.transpose(1, 2) / 24**0.5).std() < 5
