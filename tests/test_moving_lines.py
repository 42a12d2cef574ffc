"""Moving lines: the slider moves them in place; each value is computed once; what does not fit is refused."""

import numpy as np
import pytest

from gptlab import apps, figures
from tests.pictures import HOSTILE, speech, strict, words

X = [0, 1, 2]
VIEWS = {0.5: {"one": [1, 0.5, 0.25], "two": [1, 0.25, 0.0625]}, 2: {"one": [1, 2, 4], "two": [1, 4, 16]}}


def drawn(views=VIEWS, x=X, **options):
    return figures.moving_lines(x, views, control="factor", x_name="steps", y_name="left", **options)


def made(lines=None, values=(0.5, 1, 2), **options):
    lines = lines or (lambda factor: {"one": factor ** np.arange(3), "two": factor ** (2 * np.arange(3))})
    named = {"control": "factor", "x_name": "steps", "y_name": "left", "y_range": (0.01, 100), "log_y": True}
    return apps.moving_lines(X, lines, values, **named | options)


def test_the_sliders_steps_hold_the_lines_of_each_view():
    figure = drawn(active=2)
    slider = figure.layout.sliders[0]
    assert [step.label for step in slider.steps] == ["0.5", "2"] and slider.active == 1
    np.testing.assert_array_equal(figure.data[1].y, [1, 4, 16])
    for step, lines in zip(slider.steps, VIEWS.values(), strict=True):
        change, traces = step.args
        assert list(traces) == [0, 1]
        np.testing.assert_array_equal(np.stack(change["y"]), list(lines.values()))
    assert words(figure) == "left over steps at factor 2: one 1.00 at 0, 4.00 at 2; two 1.00 at 0, 16.00 at 2."


def test_one_view_has_no_slider_and_axes_hold_all_of_several():
    assert len(drawn({2: VIEWS[2]}).layout.sliders) == 0
    low, high = drawn().layout.yaxis.range
    assert low < 0.0625 and high > 16
    assert drawn(y_range=(-1, 1)).layout.yaxis.range == (-1, 1)


def test_a_logarithmic_axis_names_powers_of_ten_and_leaves_out_what_it_cannot_show():
    figure = drawn({1: {"one": [1e-12, 0, np.inf]}}, log_y=True, y_range=(1e-12, 1e4))
    assert {"10⁻¹²", "10⁻⁶", "10⁰", "10²"} <= set(figure.layout.yaxis.ticktext)
    np.testing.assert_array_equal(figure.data[0].y, [1e-12, np.nan, np.nan])
    assert strict(figure)["data"][0]["name"] == "one" and "none at 2" in words(figure)
    short = drawn(x=[1, 10, 1000], log_x=True).layout.xaxis
    assert {"1", "2", "5", "10", "500", "1,000"} <= set(short.ticktext)


def test_lines_differ_in_more_than_colour():
    figure = drawn({1: {str(n): X for n in range(5)}})
    assert len({trace.line.dash for trace in figure.data}) == len({trace.line.color for trace in figure.data}) == 5


def test_names_are_written_as_they_are():
    for name in HOSTILE:
        figure = figures.moving_lines(X, {1: {name: X}, 2: {name: X}}, control=name, x_name=name, y_name=name)
        shown = [figure.data[0].name, figure.layout.xaxis.title.text, figure.layout.yaxis.title.text]
        shown += [figure.layout.sliders[0].currentvalue.prefix, figure.data[0].hovertemplate.split(" %{x")[0]]
        assert all("<" not in one and "$" not in one and "%{y}" not in one for one in shown)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"views": {}}, "number of lines"),
        ({"views": {1: {}}}, "number of lines is 0"),
        ({"views": {1: {str(n): X for n in range(6)}}}, "number of lines is 6"),
        ({"views": {1: {"one": X}, 2: {"two": X}}}, "lines at 2"),
        ({"views": {1: {"one": [1, 2]}}}, "'one' at 1"),
        ({"x": [], "views": {1: {"one": []}}}, "shape of x"),
        ({"log_x": True}, "x is"),
        ({"y_range": (2, 1)}, "y_range"),
        ({"y_range": (0, 1), "log_y": True}, "y_range"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(options, named):
    with pytest.raises(ValueError, match=named):
        drawn(**options)


def test_the_slider_moves_the_lines_in_place_and_each_value_is_computed_once():
    asked = []

    def lines(factor):
        asked.append(factor)
        return {"one": factor ** np.arange(3)}

    app = made(lines, start=1)
    figure = app.figure
    assert asked == [1]
    for value in (2, 1, 2):
        app.slider.value = value
        np.testing.assert_array_equal(figure.data[0].y, value ** np.arange(3.0))
        np.testing.assert_array_equal(app.draw().data[0].y, figure.data[0].y)
    assert app.figure is figure and asked == [1, 2]


def test_the_still_figure_has_every_value_and_begins_where_the_slider_stands():
    app = made(start=2)
    still = app.still()
    assert [step.label for step in still.layout.sliders[0].steps] == ["0.5", "1", "2"]
    assert still.layout.sliders[0].active == 2
    assert app._repr_mimebundle_()["text/plain"] == words(still)
    assert "at factor 2: one 1.00 at 0, 4.00 at 2" in words(still)


def test_case_133_lines_that_fail_are_told_in_the_apps_own_line():
    def lines(factor):
        if factor == 2:
            raise RuntimeError("my <lines>")
        return {"one": X}

    app = made(lines)
    app.slider.value = 2
    assert "This did not work: my &lt;lines&gt;" in speech(app)
    app.slider.value = 1
    assert speech(app) == ""


def test_a_slider_without_values_or_with_a_start_beside_them_is_refused():
    with pytest.raises(ValueError, match="values"):
        made(values=[])
    with pytest.raises(ValueError, match="start is 3, but must be one of the slider's values, such as 2"):
        made(start=3)
