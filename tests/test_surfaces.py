"""Paths on a contour map: what is drawn at which learning rate, what is said of a path that leaves, what is refused."""

import json

import numpy as np
import pytest

from gptlab import figures
from gptlab.figures.surfaces import FIRST_PATH
from tests.pictures import words

X, Y = np.linspace(-2, 2, 9), np.linspace(-1, 1, 5)
HEIGHTS = X**2 + Y[:, None] ** 2
DOWN = [(1.5, 0.5), (0.75, 0.25), (0.0, 0.0)]
OFF = [(1.5, 0.5), (3.0, 0.5), (1e300, np.inf)]


def draw(paths, **options):
    return figures.descent_paths(X, Y, HEIGHTS, paths, **options)


def test_each_rule_has_its_path_and_says_where_it_ends():
    figure = draw({0.1: {"one": DOWN, "two": DOWN[:2]}})
    assert [trace.name for trace in figure.data[FIRST_PATH:]] == ["one", "two"]
    assert list(figure.data[1].x) == [1.5, 0.75, 0] and list(figure.data[2].y) == [0.5, 0.25]
    assert not figure.layout.sliders
    assert words(figure) == (
        "Ways down at learning rate 0.1: one is at (0.00, 0.00) after 2 steps; two is at (0.75, 0.25) after 1 steps."
    )


def test_the_slider_holds_the_paths_of_every_learning_rate():
    figure = draw({0.1: {"one": DOWN}, 1.0: {"one": DOWN[:1]}}, learning_rate=0.9)
    assert figure.layout.sliders[0].active == 1 and list(figure.data[1].x) == [1.5]
    moved, traces = figure.layout.sliders[0].steps[0].args
    assert list(map(list, moved["x"])) == [[1.5, 0.75, 0.0]] and list(map(list, moved["y"])) == [[0.5, 0.25, 0.0]]
    assert list(traces) == [FIRST_PATH]


def test_a_path_beyond_all_bounds_is_cut_where_it_is_long_out_of_sight():
    figure = draw({0.1: {"one": OFF}})
    assert list(figure.data[1].x) == [1.5, 3.0]
    assert words(figure).endswith("one leaves the map at step 1.")
    json.loads(figure.to_json(), parse_constant=lambda name: pytest.fail(name))


def test_a_path_that_comes_back_is_on_the_map():
    assert "is at (1.50, 0.50)" in words(draw({0.1: {"one": [*OFF[:2], DOWN[0]]}}))


def test_rules_differ_in_colour_in_dash_and_in_sign():
    traces = draw({0.1: {str(n): DOWN for n in range(4)}}).data[FIRST_PATH:]
    for look in ({t.line.color for t in traces}, {t.line.dash for t in traces}, {t.marker.symbol for t in traces}):
        assert len(look) == 4


def test_a_name_is_no_markup():
    assert "<" not in draw({0.1: {"<b>": DOWN}}).data[1].name


@pytest.mark.parametrize(
    ("paths", "named"),
    [
        ({}, "paths"),
        ({0.1: {}}, "paths"),
        ({0.0: {"one": DOWN}}, "learning rate is 0.0"),
        ({0.1: {"one": DOWN}, 0.2: {"two": DOWN}}, "rules at learning rate 0.2"),
        ({0.1: {"one": [1.0, 2.0]}}, "path of 'one'"),
        ({0.1: {str(n): DOWN for n in range(5)}}, "at most 4"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(paths, named):
    with pytest.raises(ValueError, match=named):
        draw(paths)


def test_heights_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="shape of heights"):
        figures.descent_paths(X, Y, HEIGHTS.T, {0.1: {"one": DOWN}})
