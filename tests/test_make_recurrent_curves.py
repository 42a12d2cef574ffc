"""The script that trains what lesson 10 compares, on steps that take seconds; and the record and weights that ship."""

import json

import pytest
import torch

import gptlab
from gptlab.corpus import StoryCorpus
from gptlab.loss import mean_loss
from gptlab.relatives.recurrent import load_recurrent
from gptlab.world import ENGLISH_WORLD
from scripts import make_recurrent_curves as script

FOLDER = script.ROOT / "gptlab" / "data" / "recurrent"
STORIES = ("rnn", "gru", "lstm", "gpt")
SHORT = (
    "--steps 2 --long-steps 2 --tokens-per-batch 300 --validate-every 1 --held-out 3 --long-texts 1 "
    "--stream-tokens 3000 --lengths 64 128 --repeats 1"
)


@pytest.fixture(scope="module")
def tok():
    return gptlab.Tokenizer.small_world()


@pytest.fixture(scope="module")
def record():
    return json.loads((FOLDER / "record.json").read_text())


def stream(tok, **options):
    return script.Stream(tok, **{"row": 8, "batch_size": 3, "n_tokens": 500, "held_out": 2} | options)


def test_it_trains_each_model_once_and_measures(tmp_path, capsys):
    words = [*SHORT.split(), "--output", str(tmp_path)]
    script.main(words)
    record = json.loads((tmp_path / "record.json").read_text())
    assert list(record["models"]) == list(script.NAMES)
    for name, row in record["models"].items():
        assert [at["step"] for at in row["validated"]] == [1, 2], name
        assert row["floor"] < row["validated"][-1]["val_loss"] < 9
    for times in record["times"].values():
        assert all(len(column) == len(times["lengths"]) and min(column) > 0 for column in times.values())
    assert capsys.readouterr().out.count("val_loss") == 2 * (4 * 3 + 3)
    script.main(words)
    assert capsys.readouterr().out == ""  # all were there


def test_rows_that_follow_go_on_where_the_last_ones_stopped(tok):
    data = stream(tok, following=True)
    first, second = data.batch(0), data.batch(1)
    assert torch.equal(first.inputs[:, 1:], first.targets[:, :-1])
    assert torch.equal(first.targets[:, -1], second.inputs[:, 0])


def test_other_rows_are_windows_anywhere_in_the_text(tok):
    data = stream(tok)
    text = data.ids.tolist()
    for row in data.batch(0).inputs.tolist():
        assert any(text[i : i + 8] == row for i in range(len(text)))
    assert not torch.equal(data.batch(0).inputs, data.batch(1).inputs)
    assert torch.equal(data.batch(1).inputs, stream(tok).batch(1).inputs)


def test_the_floor_of_a_long_text_is_the_truths_surprise_at_its_tokens(tok):
    held_out = stream(tok).held_out
    [batch] = held_out.batches
    assert batch.inputs.shape == batch.targets.shape == (2, script.LONG)
    rows = torch.cat([batch.inputs, batch.targets[:, -1:]], 1).tolist()
    log_probs = []
    for row in rows:
        taken = 0
        for story in tok.decode(row).split("<|endoftext|>")[1:-1]:  # the last one is cut off
            told = ENGLISH_WORLD.log_probs(story)
            taken += len(told)
            log_probs += told
        assert script.LONG - 200 < taken <= script.LONG
    assert -sum(log_probs) / len(log_probs) == pytest.approx(held_out.floor, abs=0.05)


def test_pieces_know_nothing_of_one_another(tok):
    model = gptlab.GPT(script.gpt_config(tok, script.PIECE))
    ids = torch.randint(0, 100, (1, 2 * script.PIECE))
    other = ids.clone()
    other[0, 0] += 1
    before, after = (script.Pieces(model)(each) for each in (ids, other))
    assert torch.equal(before[:, script.PIECE :], after[:, script.PIECE :])
    assert not torch.equal(before[:, : script.PIECE], after[:, : script.PIECE])


def test_the_models_that_ship_have_equally_many_weights(record):
    assert list(record["models"]) == list(script.NAMES)
    sizes = [row["parameters"] for row in record["models"].values()]
    stories = [record["models"][name]["parameters"] for name in STORIES]
    assert max(stories) < 1.01 * min(stories) and max(sizes) < 1.03 * min(sizes)


def test_the_record_falls_and_is_never_below_the_floor(record):
    for name, row in record["models"].items():
        losses = [at["val_loss"] for at in row["validated"]]
        assert row["validated"][-1]["step"] == record["settings"]["steps" if name in STORIES else "long_steps"], name
        assert row["floor"] < losses[-1] < losses[0]


@pytest.mark.parametrize("name", STORIES)
def test_no_model_would_have_done_better_at_the_next_rate(record, name):
    tried = {float(rate): loss for rate, loss in record["models"][name]["tried"].items()}
    best = min(tried, key=tried.get)
    assert (
        best == record["models"][name]["learning_rate"]
        and tried[best] == record["models"][name]["validated"][-1]["val_loss"]
    )
    assert min(tried) < best < max(tried) and set(script.RATES[name]) <= set(tried)


def test_long_texts_are_learned_at_the_rate_found_on_stories(record):
    for name, like in script.RATE_OF.items():
        assert record["models"][name]["learning_rate"] == record["models"][like]["learning_rate"]


@pytest.mark.parametrize("name", STORIES)
def test_the_weights_that_ship_are_those_of_the_record(record, tok, name):
    path = FOLDER / name
    model = gptlab.load(path)[0] if name == "gpt" else load_recurrent(path.with_suffix(".safetensors"))
    settings = record["settings"]
    held_out = StoryCorpus(
        ENGLISH_WORLD, tok, context_length=script.CONTEXT, tokens_per_batch=settings["tokens_per_batch"],
        held_out_stories=settings["held_out"], seed=settings["seed"],
    ).held_out  # fmt: skip
    assert mean_loss(model, held_out.batches) == pytest.approx(
        record["models"][name]["validated"][-1]["val_loss"], abs=5e-3
    )


def test_what_ships_is_small():
    assert all(path.stat().st_size < 1_000_000 for path in FOLDER.rglob("*.safetensors"))
