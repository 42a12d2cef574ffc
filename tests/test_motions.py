"""Points that move: what each picture holds, what is said of them, and that nothing moves by itself."""

import numpy as np
import pytest

from gptlab import figures
from tests.examples import example
from tests.pictures import HOSTILE, strict, words

TIMES = [0.0, 0.5, 1.0]
FLAT = np.array([[[1, 0], [0, 2]], [[0.5, 0], [0, 1]], [[0, 0], [0, 0]]], float)  # two points that meet at 0
SOLID = np.concatenate([FLAT / 2, np.array([[[-1], [1]], [[0], [0]], [[1], [-1]]], float)], -1)


def test_there_is_a_picture_for_each_time_and_the_first_is_shown():
    figure = figures.moving_points(TIMES, {"one": FLAT})
    assert [frame.name for frame in figure.frames] == ["0", "1", "2"]
    for frame, places in zip(figure.frames, FLAT, strict=True):
        np.testing.assert_array_equal(np.stack([frame.data[0].x, frame.data[0].y], 1), places)
        assert list(frame.traces) == [0]
    np.testing.assert_array_equal(figure.data[0].y, [0, 2])
    assert figures.moving_points(TIMES, {"one": FLAT}, shown=-1).data[0].y.tolist() == [0, 0]


def test_the_slider_and_the_button_show_the_pictures_by_their_names():
    figure = figures.moving_points(TIMES, {"one": FLAT}, shown=1)
    (slider,), (menu,) = figure.layout.sliders, figure.layout.updatemenus
    assert slider.active == 1 and [step.label for step in slider.steps] == ["0", "0.5", "1"]
    assert [(step.method, list(step.args[0])) for step in slider.steps] == [("animate", [name]) for name in "012"]
    play, hold = menu.buttons
    assert play.method == hold.method == "animate"
    assert play.args[0] is None and play.args[1]["fromcurrent"] and play.args[1]["frame"]["duration"] > 0
    assert list(hold.args[0]) == [None] and hold.args[1]["mode"] == "immediate"


def test_without_slides_it_is_a_picture_that_stands_still():
    figure = figures.moving_points(TIMES, {"one": FLAT}, slides=False)
    assert not figure.frames and not figure.layout.sliders and not figure.layout.updatemenus


def test_groups_have_a_trace_in_each_panel_and_one_name_in_the_legend():
    figure = figures.moving_points(TIMES, {"one": FLAT, "two": 2 * FLAT}, groups=["near", "far"])
    assert [(trace.name, trace.xaxis, trace.showlegend) for trace in figure.data] == [
        ("near", "x", True), ("far", "x", True), ("near", "x2", False), ("far", "x2", False)
    ]  # fmt: skip
    assert (
        len({trace.marker.color for trace in figure.data}) == len({trace.marker.symbol for trace in figure.data}) == 2
    )
    assert [data.x.tolist() for data in figure.frames[1].data] == [[0.5], [0], [1], [0]]
    assert not figures.moving_points(TIMES, {"one": FLAT}).layout.showlegend


def test_in_space_the_nearer_is_larger_and_the_sphere_has_an_outline():
    figure = figures.moving_points(TIMES, {"ball": SOLID})
    outline, points = figure.data
    np.testing.assert_allclose(np.hypot(outline.x, outline.y), 1, rtol=1e-6)
    assert outline.mode == "lines" and list(figure.frames[0].traces) == [1]
    sizes = [frame.data[0].marker.size for frame in figure.frames]
    assert sizes[0].dtype == np.uint8 and points.marker.size.tolist() == sizes[0].tolist()
    assert sizes[0][0] < sizes[1][0] == sizes[1][1] < sizes[2][0]
    assert not figure.layout.xaxis.visible


def test_positions_take_four_bytes_each():
    data = strict(figures.moving_points(TIMES, {"one": FLAT}))["frames"][0]["data"][0]
    assert data["x"]["dtype"] == data["y"]["dtype"] == "f4"


def test_the_panels_are_as_high_as_wide_and_what_is_beyond_the_reach_is_out_of_sight():
    layout = figures.moving_points(TIMES, {"one": FLAT, "two": 9 * FLAT}, reach=3).layout
    for axis in (layout.xaxis, layout.yaxis, layout.xaxis2, layout.yaxis2):
        assert list(axis.range) == [-3, 3]
    assert layout.yaxis.scaleanchor == "x" and layout.yaxis2.scaleanchor == "x2"
    assert layout.xaxis.domain[1] < layout.xaxis2.domain[0]
    assert figures.moving_points(TIMES, {"one": FLAT}).layout.xaxis.range[1] > 2


def test_the_ground_is_drawn_in_its_own_panel_and_does_not_move():
    figure = figures.moving_points(TIMES, {"one": FLAT, "two": FLAT}, grounds={"two": np.eye(3)}, reach=2)
    assert [trace.xaxis for trace in figure.data] == ["x2", "x", "x2"] and np.nanmax(figure.data[0].x) <= 2
    assert list(figure.frames[0].traces) == [1, 2]


def test_level_ground_has_no_lines():
    figures.moving_points(TIMES, {"one": FLAT}, grounds={"one": np.ones((3, 3))})


def test_the_words_say_how_far_apart_the_points_are_at_first_and_at_last():
    assert words(figures.moving_points(TIMES, {"one": FLAT}, time_name="depth")) == (
        "2 points move from depth 0 to 1: ‘one’ from spread 1.12 to 0.00, the farthest from 0 at 2.00 and then at 0.00."
    )
    assert "the farthest from 0 at 2.0e+06" in words(figures.moving_points(TIMES, {"one": 1e6 * FLAT}))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_no_markup(text):
    figure = figures.moving_points(
        TIMES, {text: FLAT}, time_name=text, names=(text, text), groups=[text, "two"], grounds={text: np.eye(2)}
    )
    layout = figure.layout
    shown = [layout.annotations[0].text, layout.xaxis.title.text, layout.yaxis.title.text, figure.data[1].name]
    shown.append(layout.sliders[0].currentvalue.prefix)
    assert not set("".join(shown)) & set("<>$%")


@pytest.mark.parametrize(
    ("panels", "options", "named"),
    [
        ({}, {}, "number of panels is 0"),
        ({str(n): FLAT for n in range(4)}, {}, "number of panels is 4"),
        ({"one": FLAT[:2]}, {}, r"shape of panels\['one'\] is \(2, 2, 2\)"),
        ({"one": FLAT[..., :1]}, {}, r"shape of panels\['one'\]"),
        ({"one": FLAT[:, :0]}, {}, r"shape of panels\['one'\]"),
        ({"one": FLAT, "two": FLAT[:, :1]}, {}, r"shape of panels\['two'\]"),
        ({"one": FLAT[0]}, {}, r"shape of panels\['one'\]"),
        ({"one": np.where(FLAT == 2, np.nan, FLAT)}, {}, r"panels\['one'\]\[0, 1, 1\] is nan"),
        ({"one": FLAT}, {"groups": ["a"]}, "number of groups is 1"),
        ({"one": np.tile(FLAT, (1, 3, 1))}, {"groups": list("abcdea")}, "number of different groups is 5"),
        ({"one": FLAT}, {"grounds": {"two": np.eye(2)}}, r"grounds\['two'\]"),
        ({"one": FLAT}, {"grounds": {"one": np.ones(3)}}, r"grounds\['one'\]"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(panels, options, named):
    with pytest.raises(ValueError, match=named):
        figures.moving_points(TIMES, panels, **options)


def test_no_times_are_refused():
    with pytest.raises(ValueError, match="shape of times"):
        figures.moving_points([], {"one": FLAT[:0]})


def test_the_example_moves_in_the_plane_and_in_space():
    figure = example("figure_moving_points")
    assert len(figure.frames) == 11 and len(figure.frames[0].data) == 4
