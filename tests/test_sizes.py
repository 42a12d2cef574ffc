"""The table of all texts: its entries as whole numbers, drawn and said, and the slider that moves them."""

import math

import pytest

from gptlab import apps, figures
from gptlab.figures.sizes import written
from tests.pictures import words

SIZES = {"example": 3, "GPT-2": 50_257}


def test_bars_are_as_long_as_the_number_has_digits():
    figure = figures.table_sizes(SIZES, length=4)
    assert list(figure.data[0].x) == pytest.approx([math.log10(81), math.log10(50_257**4)], abs=1e-3)
    assert list(figure.data[0].text) == ["81", "6.38 × 10<sup>18</sup>"]
    assert words(figure) == "Entries of a table of all texts of 4 words: example 81; GPT-2 6.38 × 10^18."


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (9_999_999, "9,999,999"),
        (10_000_000, "1.00 × 10<sup>7</sup>"),
        (9_999_999_999, "1.00 × 10<sup>10</sup>"),
        (10**400 * 127 // 100, "1.27 × 10<sup>400</sup>"),
    ],
)
def test_numbers_are_written_in_full_or_as_powers(number, text):
    assert written(number) == text


def test_the_still_slider_holds_every_length():
    figure = figures.table_sizes(SIZES, length=2, lengths=[1, 2, 3])
    (slider,) = figure.layout.sliders
    assert slider.active == 1
    assert [step.args[0]["text"][0][0] for step in slider.steps] == ["3", "9", "27"]


def test_the_names_of_vocabularies_are_never_markup():
    figure = figures.table_sizes({"<b>$x$": 2})
    assert "<b>" not in figure.layout.yaxis.ticktext[0] and "$" not in figure.layout.yaxis.ticktext[0]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (({},), "vocabularies"),
        (({"none": 0},), "the size of 'none'"),
        ((SIZES,), "length is 0"),
    ],
)
def test_what_is_no_table_is_refused_by_name(arguments, named):
    with pytest.raises(ValueError, match=named):
        figures.table_sizes(*arguments, length=0 if "length" in named else 3)


def test_the_slider_moves_the_bars_and_the_words():
    app = apps.table_size(SIZES, length=2)
    figure = app.figure
    app.length.value = 5
    assert app.figure is figure
    assert list(figure.data[0].text) == ["243", "3.21 × 10<sup>23</sup>"]
    assert "of 5 words: example 243" in words(app.still())
    assert len(app.still().layout.sliders[0].steps) == 20
