"""The window that slides: its numbers are plain loops' and torch's, whatever slider shows them."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from gptlab import apps, figures
from gptlab.figures.sliding import COVER, INPUT, KERNEL, OUTLINE, OUTPUT, PARTS, PLACE, WINDOW, padding_of
from tests.pictures import HOSTILE, strict, words
from tests.references.filters import products, windows

PICTURE = np.random.default_rng(0).integers(0, 10, (6, 5)).astype(float)
KERNELS = {"across": np.array([[-1.0, 0.0, 1.0]] * 3), "odd": np.arange(9.0).reshape(3, 3) - 2}


def cells(figure, number: int) -> np.ndarray:
    """A panel's numbers, NaN where a cell is empty."""
    return np.array(figure.data[number].z, float)


def box(figure, number: int) -> tuple[float, ...]:
    """Left, right, top and bottom of what a line surrounds."""
    x, y = figure.data[number].x, figure.data[number].y
    return min(x), max(x), min(y), max(y)


# The figure -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["valid", "same", "full"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("window", [KERNELS["odd"], [[1.0, -2.0], [0.5, 3.0]], [[2.0]], 2, 3])
def test_every_step_is_what_plain_loops_give(window, stride, padding):
    largest = isinstance(window, int)
    size = window if largest else len(window)
    before, after = padding_of(padding, size)
    found, n_columns = windows(PICTURE.tolist(), size, stride, before, after, math.nan if largest else 0.0)
    for step in (0, len(found) // 2, len(found) - 1):
        figure = figures.sliding_window(PICTURE, {"w": window}, padding=padding, stride=stride, step=step)
        parts = np.array(found[step] if largest else products(found[step], window), float)
        np.testing.assert_allclose(cells(figure, PARTS), parts, rtol=1e-5)
        row, column = divmod(step, n_columns)
        expected = np.nanmax(parts) if largest else parts.sum()
        assert cells(figure, OUTPUT)[row, column] == pytest.approx(expected, rel=1e-5)
        assert cells(figure, OUTPUT).size == len(found)
        assert f"is {expected:.2f}." in words(figure)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["valid", "same", "full"])
def test_the_whole_output_is_torchs(padding, stride):
    figure = figures.sliding_window(PICTURE, KERNELS, shown="odd", padding=padding, stride=stride)
    zeros = {"valid": 0, "same": 1, "full": 2}[padding]
    tensors = [torch.tensor(one)[None, None] for one in (PICTURE, KERNELS["odd"])]
    expected = F.conv2d(*tensors, padding=zeros, stride=stride)[0, 0]
    np.testing.assert_allclose(cells(figure, OUTPUT + 3), expected, rtol=1e-5)


def test_same_keeps_the_size_as_torch_does_for_an_even_kernel_too():
    kernel = np.array([[1.0, 2.0], [3.0, 4.0]])
    figure = figures.sliding_window(PICTURE, {"even": kernel}, padding="same")
    padded = F.pad(torch.tensor(PICTURE), (0, 1, 0, 1))  # torch's "same", of which it warns that it copies
    expected = F.conv2d(padded[None, None], torch.tensor(kernel)[None, None])[0, 0]
    np.testing.assert_allclose(cells(figure, OUTPUT), expected, rtol=1e-5)
    assert cells(figure, OUTPUT).shape == PICTURE.shape


def test_the_boxes_stand_around_the_window_and_its_output_and_the_rest_is_covered():
    figure = figures.sliding_window(PICTURE, KERNELS, stride=2, step=3)  # row 1, column 1 of 2 × 2
    assert box(figure, WINDOW) == (1.5, 4.5, 1.5, 4.5)
    assert box(figure, PLACE) == (0.5, 1.5, 0.5, 1.5)
    assert area(figure.data[COVER]) == 0
    first = figures.sliding_window(PICTURE, KERNELS, stride=2, step=0)
    assert area(first.data[COVER]) == 3
    assert not first.data[OUTLINE].x
    padded = figures.sliding_window(PICTURE, KERNELS, padding="full")
    assert box(padded, OUTLINE) == (1.5, 6.5, 1.5, 7.5) and cells(padded, INPUT).shape == (10, 9)


def area(trace) -> float:
    """How many cells a filled shape covers."""
    x, y = np.array(trace.x), np.array(trace.y)
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


def test_around_a_maximum_there_is_nothing_and_around_products_there_are_zeros():
    assert np.isnan(cells(figures.sliding_window(PICTURE, {"largest": 2}, padding="full"), INPUT)[0]).all()
    assert not cells(figures.sliding_window(PICTURE, KERNELS, padding="full"), INPUT)[0].any()
    below = figures.sliding_window(PICTURE - 20, {"largest": 2}, padding="full")
    assert cells(below, OUTPUT).max() < 0


def test_sliders_in_the_browser_show_what_the_figure_of_that_step_and_filter_shows():
    figure = figures.sliding_window(PICTURE, KERNELS, padding="same")
    steps, filters = figure.layout.sliders
    assert len(steps.steps) == PICTURE.size and [step.label for step in filters.steps] == list(KERNELS)
    for place in (0, 7, PICTURE.size - 1):
        moved, traces = steps.steps[place].args
        other = figures.sliding_window(PICTURE, KERNELS, padding="same", step=place)
        for number, trace in enumerate(traces):
            assert list(other.data[trace].x or moved["x"][number]) == list(moved["x"][number])
            if other.data[trace].type == "heatmap":
                np.testing.assert_array_equal(cells(other, trace), np.array(moved["z"][number], float))
    visible, traces = filters.steps[1].args
    assert [t for t, on in zip(traces, visible["visible"], strict=True) if on] == [KERNEL + 3, PARTS + 3, OUTPUT + 3]
    assert len(figures.sliding_window(PICTURE, KERNELS, slides=False).layout.sliders) == 0
    labels = [step.label for step in steps.steps]
    assert [label.strip() for label in labels[:2]] == ["0, 0", "0, 1"]
    assert all(len(label) > len(label.strip()) for label in labels), "blanks keep neighbours apart"


def test_colours_of_the_products_mean_the_same_at_every_step():
    ends = {
        (figure.data[PARTS].zmin, figure.data[PARTS].zmax)
        for figure in (figures.sliding_window(PICTURE, KERNELS, step=step) for step in range(6))
    }
    assert len(ends) == 1 and {-low for low, _ in ends} == {high for _, high in ends}


def test_a_window_as_large_as_the_picture_has_one_place():
    figure = figures.sliding_window([[2.0, 3.0], [5.0, 7.0]], {"all": np.ones((2, 2))})
    assert cells(figure, OUTPUT).tolist() == [[17]]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_markup(name):
    figure = strict(figures.sliding_window(PICTURE, {name: KERNELS["odd"], "other": KERNELS["odd"]}))
    assert figure["layout"]["sliders"][1]["steps"][0]["label"] not in HOSTILE


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"picture": np.ones(4)}, "picture is"),
        ({"picture": np.full((4, 4), np.nan)}, "finite numbers"),
        ({"windows": {}}, "there is none"),
        ({"windows": {"w": np.ones((2, 3))}}, "square kernel"),
        ({"windows": {"w": np.full((2, 2), np.inf)}}, "finite numbers"),
        ({"windows": {"w": 0}}, "'w' is 0"),
        ({"windows": {"w": True}}, "'w' is True"),
        ({"windows": {"w": np.ones((2, 2)), "v": 2}}, "no kernels among maxima"),
        ({"windows": {"w": np.ones((7, 7))}}, "size of the window is 7, but must be at most 5"),
        ({"shown": "v"}, "shown is 'v'"),
        ({"padding": "circular"}, "'full'"),
        ({"stride": 0}, "stride is 0"),
        ({"stride": True}, "stride is True"),
        ({"step": 12}, "step is 12, but must be a place from 0 to 11"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        figures.sliding_window(**({"picture": PICTURE, "windows": {"w": np.ones((3, 3))}} | change))


# The app ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    return apps.sliding_window(PICTURE, KERNELS | {"largest of 2 × 2": 2})


def test_the_app_shows_what_the_figure_of_its_sliders_shows(app):
    for name, padding, stride, step in [
        ("odd", "full", 1, 17),
        ("across", "same", 3, 2),
        ("largest of 2 × 2", "valid", 2, 4),
    ]:
        app.filter.value, app.padding.value, app.stride.value, app.step.value = name, padding, stride, step
        window = {name: 2 if "largest" in name else KERNELS[name]}
        figure = figures.sliding_window(PICTURE, window, padding=padding, stride=stride, step=step - 1)
        for number in (INPUT, PARTS, OUTPUT):
            np.testing.assert_array_equal(cells(app.figure, number), cells(figure, number))
        assert [app.figure.layout.annotations[n].text for n in range(4)] == [a.text for a in figure.layout.annotations]


def test_there_are_as_many_steps_as_places(app):
    app.padding.value = "full"
    app.step.value = app.step.max
    assert app.step.max == 8 * 7
    app.stride.value, app.padding.value = 3, "valid"
    assert (app.step.max, app.step.value) == (2, 2)
    assert "did not work" not in app.line.value


def test_the_line_says_the_number_and_where_it_stands(app):
    app.step.value = 6
    number = (PICTURE[1:4, 4] - PICTURE[1:4, 2]).sum()
    assert f"window is {number:g}".replace("-", "−") in app.line.value and "row 1, column 2" in app.line.value


def test_the_still_copy_offers_the_filters_of_one_size_and_kind(app):
    _, filters = app.still().layout.sliders
    assert [step.label for step in filters.steps] == list(KERNELS)
    app.filter.value = "largest of 2 × 2"
    assert len(app.still().layout.sliders) == 1


@pytest.mark.parametrize("windows", [{}, {"w": [1.0, 2.0]}, {"good": 2, "w": np.ones((6, 6))}])
def test_an_app_that_could_not_draw_is_refused(windows):
    with pytest.raises(ValueError, match="window"):
        apps.sliding_window(PICTURE, windows)
