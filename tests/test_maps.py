"""The map of points: where they stand when it is turned, which are found, what it refuses."""

import base64
import json
import math

import numpy as np
import pytest

from gptlab import figures
from gptlab.figures.maps import TURNS
from tests.pictures import words

POINTS = [[1.0, 0.5, 0.25], [-2.0, 0.25, 1.5], [0.5, -1.0, -0.5], [0.0, 0.0, 3.0]]
WORDS, GROUPS = ["dog", "red", "cat", "green"], ["animal", "colour", "animal", "colour"]
HOSTILE = ["<img src=x onerror=alert(1)>", "$x$", "%{y}", "&lt;"]


def drawn(points=POINTS, labels=WORDS, groups=GROUPS, **options):
    return figures.component_map(points, labels, groups, **options)


def test_each_group_is_a_trace_with_its_points_and_their_names():
    *groups, rings = drawn().data
    assert [group.name for group in groups] == ["animal", "colour"]
    assert [list(group.text) for group in groups] == [["dog", "cat"], ["red", "green"]]
    np.testing.assert_allclose(groups[0].x, [1, 0.5])
    np.testing.assert_allclose(groups[0].y, [0.5, -1])
    assert len(rings.x) == 0


def test_thirty_groups_differ_in_colour_or_shape():
    *groups, _ = drawn(np.eye(30)[:, :3], ["x"] * 30, [str(n) for n in range(30)]).data
    assert len({(group.marker.color, group.marker.symbol) for group in groups}) == 30


@pytest.mark.parametrize("turn", [0, 30, 90, 180, 285])
def test_turned_points_stand_where_plain_trigonometry_puts_them(turn):
    *groups, _ = drawn(turn=turn).data
    angle = math.radians(turn)
    expected = {word: x * math.cos(angle) + z * math.sin(angle) for word, (x, _, z) in zip(WORDS, POINTS, strict=True)}
    found = {word: x for group in groups for word, x in zip(group.text, group.x, strict=True)}
    assert found == pytest.approx(expected, abs=1e-6)
    heights = {word: y for group in groups for word, y in zip(group.text, group.y, strict=True)}
    assert heights == pytest.approx({word: y for word, (_, y, _) in zip(WORDS, POINTS, strict=True)})


def test_what_is_nearer_is_larger_and_turning_half_round_reverses_it():
    def sizes(turn):
        *groups, _ = drawn(turn=turn).data
        return {word: size for group in groups for word, size in zip(group.text, group.marker.size, strict=True)}

    front, back = sizes(0), sizes(180)
    assert sorted(front, key=front.get) == ["cat", "dog", "red", "green"]
    assert sorted(back, key=back.get) == ["green", "red", "dog", "cat"]


def test_every_step_of_the_slider_is_the_figure_turned_so_far():
    figure = drawn(search="e")
    (slider,) = figure.layout.sliders
    assert [step.label for step in slider.steps] == [f"{turn}°" for turn in TURNS]
    for turn, step in zip(TURNS, slider.steps, strict=True):
        moved, traces = step.args
        assert list(traces) == [0, 1, 2]
        for trace, x, size in zip(drawn(turn=turn, search="e").data, moved["x"], moved["marker.size"], strict=True):
            np.testing.assert_array_equal(unpacked(x), trace.x)
            np.testing.assert_array_equal(size if isinstance(size, int) else unpacked(size), trace.marker.size)


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])


def test_the_slider_begins_where_the_map_is_turned_to():
    assert drawn(turn=44).layout.sliders[0].active == 3
    assert not drawn(slides=False).layout.sliders


def test_a_plane_has_nothing_to_turn():
    figure = drawn([point[:2] for point in POINTS])
    assert not figure.layout.sliders
    assert len({*figure.data[0].marker.size, *figure.data[1].marker.size}) == 1


def test_both_axes_have_one_scale_and_hold_every_point_however_it_is_turned():
    figure = drawn()
    assert figure.layout.yaxis.scaleanchor == "x"
    for turn in TURNS:
        for trace in drawn(turn=turn).data:
            assert all(abs(x) < figure.layout.xaxis.range[1] for x in trace.x)


def test_found_points_get_a_ring_and_a_name():
    *groups, rings = drawn(search="RE", turn=90).data
    assert all(group.marker.opacity < drawn().data[0].marker.opacity / 2 for group in groups)
    assert list(rings.text) == ["red", "green"]
    np.testing.assert_allclose(rings.x, [1.5, 3.0], atol=1e-6)
    assert words(drawn(search="re")).endswith("Found: ‘red’, ‘green’.")


@pytest.mark.parametrize(("n_found", "named"), [(8, True), (9, False)])
def test_of_more_than_eight_found_points_none_is_named(n_found, named):
    figure = drawn(np.eye(20)[:, :2], [f"word{n < n_found}" for n in range(20)], ["one"] * 20, search="true")
    *_, rings = figure.data
    assert [bool(text) for text in rings.text] == [named] * n_found
    assert words(figure).endswith("‘wordTrue’." if named else "‘wordTrue’, ….")


def test_the_words_give_the_middle_of_each_group():
    assert words(drawn()) == (
        "Map of 4 points in 2 groups, turned by 0°: "
        "‘animal’ (2) around 0.75, -0.25, -0.12; ‘colour’ (2) around -1.00, 0.12, 2.25."
    )
    assert "1 more groups" in words(drawn(np.eye(6)[:, :3], ["x"] * 6, list("abcdef")))


def test_nothing_is_read_as_markup():
    figure = json.loads(drawn(labels=HOSTILE, groups=HOSTILE, search="x").to_json())
    del figure["layout"]["meta"]  # the words, which nobody reads as markup
    text = json.dumps(figure)
    assert not any(hostile in text for hostile in HOSTILE[:3])
    assert "&lt;img" in text and "&#37;{y}" in text and "&amp;lt;" in text


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"points": [[1.0, 2.0, 3.0, 4.0]] * 4}, "shape of points"),
        ({"points": np.zeros((0, 3)), "labels": [], "groups": []}, "shape of points"),
        ({"labels": ["dog"]}, "number of labels is 1, but must be 4"),
        ({"groups": ["animal"] * 5}, "number of groups is 5, but must be 4"),
        ({"points": [[1.0, 2.0], [0.0, np.nan], [0.0, 0.0], [0.0, 0.0]]}, r"points\[1, 1\] is nan"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changed, named):
    with pytest.raises(ValueError, match=named):
        drawn(**changed)


def test_points_all_in_one_place_are_drawn():
    assert drawn(np.zeros((4, 3))).layout.xaxis.range == (-1, 1)
