"""The shift by one as it is drawn: who is asked for what, what the slider marks, what is refused."""

import numpy as np
import pytest

from gptlab import figures
from gptlab.figures.shifts import ASKED_NOW, QUIET, READ_NOW
from tests.pictures import words

TOKENS = ["The", " cat", " saw", " the", " cat"]
LOSSES = [3.0, 1.5, 0.25, 2.0]


def test_below_each_token_stands_the_one_that_comes_after_it():
    read, asked, _ = figures.shift_by_one(TOKENS).data
    assert list(read.text) == ["The", "␣cat", "␣saw", "␣the", "␣cat"]
    assert list(asked.text) == ["␣cat", "␣saw", "␣the", "␣cat", "—"]
    assert list(read.base) == list(asked.base) and list(read.base) == sorted(set(read.base))
    assert "the last token asks for nothing" in asked.hovertext[-1]


def test_the_losses_stand_between_and_their_sum_and_mean_are_said():
    figure = figures.shift_by_one(TOKENS, LOSSES)
    assert figure.data[2].customdata.tolist() == LOSSES and len(figure.data[2].x) == 4
    assert "4 targets" in words(figure) and words(figure).endswith("sum 6.75, mean 1.69.")
    assert set(figures.shift_by_one(TOKENS).data[2].text) == {"↓"}


@pytest.mark.parametrize("position", range(4))
def test_at_a_position_all_tokens_up_to_it_are_read_and_the_next_is_asked_for(position):
    figure = figures.shift_by_one(TOKENS, position=position)
    colours = [READ_NOW] * (position + 1) + [QUIET] * (4 - position)
    asked = [QUIET] * position + [ASKED_NOW] + [QUIET] * (4 - position)
    assert [list(trace.marker.color) for trace in figure.data[:2]] == [colours, asked]
    slider = figure.layout.sliders[0]
    assert slider.active == position and len(slider.steps) == 4
    moved, traces = figures.shift_by_one(TOKENS).layout.sliders[0].steps[position].args
    assert list(moved["marker.color"]) == [colours, asked] and list(traces) == [0, 1]


@pytest.mark.parametrize("token", ["<img src=x onerror=alert(1)>", "$x$", "%{y}", "&lt;", "</script>"])
def test_hostile_tokens_are_written_as_they_are(token):
    figure = figures.shift_by_one([token, token])
    for trace in figure.data[:2]:
        for text in (*trace.text, *trace.hovertext):
            assert not set(text.replace("&#37;", "").replace("&#36;", "")) & set("<>$%")


@pytest.mark.parametrize(
    ("tokens", "options", "named"),
    [
        (["The"], {}, "number of tokens is 1"),
        ("The cat", {}, "not one string"),
        (TOKENS, {"losses": [1.0]}, "shape of losses"),
        (TOKENS, {"position": 4}, "position is 4"),
        (TOKENS, {"position": -1}, "position is -1"),
        (["a" * 20] * 9, {}, "length of the tokens"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tokens, options, named):
    with pytest.raises(ValueError, match=named):
        figures.shift_by_one(tokens, **options)


def test_two_tokens_are_enough():
    figure = figures.shift_by_one(["a", "b"], np.array([0.5], np.float32))
    assert words(figure) == "2 tokens, 1 target, each the token after the one just read: ‘a’ → ‘b’. " + (
        "Loss in nats: sum 0.50, mean 0.50."
    )
