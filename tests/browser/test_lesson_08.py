"""Lesson 08 in a real JupyterLab: the tree that grows, the cuts under three sliders, the speeds at a button."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change, wait_for_words

LESSON = "08_decoding.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=7)


def test_the_tree_grows_by_keyboard_and_width_1_is_a_single_line(ran):
    app, figure = ran.app_of("apps.beam_tree", "width", "scatter")
    before = drawn(figure)
    press(app, "steps", "Home")
    first = wait_for_change(figure, before)
    assert len(tokens(first)) < len(tokens(before))
    press(app, "steps", "ArrowRight")
    second = wait_for_change(figure, first)
    assert len(tokens(second)) > len(tokens(first))
    press(app, "width", "Home")
    assert len(tokens(wait_for_change(figure, second))) == 3  # the prompt, and a token a step
    assert ran.problems == []


def test_the_search_follows_what_is_typed(ran):
    app, figure = ran.app_of("apps.beam_tree", "width", "scatter")
    app.locator("input[type=text]").fill("There was")
    wait_for_words(figure, ["␣once"])
    assert ran.problems == []


@pytest.mark.parametrize(("slider", "key"), [("temperature", "ArrowRight"), ("top-p", "ArrowLeft"), ("top-k", "Home")])
def test_each_of_three_sliders_changes_what_is_drawn_from(ran, slider, key):
    app, figure = ran.app_of("apps.sampling_cut", "top-p", "bar")
    before = drawn(figure)
    press(app, slider, key)
    assert wait_for_change(figure, before)[5]["x"] != before[5]["x"]
    assert ran.problems == []


def test_the_button_measures_here(ran):
    ran.show_cell(ran.cell_with("apps.cache_speed"))
    button = ran.page.get_by_role("button", name="Measure here")
    app = ran.page.locator(".jp-Cell-outputWrapper").filter(has=button)
    button.press("Enter")
    expect(app.get_by_role("status")).to_contain_text("times as fast", timeout=120_000)
    assert ran.problems == []


def tokens(traces: list[dict]) -> list[str]:
    """The texts in sight that are written at a point."""
    return [text for trace in traces if trace["x"] and isinstance(trace["text"], list) for text in trace["text"]]
