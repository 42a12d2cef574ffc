"""Lesson 13 in a real JupyterLab: a window moved over a picture, filters and strides chosen, fields that grow."""

import pytest
from playwright.sync_api import expect

from gptlab.figures.sliding import INPUT, OUTPUT, PARTS
from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "13_seeing.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=14)


def test_a_step_by_keyboard_moves_the_window(ran):
    app, figure = ran.app_of("apps.sliding_window", "padding", "heatmap")
    before = drawn(figure)
    press(app, "step", "ArrowLeft")
    after = wait_for_change(figure, before)
    assert after[PARTS]["z"] != before[PARTS]["z"]
    assert after[INPUT]["z"] == before[INPUT]["z"] and after[OUTPUT]["z"] == before[OUTPUT]["z"]
    expect(app.get_by_role("status")).to_contain_text("row 2, column 4")
    assert ran.problems == []


@pytest.mark.parametrize(
    ("slider", "key", "size"), [("filter", "ArrowRight", 6), ("padding", "End", 10), ("stride", "End", 4)]
)
def test_another_filter_padding_or_stride_gives_another_output(ran, slider, key, size):
    app, figure = ran.app_of("apps.sliding_window", "padding", "heatmap")
    before = drawn(figure)
    press(app, slider, key)
    assert len(wait_for_change(figure, before)[OUTPUT]["z"]) == size
    assert ran.problems == []


def test_a_stride_below_widens_the_field_on_top(ran):
    app, figure = ran.app_of("apps.receptive_field", "stride of layer 1", "scatter")
    expect(app.get_by_role("status")).to_contain_text("sees 13 inputs")
    before = drawn(figure)
    press(app, "stride of layer 1", "ArrowRight")
    strided = wait_for_change(figure, before)
    expect(app.get_by_role("status")).to_contain_text("sees 23 inputs")
    press(app, "layers", "ArrowLeft")
    wait_for_change(figure, strided)
    expect(app.get_by_role("status")).to_contain_text("sees 15 inputs")
    assert ran.problems == []


def test_before_any_run_the_still_figures_sliders_move_the_window_and_choose_a_filter(open_notebook):
    lab = open_notebook(LESSON)
    figure = lab.still_figure("apps.sliding_window")
    before = drawn(figure)
    rail = figure.locator(".slider-rail-touch-rect").first
    rail.click(position={"x": 5, "y": 5})
    moved = wait_for_change(figure, before)
    assert moved[PARTS]["z"] != before[PARTS]["z"]
    assert lab.problems == []
