"""The model at steps of its training, from the folders that come with the package."""

import pytest
import torch

import gptlab
from gptlab import checkpoint, snapshots
from gptlab.config import GPTConfig
from gptlab.model import GPT
from gptlab.snapshots import load_snapshots


def test_it_begins_untrained_and_ends_with_the_shipped_model():
    stages = load_snapshots("small-world")
    steps = list(stages)
    assert steps == sorted(steps) and steps[0] == 0 and len(steps) > 2
    assert steps[-1] == gptlab.recorded_curve("small-world").steps[-1]
    shipped, _ = gptlab.load("small-world")
    assert all(torch.equal(one, other) for one, other in zip(stages[steps[-1]].parameters(), shipped.parameters()))  # noqa: B905
    assert {model.config for model in stages.values()} == {shipped.config}
    assert not any(model.training for model in stages.values())


def test_what_was_kept_on_the_way_is_found_by_its_name(tmp_path, monkeypatch):
    torch.manual_seed(1)
    models = {name: GPT(GPTConfig(40, 8, 1, 1, 4)) for name in ("tiny", "tiny@5", "tiny@20", "tiny-other@7")}
    for name, model in models.items():
        gptlab.save(tmp_path / name, model)
    monkeypatch.setattr(checkpoint, "_data", lambda: tmp_path)
    monkeypatch.setattr(snapshots, "recorded_curve", lambda name: gptlab.recorded_curve()._replace(steps=[10, 100]))
    stages = load_snapshots("tiny")
    assert list(stages) == [5, 20, 100]
    for step, name in ((5, "tiny@5"), (20, "tiny@20"), (100, "tiny")):
        weight = models[name].token_embedding.weight
        assert torch.equal(stages[step].token_embedding.weight, weight)


def test_loading_them_leaves_the_global_generator_alone():
    torch.manual_seed(5)
    load_snapshots()
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(after, torch.rand(1))


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match="name_or_path is 'no-such'"):
        load_snapshots("no-such")
