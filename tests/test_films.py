"""A training as a film: curves, frames and the slider that chooses among them."""

import json

import numpy as np
import pytest

from gptlab import figures
from gptlab.figures.films import CURVES, Curves, Frame
from tests.examples import example
from tests.pictures import words

NONE = Curves([], [], [], [], [])
HOSTILE = ["<img src=x onerror=alert(1)>", "$x$", "%{y}", "&lt;", "</script>"]
TOKENS = ["The", " cat", " The"]
WEIGHTS = np.tri(3) / np.arange(1, 4)[:, None]


def visible(step):
    return [n for n, seen in enumerate(step.args[0]["visible"]) if seen]


def test_the_curves_are_drawn_and_said():
    figure = example("figure_training_film")
    assert [trace.name for trace in figure.data[:4]] == list(CURVES)
    assert len(figure.data[0].x) == 100 and list(figure.data[1].x) == [25, 50, 75, 100]
    assert set(figure.data[2].y) == {np.float32(1.2)}
    assert figure.data[3].yaxis == "y2"
    assert words(figure).startswith("training loss 5.00 at step 1, 1.23 at step 100; validation loss 2.45 at step 25")
    assert "After step 100 it writes: The cat saw| the garden." in words(figure)


def test_the_slider_shows_one_look_at_a_time():
    figure = example("figure_training_film")
    steps = figure.layout.sliders[0].steps
    assert [step.label for step in steps] == ["0", "50", "100"]
    assert [visible(step) for step in steps] == [[0, 1, 2, 3, *range(first, first + 3)] for first in (4, 7, 10)]
    assert [n for n, trace in enumerate(figure.data) if trace.visible is not False] == [0, 1, 2, 3, 10, 11, 12]
    assert figure.layout.sliders[0].active == 2


def test_the_ring_is_on_the_training_curve_at_the_look():
    figure = example("figure_training_film")
    rings = figure.data[4::3]
    assert [len(ring.x) for ring in rings] == [0, 1, 1]
    assert rings[1].y[0] == figure.data[0].y[49]


def test_a_model_that_is_not_trained_yet_can_be_looked_at():
    figure = figures.training_film(NONE, [Frame(0, " the the", WEIGHTS)], "The cat", TOKENS)
    assert words(figure).startswith("Not trained yet. After step 0 it writes: The cat| the the")
    assert not figure.layout.sliders and len(figure.data) == 7
    assert all(np.isnan(line.y).all() and len(line.y) == 1 for line in figure.data[:4])
    json.loads(figure.to_json(), parse_constant=lambda name: pytest.fail(name))


def test_weights_may_be_whole_per_cents_and_the_future_is_left_empty():
    shares = np.rint(100 * WEIGHTS).astype(np.uint8)
    for weights in (WEIGHTS, shares):
        z = figures.training_film(NONE, [Frame(0, "", weights)], "", TOKENS).data[5].z
        assert [list(row) for row in z] == [[100, None, None], [50, 50, None], [33, 33, 33]]


def test_equal_tokens_keep_their_places():
    figure = figures.training_film(NONE, [Frame(0, "", WEIGHTS)], "", TOKENS)
    assert list(figure.layout.xaxis3.tickvals) == [0, 1, 2]
    assert list(figure.layout.yaxis3.ticktext) == ["The", "␣cat", "␣The"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_typed_or_written_is_no_markup(text):
    figure = figures.training_film(NONE, [Frame(0, text, WEIGHTS)], text, [text] * 3)
    drawn = figure.data[6].text[0]
    bare = drawn.replace("<br>", "").replace("</span>", "").replace('<span style="color:#D55E00">', "")
    assert not set(bare.replace("&#37;", "").replace("&#36;", "")) & set("<>$%")
    assert not set("".join(figure.layout.xaxis3.ticktext)) & set("<>$%")


def test_a_long_text_is_cut_to_the_lines_there_are():
    figure = figures.training_film(NONE, [Frame(0, " word" * 400, WEIGHTS)], "The\ncat", TOKENS)
    assert figure.data[6].text[0].count("<br>") == 3
    assert "\n" not in words(figure)


@pytest.mark.parametrize(
    ("curves", "frames", "named"),
    [
        (NONE, [], "frames"),
        (NONE, [Frame(3, "", np.ones((2, 2)))], "attention at step 3"),
        (Curves([1, 2], [1.0], [], [], []), [Frame(0, "", WEIGHTS)], "shape of loss"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(curves, frames, named):
    with pytest.raises(ValueError, match=named):
        figures.training_film(curves, frames, "", TOKENS)
