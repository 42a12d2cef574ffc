"""Small pictures side by side: their numbers, their scales, and when numbers are written into the cells."""

import numpy as np
import pytest

from gptlab import figures
from tests.pictures import HOSTILE, strict, words

PICTURE = np.arange(6.0).reshape(2, 3)


def test_each_picture_has_its_numbers_its_title_and_axes_of_its_own():
    pictures = {"a": PICTURE, "b": PICTURE.T, "c": [[7.0]]}
    figure = figures.small_pictures(pictures, columns=2)
    for trace, picture in zip(figure.data, pictures.values(), strict=True):
        np.testing.assert_array_equal(trace.z, np.asarray(picture))
    assert [a.text for a in figure.layout.annotations] == ["a", "b", "c"]
    assert [trace.xaxis for trace in figure.data] == ["x", "x2", "x3"]
    # The first row stands on top: the axis runs downwards, and two rows of pictures do not overlap.
    assert tuple(figure.layout.yaxis.range) == (1.5, -0.5)
    assert figure.layout.yaxis.domain[0] >= figure.layout.yaxis3.domain[1]
    assert figure.layout.xaxis.domain[1] <= figure.layout.xaxis2.domain[0]


def test_cells_are_square():
    figure = figures.small_pictures({"a": PICTURE, "b": PICTURE.T})
    assert (figure.layout.yaxis.scaleanchor, figure.layout.yaxis2.scaleanchor) == ("x", "x2")


@pytest.mark.parametrize(("signed", "ends"), [(False, (-2, 5)), (True, (-5, 5))])
def test_one_scale_for_all_pictures(signed, ends):
    figure = figures.small_pictures({"a": [[-2.0, 0.0]], "b": [[5.0, np.nan]]}, signed=signed)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == ends
    assert {trace.coloraxis for trace in figure.data} == {"coloraxis"}


def test_numbers_are_written_where_there_is_room_and_a_colour_bar_stands_where_there_is_none():
    for picture, written in ((PICTURE, True), (np.ones((40, 40)), False), (np.full((9, 9), -0.123), False)):
        figure = figures.small_pictures({"a": picture})
        assert bool(figure.data[0].texttemplate) == written and figure.layout.coloraxis.showscale == (not written)


def test_the_words_say_each_range_and_of_many_pictures_that_of_all():
    assert words(figures.small_pictures({"a": PICTURE, "b": [[np.nan]]}, name="weight")) == (
        "2 pictures of weight: ‘a’ of 2 × 3 from 0.00 to 5.00, mean 2.50; ‘b’ of 1 × 1 empty."
    )
    many = figures.small_pictures({f"p{n}": PICTURE + n for n in range(12)})
    assert "12 pictures of brightness, ‘p0’ to ‘p11’: from 0.00 to 16.00" in words(many) and "‘p11’: 13.50" in words(
        many
    )


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_is_markup(title):
    figure = strict(figures.small_pictures({title: PICTURE, "other": PICTURE}, name=title))
    assert figure["layout"]["annotations"][0]["text"] not in HOSTILE
    assert title not in figure["data"][0]["hovertemplate"].replace("%{y}", "").replace("<br>", "")


@pytest.mark.parametrize(
    ("pictures", "columns", "complaint"),
    [
        ({}, 4, "pictures is"),
        ({"a": [1.0, 2.0]}, 4, "shape of 'a'"),
        ({"a": np.ones((0, 3))}, 4, "shape of 'a'"),
        ({"a": PICTURE}, 0, "columns is 0"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(pictures, columns, complaint):
    with pytest.raises(ValueError, match=complaint):
        figures.small_pictures(pictures, columns=columns)
