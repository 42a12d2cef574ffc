"""A hidden word: bars, truth and covered words for each number of words behind the gap, live and still."""

import numpy as np
import pytest
import torch

from gptlab import apps, figures, world
from gptlab.relatives.masked import gap_distribution, gap_token
from tests.examples.app_hidden_word import encoder
from tests.pictures import HOSTILE, speech, strict, words

LABELS, BEFORE, AFTER = [" He", " His"], ["the", " hotel", "."], [" was", " calm"]
MODEL = {0: [0.3, 0.2, 0.5], 1: [0.6, 0.3, 0.1], 2: [0.9, 0.05, 0.05]}
TRUTH = {0: [0.2, 0.6, 0.2], 1: [0.6, 0, 0.4], 2: [1, 0, 0]}
TEXT = "Leo Hall lived in the quiet hotel. _ was calm because"


def gap_bars(**options):
    return figures.gap_bars(LABELS, MODEL, **{"before": BEFORE, "after": AFTER, "n_others": 97} | options)


def test_the_bars_are_those_of_k_with_the_truth_beside_them():
    figure = gap_bars(k=1, truth=TRUTH)
    np.testing.assert_allclose(figure.data[0].x, MODEL[1])
    np.testing.assert_allclose(figure.data[1].x, TRUTH[1])
    assert list(figure.layout.yaxis.ticktext) == ["␣He", "␣His", "97 others"]
    assert words(figure) == (
        "A hidden word, with 1 word read behind it: ‘␣He’ model 0.60, truth 0.60; ‘␣His’ model 0.30, truth 0.00; "
        "‘97 others’ model 0.10, truth 0.40."
    )


def test_all_is_read_at_first_and_what_is_not_read_is_covered():
    assert gap_bars().layout.annotations[0].text == "the ␣hotel . ▁▁▁<br>▁▁▁ <b>␣was ␣calm</b> "
    assert gap_bars(k=0).layout.annotations[0].text == "the ␣hotel . ▁▁▁<br>▁▁▁ <b></b> ▒▒▒▒ ▒▒▒▒▒"
    assert gap_bars(k=1).layout.annotations[0].text == "the ␣hotel . ▁▁▁<br>▁▁▁ <b>␣was</b> ▒▒▒▒▒"


def test_without_truth_there_are_no_diamonds_and_no_words_of_it():
    assert not gap_bars().data[1].visible
    assert "truth" not in words(gap_bars())


@pytest.mark.parametrize("truth", [None, TRUTH])
def test_each_step_of_the_still_slider_is_the_figure_of_that_k(truth):
    (slider,) = gap_bars(still=True, k=1, truth=truth).layout.sliders
    assert slider.active == 1
    for step, k in zip(slider.steps, MODEL, strict=True):
        data, layout, traces = step.args
        alone = gap_bars(k=k, truth=truth)
        assert step.method == "update" and list(traces) == [0, 1][: len(data["x"])]
        for place, drawn in zip(traces, data["x"], strict=True):
            np.testing.assert_allclose(drawn, alone.data[place].x)
        assert layout["annotations[0].text"] == alone.layout.annotations[0].text
    assert not gap_bars().layout.sliders


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_word_is_ever_read_as_markup(hostile):
    figure = gap_bars(before=[hostile], after=[hostile])
    shown = figure.layout.annotations[0].text
    for ours in ("<br>", "<b>", "</b>"):
        shown = shown.replace(ours, "", 1)
    assert not set(shown) & set("<>$%")
    assert not set(figures.gap_bars([hostile], {0: [1.0]}, before=[], after=[]).layout.yaxis.ticktext[0]) & set("<>$%")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model": {}}, "model is"),
        ({"model": {1: [1.0]}}, "the shape of 1"),
        ({"truth": {0: [1.0, 0, 0]}}, "the numbers of words in truth"),
        ({"truth": TRUTH | {1: [1.0]}}, "the shape of 1"),
        ({"k": 3}, "k is 3, but must be one of 0, 1, 2"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, named):
    options = {"model": MODEL, "before": BEFORE, "after": AFTER, "n_others": 97} | change
    with pytest.raises(ValueError, match=named):
        figures.gap_bars(LABELS, options.pop("model"), **options)


# The app ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    return apps.hidden_word(*encoder(), TEXT, truth=world.ENGLISH_WORLD)


def test_the_bars_are_what_the_encoder_makes_of_the_gap_with_k_words_behind_it(app):
    model, tok = encoder()
    before, after = tok.encode("Leo Hall lived in the quiet hotel."), tok.encode(" was calm because")
    shown = [text.strip() for text in app.figure.layout.yaxis.ticktext[:-1]]
    for k in (3, 0, 1):
        app.k.value = k
        row = [tok.end_of_text, *before, gap_token(tok), *after[:k]]
        with torch.no_grad():
            p = model(torch.tensor([row]))[0, len(before) + 1].softmax(-1)
        labels = {tok.pieces([id])[0].shown.replace(" ", "␣"): float(p[id]) for id in range(tok.vocab_size)}
        np.testing.assert_allclose(app.figure.data[0].x[:-1], [labels[one] for one in shown], rtol=1e-4, atol=1e-7)
        assert app.figure.data[0].x.sum() == pytest.approx(1, abs=1e-5)
    assert [text.strip() for text in app.figure.layout.yaxis.ticktext[:-1]] == shown, "rows stay when k moves"


def test_the_diamonds_are_the_truths(app):
    rows = [text.strip() for text in app.figure.layout.yaxis.ticktext[:-1]]
    for k, after in enumerate(["", " was", " was calm"]):
        app.k.value = k
        truth = gap_distribution(world.ENGLISH_WORLD, "Leo Hall lived in the quiet hotel.", after)
        for word, probability in truth.items():
            assert app.figure.data[1].x[rows.index(word.replace(" ", "␣"))] == pytest.approx(probability, abs=1e-6)


def test_the_slider_calls_no_encoder_anew(app):
    calls = []
    handle = encoder()[0].blocks[0].register_forward_hook(lambda *_: calls.append(1))
    app.k.value = 1
    app.still()
    assert calls == []
    app.box.value = "_ was"
    handle.remove()
    assert len(calls) == 2


def test_another_text_sends_the_slider_to_its_end(app):
    app.k.value = 1
    app.box.value = "There was once _ engineer named Leo Hall."
    assert app.k.max == app.k.value == 5
    assert words(app.figure).startswith("A hidden word, with 5 words read behind it")
    app.box.value = "There was once _"
    assert app.k.max == app.k.value == 0


def test_where_the_world_cannot_tell_the_text_the_truth_is_hidden_and_the_reason_said(app):
    app.box.value = "The _ dragon"
    assert not app.figure.data[1].visible and speech(app).startswith("The truth is hidden: ")
    app.box.value = TEXT
    assert app.figure.data[1].visible and speech(app) == ""


@pytest.mark.parametrize("text", ["", "no gap", "_ and _", "_ " + "cat " * 40, "cat " * 40 + "_"])
def test_a_text_that_cannot_be_read_is_answered_and_the_picture_stays(app, text):
    before = words(app.figure)
    app.box.value = text
    if speech(app):
        assert "text is" in speech(app) or "truth is hidden" in speech(app)
    if "did not work" in speech(app):
        assert words(app.figure) == before


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_typed_is_never_markup(app, hostile):
    app.box.value = f"{hostile} _ {hostile}"
    strict(app.still())
    assert "<img" not in app.line.value and "<img" not in app.figure.layout.annotations[0].text


def test_a_text_without_a_gap_is_refused_at_the_door():
    with pytest.raises(ValueError, match="text is 'no gap'"):
        apps.hidden_word(*encoder(), "no gap")
