"""The shipped model against the truth: how near the floor it is, at each kind of link too, and what it writes."""

from importlib.resources import files
from pathlib import Path

import pytest
import torch

import gptlab
from gptlab.checkpoint import WEIGHTS
from gptlab.evaluation import evaluate
from gptlab.world import END, ENGLISH_WORLD, ImpossiblePrefix, analyse
from tests.unchecked import unchecked

STORIES, SEED = 400, 10_000_000  # held out: training draws its stories from other seeds
WRITTEN = 200
README = Path(__file__).resolve().parent.parent / "README.md"


@pytest.fixture(scope="module")
def shipped():
    return gptlab.load("small-world")


@pytest.fixture(scope="module")
def evaluation(shipped):
    with unchecked():
        return evaluate(*shipped, ENGLISH_WORLD, STORIES, SEED)


@pytest.fixture(scope="module")
def written(shipped):
    model, tok = shipped
    begin = torch.full((WRITTEN, 1), tok.end_of_text)
    with unchecked():
        # top_p leaves out the last 5 % of each choice, where what was never seen has its small share.
        rows = gptlab.sample(
            model, begin, model.config.context_length, top_p=0.95, generator=0, stop_token=tok.end_of_text
        )
    texts = [tok.decode(row) for row in rows.tolist()]
    return [text.split(END)[1] + END for text in texts]


def test_it_is_within_reach_of_the_floor(evaluation):
    assert 0 <= evaluation.kl <= 0.05
    assert abs((evaluation.loss - evaluation.floor) - evaluation.kl) < 0.01


def test_the_file_is_small():
    assert (files("gptlab") / "data" / "small-world" / WEIGHTS).stat().st_size <= 12_000_000


def test_it_has_learned_each_kind_of_link(evaluation):
    assert {kind: at.kl for kind, at in evaluation.by_kind.items() if at.kl > 0.15} == {}
    assert {kind: at.accuracy for kind, at in evaluation.by_kind.items() if (at.accuracy or 1.0) < 0.95} == {}
    assert all(at.count >= 50 for at in evaluation.by_kind.values())


def test_the_readme_says_how_it_fares(evaluation):
    rows = [line.strip("| ").split(" | ") for line in README.read_text(encoding="utf-8").splitlines() if "|" in line]
    said = {cells[0]: cells[1:] for cells in rows if cells[0] in evaluation.by_kind}
    assert said.keys() == evaluation.by_kind.keys()
    for kind, (kl, accuracy) in said.items():
        at = evaluation.by_kind[kind]
        assert float(kl) == pytest.approx(at.kl, abs=0.01), kind
        if at.accuracy is None:
            assert accuracy == "none is certain"
        else:
            assert float(accuracy.rstrip(" %")) == pytest.approx(100 * at.accuracy, abs=1), kind


def test_its_stories_are_stories_that_the_world_could_have_told(written):
    impossible = [word for word in map(first_impossible_word, written) if word is not None]
    assert len(impossible) <= 0.05 * WRITTEN, impossible
    assert len(set(written)) > 0.95 * WRITTEN


def first_impossible_word(text: str) -> str | None:
    try:
        analyse(text)
    except ImpossiblePrefix as impossible:
        return impossible.word.strip()
    return None
