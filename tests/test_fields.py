"""Receptive fields: the formula against plain loops and against gradients, and what the picture draws of it."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from gptlab import apps, figures
from gptlab.figures.fields import fields
from tests.pictures import HOSTILE, strict, words
from tests.references.filters import inputs_seen

EDGES, OTHERS, SEEN = range(3)
STRIDED = [(3, 1), (3, 2), (3, 1), (3, 2)]
VGG16 = [(3, 1), (3, 1), (2, 2)] * 2 + [(3, 1), (3, 1), (3, 1), (2, 2)] * 3

stacks = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), min_size=1, max_size=4)


@given(stacks)
@settings(max_examples=100)
def test_size_and_jump_are_what_plain_loops_give(layers):
    last = fields(layers)[-1]
    seen = inputs_seen(layers)
    assert last.size == max(seen) + 1
    shifted = {unit + last.jump for unit in seen}
    size, stride = layers[-1]
    above = inputs_seen([*layers, (2, 1)])  # a layer of 2 on top sees this unit and its neighbour
    assert above == seen | shifted


@given(stacks)
@settings(max_examples=40)
def test_the_gradient_reaches_as_far(layers):
    n = fields(layers)[-1].size
    x = torch.ones(1, 1, n, requires_grad=True, dtype=torch.float64)
    y = x
    for size, stride in layers:
        y = F.conv1d(y, torch.ones(1, 1, size, dtype=torch.float64), stride=stride)
    y[0, 0, 0].backward()
    assert set(x.grad[0, 0].nonzero()[:, 0].tolist()) == inputs_seen(layers)


def test_known_fields():
    assert [field.size for field in fields([(3, 1)] * 3)] == [1, 3, 5, 7]  # VGG's stacks: RF_i = RF_{i-1} + (K - 1)
    assert [field.size for field in fields(STRIDED)] == [1, 3, 5, 9, 13]
    assert [field.size for field in fields([(3, 2)] * 4)] == [1, 3, 7, 15, 31]
    assert fields(VGG16)[-2].size == 196 and fields(VGG16)[-1].size == 212


def test_the_picture_marks_what_the_middle_unit_sees():
    figure = figures.receptive_field({"net": STRIDED})
    seen = figure.data[SEEN]
    inputs = [x for x, y in zip(seen.x, seen.y, strict=True) if y == 0]
    assert len(inputs) == 13 and np.ptp(inputs) == 12
    others = [x for x, y in zip(figure.data[OTHERS].x, figure.data[OTHERS].y, strict=True) if y == 4]
    assert others == [min(others), min(others) + 2 * 4]  # neighbours on top stand a jump of 4 to each side
    (top,) = [x for x, y in zip(seen.x, seen.y, strict=True) if y == 4]
    assert top == np.mean(inputs)  # a unit stands above the middle of what it sees
    assert figure.data[EDGES].x.count(None) == sum(3 for y in seen.y if y > 0)


def test_beside_each_layer_stands_its_field_and_the_form_for_stride_1_where_it_differs():
    texts = figures.receptive_field({"net": STRIDED}).layout.yaxis.ticktext
    assert [text.split("sees ")[-1] for text in texts[1:]] == ["3", "5", "9 (K − 1 alone: 7)", "13 (K − 1 alone: 9)"]
    assert "1, 3, 5, 9, 13 inputs" in words(figures.receptive_field({"net": STRIDED}))


def test_a_stride_larger_than_the_kernel_leaves_holes():
    said = words(figures.receptive_field({"net": [(1, 3), (3, 1)]}))
    assert "1, 1, 7 inputs" in said and said.endswith("3 inputs reach the middle unit on top.")


def test_the_slider_in_the_browser_draws_the_other_network():
    networks = {"1 1": [(3, 1)] * 2, "2 2": [(3, 2)] * 2}
    figure = figures.receptive_field(networks, shown="2 2")
    (slider,) = figure.layout.sliders
    assert slider.active == 1
    for step, (name, layers) in zip(slider.steps, networks.items(), strict=True):
        other = figures.receptive_field({name: layers})
        restyled, axes = step.args
        assert step.method == "update"
        for number, trace in enumerate(other.data):
            assert list(trace.x) == restyled["x"][number] and list(trace.y) == restyled["y"][number]
        assert list(other.layout.xaxis.range) == axes["xaxis.range"]
        assert list(other.layout.yaxis.ticktext) == axes["yaxis.ticktext"]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_markup(name):
    figure = strict(figures.receptive_field({name: STRIDED, "other": STRIDED}))
    assert figure["layout"]["sliders"][0]["steps"][0]["label"] not in HOSTILE


@pytest.mark.parametrize(
    ("networks", "complaint"),
    [
        ({}, "there is none"),
        ({"net": []}, "layers of 'net'"),
        ({"net": [(0, 1)]}, "size or stride of 'net' is 0"),
        ({"net": [(3, True)]}, "size or stride of 'net' is True"),
        ({"net": [(9, 9)] * 4}, "field of 'net'"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(networks, complaint):
    with pytest.raises(ValueError, match=complaint):
        figures.receptive_field(networks)


# The app ----------------------------------------------------------------------------------------------------------


def test_the_app_draws_the_network_of_its_sliders():
    app = apps.receptive_field()
    app.kernel.value, app.layers.value, app.strides[0].value = 5, 3, 3
    other = figures.receptive_field({"net": [(5, 3), (5, 2), (5, 1)]})
    for shown, drawn in zip(app.figure.data, other.data, strict=True):
        assert list(shown.x) == list(drawn.x) and list(shown.y) == list(drawn.y)
    assert list(app.figure.layout.yaxis.ticktext) == list(other.layout.yaxis.ticktext)
    size, jump = fields([(5, 3), (5, 2), (5, 1)])[-1]
    assert f"sees {size} inputs" in app.line.value and f"begins {jump} further" in app.line.value


def test_strides_of_layers_that_are_not_there_are_not_offered():
    app = apps.receptive_field(strides=(2,))
    assert [one.layout.display for one in app.strides] == [None, "none", "none", "none"]
    app.layers.value = 3
    assert [one.layout.display for one in app.strides] == [None, None, None, "none"]
    assert "A unit on top sees 11 inputs" in app.line.value  # 3, then 2 · 2, then 2 · 2


@pytest.mark.parametrize("kernel", [1, 2, 3, 5, 7])
def test_the_largest_networks_can_be_drawn(kernel):
    app = apps.receptive_field(kernel, (3, 3, 3, 3))
    assert "did not work" not in app.line.value
    assert app.still().layout.sliders[0].steps[0].label == "3 3 3 3"


def test_the_still_copy_has_strides_to_choose_from():
    (slider,) = apps.receptive_field(strides=(1, 2, 1, 2)).still().layout.sliders
    assert [step.label for step in slider.steps] == ["1 2 1 2", "1 1 1 1", "2 2 2 2"]


@pytest.mark.parametrize(("kernel", "strides"), [(4, (1,)), (3, ()), (3, (1,) * 5), (3, (4,)), (3, (0, 1))])
def test_what_the_sliders_do_not_offer_is_refused(kernel, strides):
    with pytest.raises(ValueError, match="kernel is|strides is"):
        apps.receptive_field(kernel, strides)
