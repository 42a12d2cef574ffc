"""The last k words: bars, truth and covered words for each k, live and still."""

import numpy as np
import pytest
import torch

from gptlab import apps, figures, world
from tests.examples._model import untrained
from tests.pictures import speech, words

LABELS, WORDS = [" cat", " dog"], ["the", " cat", " saw", " the"]
MODELS = {1: [0.3, 0.2, 0.5], 3: [0.6, 0.3, 0.1]}
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y}"
AWKWARD = ["", ".", "\n\n", "مرحبا بالعالم", "\ud83d", HOSTILE, "The dragon zzz", "The cat. " * 400]


def context_bars(**options):
    return figures.context_bars(LABELS, MODELS, words=WORDS, n_others=97, **options)


def test_the_bars_are_those_of_k_with_the_truth_beside_them():
    figure = context_bars(k=3, truth=[0.9, 0.1, 0])
    np.testing.assert_allclose(figure.data[0].x, MODELS[3])
    np.testing.assert_allclose(figure.data[1].x, [0.9, 0.1, 0])
    assert list(figure.layout.yaxis.ticktext) == ["␣cat", "␣dog", "97 others"]
    assert words(figure) == (
        "Next word from the last 3 words: ‘␣cat’ model 0.60, truth 0.90; ‘␣dog’ model 0.30, truth 0.10; "
        "‘97 others’ model 0.10, truth 0.00."
    )


def test_what_lies_further_back_than_k_words_is_covered():
    assert context_bars(k=1).layout.annotations[0].text == "▒▒▒ ▒▒▒▒ ▒▒▒▒ <b>␣the</b> ?"
    assert context_bars(k=3).layout.annotations[0].text == "▒▒▒ <b>␣cat</b> <b>␣saw</b> <b>␣the</b> ?"


def test_of_a_long_text_its_end_is_shown():
    figure = figures.context_bars(LABELS, {2: [0.5, 0.5]}, words=["w"] * 50)
    assert figure.layout.annotations[0].text == "… " + "▒ " * 10 + "<b>w</b> <b>w</b> ?"


def test_without_truth_there_are_no_diamonds_and_no_words_of_it():
    assert not context_bars().data[1].visible
    assert "truth" not in words(context_bars())


def test_each_step_of_the_still_slider_is_the_figure_of_that_k():
    (slider,) = context_bars(still=True, k=3).layout.sliders
    assert slider.active == 1
    for step, k in zip(slider.steps, MODELS, strict=True):
        data, layout, traces = step.args
        assert step.method == "update" and list(traces) == [0]
        np.testing.assert_allclose(data["x"][0], MODELS[k])
        assert layout["annotations[0].text"] == context_bars(k=k).layout.annotations[0].text
    assert not context_bars().layout.sliders


def test_no_word_is_ever_read_as_markup():
    figure = figures.context_bars([HOSTILE], {1: [1.0]}, words=[HOSTILE])
    assert not set(figure.layout.yaxis.ticktext[0]) & set("<>$%")
    assert not set(figure.layout.annotations[0].text.removeprefix("<b>").replace("</b>", "")) & set("<>$%")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"models": {}}, "models"),
        ({"models": {1: [1.0]}}, "the shape of 1"),
        ({"truth": [1.0]}, "the shape of truth"),
        ({"k": 2}, "k is 2, but must be one of 1, 3"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, named):
    with pytest.raises(ValueError, match=named):
        figures.context_bars(LABELS, **{"models": MODELS, "words": WORDS, "n_others": 97, **change})


# The app ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def calls():
    return []


@pytest.fixture
def app(calls):
    model, tok = untrained()

    def predict(ids, k):
        calls.append(k)
        return model(ids[:, -k:])[0, -1]

    return apps.last_words(predict, tok, "There was once a", ks=(1, 2, 4), truth=world)


def test_the_bars_are_what_the_model_makes_of_the_last_k_words(app):
    model, tok = untrained()
    shown = [text.strip() for text in app.figure.layout.yaxis.ticktext[:-1]]
    for k in (1, 2, 4):
        app.k.value = k
        with torch.no_grad():
            p = model(torch.tensor([tok.encode("There was once a")[-k:]]))[0, -1].softmax(-1)
        labels = {tok.pieces([id])[0].shown.replace(" ", "␣"): float(p[id]) for id in range(tok.vocab_size)}
        np.testing.assert_allclose(app.figure.data[0].x[:-1], [labels[one] for one in shown], rtol=1e-4)
        assert app.figure.data[0].x.sum() == pytest.approx(1, abs=1e-5)
    assert [text.strip() for text in app.figure.layout.yaxis.ticktext[:-1]] == shown, "rows stay when k moves"


def test_the_slider_calls_no_model_anew(app, calls):
    calls.clear()
    app.k.value = 4
    app.still()
    assert calls == []
    app.box.value = "There was"
    assert calls == [1, 2, 4]


def test_the_diamonds_are_the_worlds(app):
    truth = sorted(world.next_word_distribution("There was once a").values(), reverse=True)
    assert app.figure.data[1].x.max() == pytest.approx(max(truth[0], app.figure.data[1].x[-1]), abs=1e-5)
    assert app.figure.data[1].x.sum() == pytest.approx(1, abs=1e-5)


def test_where_the_world_cannot_tell_the_text_the_truth_is_hidden_and_the_reason_said(app):
    app.box.value = "The dragon"
    assert not app.figure.data[1].visible and speech(app).startswith("The truth is hidden: the world cannot tell")
    app.box.value = "There was"
    assert app.figure.data[1].visible and speech(app) == ""


@pytest.mark.parametrize("text", AWKWARD)
def test_any_text_is_drawn_or_answered_in_a_sentence(app, text):
    app.box.value = text
    assert "did not work" not in speech(app) and "<img" not in app.line.value
    assert app._repr_mimebundle_()["text/plain"]


def test_the_still_slider_begins_where_the_live_one_stands(app):
    app.k.value = 2
    assert app.still().layout.sliders[0].active == 1
