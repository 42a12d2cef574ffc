"""The script that records sizes against loss, on steps that take seconds; and the record that ships."""

import json

from gptlab.config import GPTConfig
from gptlab.tokenizer import Tokenizer
from scripts import make_training_sizes as script


def test_it_writes_a_row_for_each_size(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "SIZES", (script.Size(1, 1, 8), script.Size(1, 2, 16)))
    path = tmp_path / "sizes.json"
    words = "--steps 4 --tokens-per-batch 300 --validate-every 2 --held-out 3 --output"
    script.main([*words.split(), str(path)])
    record = json.loads(path.read_text())
    assert [row["width"] for row in record["sizes"]] == [8, 16]
    for row in record["sizes"]:
        assert [at["step"] for at in row["validated"]] == [2, 4]
        assert row["validated"][1]["val_loss"] < row["validated"][0]["val_loss"] + 0.1
    assert record["settings"] == {
        "steps": 4, "tokens_per_batch": 300, "validate_every": 2, "held_out": 3, "seed": 0, "threads": 1,
    }  # fmt: skip
    assert capsys.readouterr().out.count("loss") == 2


def test_the_record_that_ships_is_of_the_scripts_sizes_and_never_below_the_floor():
    record = json.loads((script.ROOT / "gptlab" / "data" / "training_sizes.json").read_text())
    sizes = [script.Size(row["layers"], row["heads"], row["width"]) for row in record["sizes"]]
    assert sizes == list(script.SIZES)
    vocabulary = Tokenizer.small_world().vocab_size
    for size, row in zip(sizes, record["sizes"], strict=True):
        assert row["parameters"] == GPTConfig(vocabulary, script.CONTEXT, *size).parameter_count()["total"]
        assert min(at["val_loss"] for at in row["validated"]) > record["floor"] > 0
    last = [row["validated"][-1]["val_loss"] for row in record["sizes"]]
    assert last == sorted(last, reverse=True)
