"""Lines, bars and matrices: what they hold, what they say, what they refuse."""

import numpy as np
import pytest

from gptlab import figures
from tests.pictures import words

X = [1, 2, 4]


def line_chart(lines, x=X, **options):
    return figures.line_chart(x, lines, x_name="n", y_name="loss", **options)


def test_a_line_chart_draws_each_line_and_each_level():
    figure = line_chart({"one": [3, 2, 1], "two": [4, np.nan, 2]}, levels={"floor": 0.5})
    assert [trace.name for trace in figure.data] == ["one", "two", "floor"]
    np.testing.assert_array_equal(figure.data[1].y, [4, np.nan, 2])
    assert list(figure.data[2].x) == [1, 4] and set(figure.data[2].y) == {0.5}
    assert words(figure) == "loss over n: one 3.00 at 1, 1.00 at 4; two 4.00 at 1, 2.00 at 4; floor 0.50."


def test_lines_differ_in_more_than_colour():
    figure = line_chart({str(n): X for n in range(6)})
    assert len({trace.line.dash for trace in figure.data}) == len({trace.line.color for trace in figure.data}) == 6


def test_a_small_number_is_said_by_its_digits():
    assert "0.0021" in words(line_chart({"gap": [1, 0.1, 0.0021]}))


@pytest.mark.parametrize("options", [{"log_x": True}, {"log_y": True}])
def test_a_logarithmic_axis_refuses_zero(options):
    with pytest.raises(ValueError, match="above 0"):
        line_chart({"one": [0, 1, 2]}, x=[0, 1, 2], **options)


def test_a_logarithmic_axis_of_many_decades_names_powers_alone():
    figure = line_chart({"one": [1e-11, 1, 30]}, x=[1, 10, 1e10], log_x=True, log_y=True)
    assert list(figure.layout.xaxis.ticktext) == ["10⁰", "10²", "10⁴", "10⁶", "10⁸", "10¹⁰"]
    assert figure.layout.xaxis.tickvals == pytest.approx([1, 1e2, 1e4, 1e6, 1e8, 1e10])
    assert list(figure.layout.yaxis.ticktext)[:2] == ["10⁻¹⁰", "10⁻⁸"]


def test_a_logarithmic_axis_names_its_ticks_in_full():
    figure = line_chart(
        {"one": [30, 200, np.nan]}, x=[1, 20_000, 2_000_000], levels={"floor": 9}, log_x=True, log_y=True
    )
    assert list(figure.layout.xaxis.ticktext)[-2:] == ["1,000,000", "10,000,000"]
    assert list(figure.layout.yaxis.ticktext) == [
        "1",
        "2",
        "5",
        "10",
        "20",
        "50",
        "100",
        "200",
        "500",
        "1,000",
        "2,000",
        "5,000",
    ]
    assert line_chart({"one": [1, 2, 3]}).layout.yaxis.tickvals is None


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ValueError, match="'two'"):
        line_chart({"one": [1, 2, 3], "two": [1, 2]})
    with pytest.raises(ValueError, match="at least one"):
        line_chart({})
    with pytest.raises(ValueError, match="'KL'"):
        figures.bar_chart(["a", "b"], {"KL": [1]}, y_name="nats")
    with pytest.raises(ValueError, match="at least 0"):
        figures.bar_chart(["a"], {"KL": [-1]}, y_name="nats", stacked=True)
    with pytest.raises(ValueError, match="number of labels"):
        figures.matrix_heatmap(np.eye(2), ["a"], ["a", "b"], name="cosine")
    with pytest.raises(ValueError, match="shape of values"):
        figures.matrix_heatmap(np.ones(2), ["a"], ["a"], name="cosine")


def test_bars_with_equal_names_stand_side_by_side():
    figure = figures.bar_chart(["the", "the"], {"p": [0.5, 0.25]}, y_name="p", levels={"half": 0.5})
    assert list(figure.data[0].x) == [0, 1] and list(figure.data[0].y) == [0.5, 0.25]
    assert list(figure.layout.xaxis.ticktext) == ["the", "the"]


def test_bars_are_stacked_or_stand_beside_each_other():
    bars = {"entropy": [1, 2], "KL": [3, 4]}
    assert figures.bar_chart(["a", "b"], bars, y_name="nats", stacked=True).layout.barmode == "stack"
    assert figures.bar_chart(["a", "b"], bars, y_name="nats").layout.barmode == "group"


def test_a_matrix_is_drawn_with_its_first_row_on_top():
    figure = figures.matrix_heatmap([[1.0, -3.0], [0.5, np.nan]], ["a", "b"], ["c", "d"], name="score", diverging=True)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-3, 3)
    assert words(figure) == "score of 2 × 2: largest 1.00 at ‘a’ (0), ‘c’ (0); smallest -3.00 at ‘a’ (0), ‘d’ (1)."


def test_a_matrix_without_numbers_says_so():
    assert "no numbers" in words(figures.matrix_heatmap([[np.nan]], ["a"], ["b"], name="score"))


def test_a_colour_bar_names_whole_numbers_and_of_equal_ones_the_only_one():
    whole = figures.matrix_heatmap([[1, 2], [3, np.nan]], ["a", "b"], ["c", "d"], name="layers").layout.coloraxis
    assert (whole.colorbar.dtick, whole.colorbar.tick0) == (1, 1)
    one = figures.matrix_heatmap(np.ones((2, 2)), ["a", "b"], ["c", "d"], name="layers").layout.coloraxis
    assert one.colorbar.ticktext == ("1",) and len({colour for _, colour in one.colorscale}) == 1
    parts = figures.matrix_heatmap([[0.5, 2]], ["a"], ["c", "d"], name="score").layout.coloraxis
    assert parts.colorbar.dtick is None and parts.colorbar.tickvals is None
