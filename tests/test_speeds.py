"""Tokens per second with and without a cache: what is measured, what is recorded, what the button does."""

import json
import runpy
from importlib.resources import files
from pathlib import Path

import pytest

import gptlab
from gptlab import apps
from gptlab.apps.speeds import measure
from tests.examples._model import untrained

ROOT = Path(__file__).resolve().parent.parent
RECORDED = {"lengths": [8, 32], "kept": [900.0, 850.0], "anew": [600.0, 200.0]}
TEXT = "text/plain"


@pytest.fixture
def app():
    return apps.cache_speed(untrained()[0], RECORDED)


@pytest.fixture
def recorded():
    return json.loads((files("gptlab") / "data" / "decoding.json").read_text(encoding="utf-8"))


def test_with_a_cache_the_last_token_alone_is_read(monkeypatch):
    model, _ = untrained()
    read = []
    hidden = model.hidden

    def counted(ids, cache=None):
        read.append((ids.shape[1], 0 if cache is None else cache.length))
        return hidden(ids, cache)

    monkeypatch.setattr(model, "hidden", counted)
    speeds = measure(model, [1, 8], repeats=1)
    assert read == [(1, 0), (7, 0), (1, 7), (1, 0), (8, 0)]  # kept at 1 and at 8, then anew
    assert speeds.lengths == [1, 8] and min(*speeds.kept, *speeds.anew) > 0


@pytest.mark.parametrize("lengths", [[], [0], [33]])
def test_lengths_that_the_model_cannot_read_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths"):
        measure(untrained()[0], lengths)


def test_before_the_button_the_record_is_shown_and_nothing_is_measured(app):
    assert [trace.visible for trace in app.figure.data] == [None, None, False, False]
    assert len(app.still().data) == 2
    assert "900.00 at 8, 850.00 at 32" in app._repr_mimebundle_()[TEXT]


def test_the_button_draws_what_is_measured_here_beside_the_record(app, monkeypatch):
    here = apps.speeds.Speeds([8, 32], [1000.0, 900.0], [500.0, 100.0])
    monkeypatch.setattr("gptlab.apps.speeds.measure", lambda model, lengths: here)
    app.button.click()
    assert app.figure.data[2].y.tolist() == [1000, 900] and app.figure.data[3].y.tolist() == [500, 100]
    assert all(trace.visible for trace in app.figure.data[2:])
    assert "at 32 tokens, the cache makes the next token 9 times as fast" in app.line.value
    assert len(app.still().data) == 4


def test_case_133_what_goes_wrong_is_said_in_the_apps_own_line(app, monkeypatch):
    monkeypatch.setattr("gptlab.apps.speeds.measure", lambda *_: 1 / 0)
    app.press()
    assert "This did not work" in app.line.value


def test_a_record_longer_than_the_context_is_refused():
    with pytest.raises(ValueError, match="longest length is 64, but must be at most 32"):
        apps.cache_speed(untrained()[0], RECORDED | {"lengths": [8, 64]})


# The record that comes with the package ---------------------------------------------------------------------------


def test_a_longer_text_costs_more_without_a_cache_than_with_one(recorded):
    speed = recorded["speed"]
    assert len(speed["lengths"]) == len(speed["kept"]) == len(speed["anew"])
    assert speed["kept"][-1] > 10 * speed["anew"][-1]
    assert speed["anew"][0] > 10 * speed["anew"][-1]


def test_the_recorded_stories_are_those_of_the_shipped_model(recorded):
    """One point again, with fewer stories: the record is out of date if it is far from it."""
    script = runpy.run_path(str(ROOT / "scripts" / "record_decoding.py"))
    model, tok = gptlab.load("small-world")
    stories, n = recorded["stories"], 40
    point = stories["temperatures"].index(0.75)
    rows = script["written"](model, tok, script["openings"](tok, n), 0.75, None)
    share = sum(script["told"](tok.decode(row)) for row in rows) / n
    assert share == pytest.approx(stories["possible"][point], abs=0.25)


def test_the_hotter_the_more_varied_and_the_less_possible(recorded):
    stories = recorded["stories"]
    assert stories["possible"][-1] < 0.05 < stories["possible"][2]
    assert stories["distinct"][0] < stories["world_distinct"] < stories["distinct"][-1]
    for plain, cut in (("possible", "possible_top_p"), ("distinct", "distinct_top_p")):
        assert len(stories[plain]) == len(stories[cut]) == len(stories["temperatures"])
