"""Texts scored word by word: against plain sums over the model's probabilities, and against the world's own."""

import math

import numpy as np
import pytest
import torch

from gptlab import apps, figures, world
from gptlab.apps import scoring
from gptlab.figures import Scored
from gptlab.tokenizer import Tokenizer
from tests.examples._model import untrained
from tests.pictures import speech, words

TEXT = "There was once a guard named Leo Hall."
BARS, DIAMONDS, CROSSES = 0, 1, 2
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y}"
AWKWARD = ["", ".", "\n\n", "مرحبا بالعالم", "\ud83d", HOSTILE, "The dragon zzz", "<|endoftext|>", "The cat. " * 400]


# The numbers ------------------------------------------------------------------------------------------------------


def test_the_surprises_are_those_of_plain_loops():
    model, tok = untrained()
    pieces = ["There", " was", " zzz", "."]
    expected, read = [], [tok.end_of_text]
    for piece in pieces:
        total = 0.0
        for id in tok.encode(piece):
            with torch.no_grad():
                logits = model(torch.tensor([read]))[0, -1].tolist()
            total -= logits[id] - max(logits) - math.log(sum(math.exp(z - max(logits)) for z in logits))
            read.append(id)
        expected.append(total)
    assert len(read) > 1 + len(pieces), "a word of several tokens is among them"
    np.testing.assert_allclose(scoring.surprises(model, tok, pieces), expected, rtol=1e-4)


def test_words_of_any_tokenizer_have_the_sum_of_their_tokens():
    model, _ = untrained()
    tok = Tokenizer.train("ab", 257)  # bytes alone: ids that the model has, one for each letter
    assert scoring.surprises(model, tok, ["ab", " cd"]).sum() == pytest.approx(
        scoring.surprises(model, tok, list("ab cd")).sum(), rel=1e-5
    )


def test_in_truth_the_surprises_are_the_worlds_own():
    story = world.sample(0)
    told = scoring.true_surprises(world, world.split_words(story))
    np.testing.assert_allclose(told, -np.array(world.log_probs(story)[:-1]))


def test_what_cannot_be_told_is_infinite_and_what_follows_unknown():
    told = scoring.true_surprises(world, ["There", " was", " guard", " once"])
    assert np.isfinite(told[:2]).all() and told[2] == math.inf and np.isnan(told[3])


def test_another_order_has_the_same_words_and_keeps_both_ends():
    text = world.split_words(TEXT)
    orders = [scoring.scrambled(text, seed) for seed in range(1, 7)]
    assert all(sorted(order) == sorted(text) for order in orders)
    assert all((order[0], order[-1]) == ("There", ".") for order in orders)
    assert orders == [scoring.scrambled(text, seed) for seed in range(1, 7)]
    assert len({tuple(order) for order in orders}) == 6
    assert scoring.scrambled([], 1) == [] and scoring.scrambled(["a"], 1) == ["a"]
    assert scoring.scrambled(["a", " b"], 1) == ["a", " b"]


# The figure -------------------------------------------------------------------------------------------------------


def test_bars_diamonds_and_crosses_stand_in_the_rows_of_their_words():
    figure = figures.surprise_bars(Scored(["the", " cat", " the"], [1, 2, 3], [0.5, math.inf, math.nan]))
    bars, diamonds, crosses = figure.data
    assert bars.x.tolist() == [1, 2, 3] and bars.y.tolist() == [0, 1, 2]
    assert diamonds.x.tolist() == [0.5] and diamonds.y.tolist() == [0]
    assert crosses.y.tolist() == [1]
    assert list(figure.layout.yaxis.ticktext) == ["the", "␣cat", "␣the"]
    said = "3 words as written, −ln P in nats: model 6.0, truth ∞, impossible from ‘␣cat’ (1) on."
    assert words(figure) == said


def test_each_step_of_the_still_slider_is_the_figure_drawn_with_that_order_first():
    text, orders = Scored(["a", "b"], [1, 2]), [Scored(["b", "a"], [3, 4], [1, math.inf]), Scored(["a", "b"], [5, 6])]
    for place in range(2):
        step = figures.surprise_bars(text, orders).layout.sliders[0].steps[place]
        drawn = figures.surprise_bars(text, orders, other=place)
        data, layout, traces = step.args
        assert step.method == "update" and list(traces) == [3, 4, 5]
        assert list(data["x"][0]) == drawn.data[3].x.tolist()
        assert list(data["y"][2]) == drawn.data[5].y.tolist()
        assert list(layout["yaxis2.ticktext"]) == list(drawn.layout.yaxis2.ticktext)
        assert layout["annotations[1].text"] == drawn.layout.annotations[1].text


def test_without_truth_nothing_is_said_of_it():
    assert "truth" not in words(figures.surprise_bars(Scored(["a"], [1.0])))


@pytest.mark.parametrize(
    ("text", "others", "named"),
    [
        (Scored(["a"], [1, 2]), [], "surprises of model"),
        (Scored(["a"], [-1]), [], "surprises of model"),
        (Scored(["a"], [1], [1, 2]), [], "surprises of truth"),
        (Scored(["a"], [1]), [Scored(["a", "b"], [1, 2])], "equally many"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(text, others, named):
    with pytest.raises(ValueError, match=named):
        figures.surprise_bars(text, others)


def test_an_order_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="other is 1"):
        figures.surprise_bars(Scored(["a"], [1]), [Scored(["a"], [1])], other=1)


# The app ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    return apps.score_words(*untrained(), TEXT, truth=world)


def test_the_app_shows_what_is_typed_and_its_order_in_place(app):
    figure = app.figure
    app.box.value = "There was once a girl."
    app.order.value = 3
    assert app.figure is figure
    text = world.split_words(app.box.value)
    np.testing.assert_allclose(figure.data[BARS].x, scoring.surprises(*untrained(), text), rtol=1e-5)
    other = scoring.scrambled(text, 3)
    assert list(figure.layout.yaxis2.ticktext) == [word.replace(" ", "␣") for word in other]
    np.testing.assert_allclose(figure.data[3 + BARS].x, scoring.surprises(*untrained(), other), rtol=1e-5)
    assert app.still().layout.sliders[0].active == 2


@pytest.mark.parametrize("text", AWKWARD)
def test_any_text_is_drawn_or_answered_in_a_sentence(app, text):
    app.box.value = text
    assert "did not work" not in speech(app) and "<img" not in app.line.value
    assert app._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("text", AWKWARD)
def test_any_text_can_be_the_first(text):
    assert apps.score_words(*untrained(), text, truth=world)._repr_mimebundle_()["text/plain"]


def test_of_a_long_text_the_beginning_is_shown_and_said(app):
    app.box.value = AWKWARD[-1]
    assert speech(app) == "The text has 1,201 words; shown are the first 24."
    assert len(app.figure.data[BARS].x) == 24


def test_no_word_is_ever_read_as_markup(app):
    app.box.value = HOSTILE
    assert not any(set(text) & set("<>$%") for text in app.figure.layout.yaxis.ticktext)


def test_case_133_what_goes_wrong_is_said_in_the_apps_own_line(app, monkeypatch):
    monkeypatch.setattr(scoring, "surprises", lambda *_: 1 / 0)
    app.refresh()
    assert speech(app) == "This did not work: division by zero"
