"""The bars of neighbours: what they hold, what the slider changes, what they refuse."""

import json

import numpy as np
import pytest

from gptlab import figures
from tests.pictures import words

WORDS, NEIGHBOURS = [" dog", " red"], [[" cat", " horse"], [" green", " dog"]]
COSINES = [[0.9, 0.75], [0.8, 0.25]]


def drawn(words=WORDS, neighbours=NEIGHBOURS, similarities=COSINES, **options):
    return figures.neighbour_bars(words, neighbours, similarities, **options)


def test_the_nearest_stands_on_top_with_its_name_behind_the_bar():
    (bars,) = drawn().data
    np.testing.assert_allclose(bars.x, COSINES[0])
    assert [text.strip() for text in bars.text] == ["␣cat", "␣horse"]
    low, high = drawn().layout.yaxis.range
    assert low > high


def test_the_slider_shows_the_neighbours_of_each_word():
    figure = drawn(first=1)
    (slider,) = figure.layout.sliders
    assert slider.active == 1
    assert [step.label for step in slider.steps] == ["␣dog", "␣red"]
    for n, step in enumerate(slider.steps):
        shown = drawn(first=n).data[0]
        np.testing.assert_array_equal(step.args[0]["x"][0], shown.x)
        assert step.args[0]["text"][0] == list(shown.text)
    assert words(figure) == "Nearest to ‘␣red’ by cosine: ‘␣green’ 0.80, ‘␣dog’ 0.25."


def test_of_a_single_word_the_axis_says_which():
    figure = drawn([" dog"], NEIGHBOURS[:1], COSINES[:1])
    assert not figure.layout.sliders
    assert figure.layout.xaxis.title.text == "cosine with ‘␣dog’"


def test_the_axis_reaches_below_zero_only_when_a_cosine_does():
    assert drawn().layout.xaxis.range[0] == 0
    assert drawn(similarities=[[0.9, -0.5], [0.1, 0.1]]).layout.xaxis.range[0] < -1


def test_nothing_is_read_as_markup():
    hostile = ["<b>", "$x$", "%{y}"]
    figure = json.loads(drawn(hostile, [hostile] * 3, np.full((3, 3), 0.5)).to_json())
    del figure["layout"]["meta"]  # the words, which nobody reads as markup
    text = json.dumps(figure)
    assert not any(one in text for one in hostile)
    assert "&lt;b&gt;" in text and "&#37;{y}" in text


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"similarities": [0.9, 0.75]}, "shape of similarities"),
        ({"similarities": np.zeros((2, 0))}, "shape of similarities"),
        ({"words": [" dog"]}, "number of words is 1, but must be 2"),
        ({"neighbours": [[" cat"], [" green", " dog"]]}, r"numbers of neighbours is \[1, 2\]"),
        ({"similarities": [[0.9, 7.5], [0.8, 0.25]]}, r"similarities\[0, 1\] is 7.5"),
        ({"similarities": [[0.9, 0.5], [np.nan, 0.25]]}, r"similarities\[1, 0\] is nan"),
        ({"first": 2}, "first is 2, but must be from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changed, named):
    with pytest.raises(ValueError, match=named):
        drawn(**changed)
