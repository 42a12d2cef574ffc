"""Parameters counted: the bars, the menu of models, the controls, and that nothing is allocated."""

import json

import numpy as np
import psutil
import pytest

from gptlab import apps, figures
from gptlab.apps.counter import NAMES, OWN
from gptlab.config import GPTConfig
from tests.pictures import speech, words

TOTALS = {
    "gpt1": 116_534_784,
    "gpt2": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "gpt3": 174_604_259_328,
}
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y}"


@pytest.fixture
def counter():
    return apps.parameter_counter("gpt3")


def test_a_bar_is_a_parts_share_and_carries_its_number():
    figure = figures.parameter_bars({"mlp": 30, "final_norm": 10, "total": 40}, name="tiny")
    assert figure.data[0].x.tolist() == [0.75, 0.25] and list(figure.data[0].customdata) == [30, 10]
    assert list(figure.layout.yaxis.ticktext) == ["MLP", "final norm"]
    assert figure.layout.title.text == "tiny: 40 parameters" and not figure.layout.updatemenus
    assert words(figure) == "Parameters of tiny: MLP 30, final norm 10; in all 40."


def test_each_model_of_the_menu_brings_its_bars_and_its_total():
    counts = {"one": {"a": 1, "total": 1}, "two": {"a": 5, "total": 5}}
    (menu,) = figures.parameter_bars(counts, name="two").layout.updatemenus
    assert menu.active == 1
    assert [button.args[1] for button in menu.buttons] == [
        {"title.text": "one: 1 parameters"},
        {"title.text": "two: 5 parameters"},
    ]
    assert menu.buttons[1].args[0]["customdata"] == [[5]]


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="the sum of its parts"):
        figures.parameter_bars({"a": 1, "b": 2, "total": 4})
    with pytest.raises(ValueError, match="the parts of 'two'"):
        figures.parameter_bars({"one": {"a": 1, "total": 1}, "two": {"b": 1, "total": 1}}, name="one")
    with pytest.raises(ValueError, match="name is 'three', but must be one of one"):
        figures.parameter_bars({"one": {"a": 1, "total": 1}}, name="three")
    with pytest.raises(ValueError, match="preset is 'gpt9'"):
        apps.parameter_counter("gpt9")


def test_a_name_is_not_read_as_markup():
    figure = figures.parameter_bars({HOSTILE: {"a": 1, "total": 1}, "b": {"a": 1, "total": 1}}, name=HOSTILE)
    drawn = json.loads(figure.to_json())
    del drawn["layout"]["meta"]
    assert "<img" not in json.dumps(drawn) and "$x$" not in json.dumps(drawn)


@pytest.mark.parametrize("preset", NAMES)
def test_case_87_each_preset_shows_its_published_number(counter, preset):
    counter.model.value = NAMES[preset]
    assert counter.figure.layout.title.text == f"{NAMES[preset]}: {TOTALS[preset]:,} parameters"
    assert sum(counter.figure.data[0].customdata) == TOTALS[preset]
    assert counter.config == GPTConfig.preset(preset)


def test_the_mlps_of_gpt_3_with_and_without_biases(counter):
    mlp = list(counter.config.parameter_count()).index("mlp")
    assert counter.figure.data[0].customdata[mlp] == 115_970_015_232
    counter.sizes["bias"].value = False
    assert counter.figure.data[0].customdata[mlp] == 115_964_116_992 == 2 * 4 * 12_288**2 * 96
    assert counter.model.value == OWN
    counter.sizes["bias"].value = True
    assert counter.model.value == "GPT-3"


def test_an_output_of_its_own_is_counted_too(counter):
    counter.sizes["tie_weights"].value = False
    assert "175,221,817,344" in counter.figure.layout.title.text


def test_the_number_of_heads_changes_nothing_and_what_does_not_divide_is_said(counter):
    before = counter.figure.data[0].x.tolist()
    counter.sizes["n_heads"].value = 64
    assert counter.figure.data[0].x.tolist() == before and "64 heads is 192 wide" in speech(counter)
    counter.sizes["n_heads"].value = 20
    assert "d_model is 12288, but must be a multiple of n_heads" in speech(counter)
    counter.sizes["n_heads"].value = 96
    assert "96 heads is 128 wide" in speech(counter)


def test_own_sizes_begin_with_those_of_the_model_before(counter):
    counter.model.value = OWN
    assert counter.figure.layout.title.text == "own sizes: 174,604,259,328 parameters"
    assert counter.config == GPTConfig.preset("gpt3")


def test_sizes_that_make_no_model_leave_the_last_picture_and_its_still_copy(counter):
    counter.sizes["n_heads"].value = 20
    assert counter.still().layout.title.text == "GPT-3: 174,604,259,328 parameters"
    assert counter._repr_mimebundle_()["text/plain"].startswith("Parameters of GPT-3")


def test_the_still_copy_offers_every_preset_and_the_own_sizes(counter):
    assert [button.label for button in counter.still().layout.updatemenus[0].buttons] == [*NAMES.values()]
    counter.sizes["n_layers"].value = 48
    still = counter.still()
    assert [button.label for button in still.layout.updatemenus[0].buttons] == [OWN, *NAMES.values()]
    np.testing.assert_array_equal(still.data[0].x, counter.figure.data[0].x)


def test_nothing_is_allocated():
    apps.parameter_counter("gpt2")
    before = psutil.Process().memory_info().rss
    apps.parameter_counter("gpt3")
    assert psutil.Process().memory_info().rss - before < 1_000_000_000  # the model would take 700 times as much
