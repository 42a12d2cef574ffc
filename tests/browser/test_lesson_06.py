"""Lesson 06 in a real JupyterLab: a vector scaled, the lens coloured otherwise, parameters of another model counted."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "06_the_block.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=8)


def test_the_factor_moved_by_keyboard_changes_the_vector_and_not_its_norm(ran):
    app, figure = ran.app_of("apps.layer_norm", "factor", "bar")
    before = drawn(figure)
    press(app, "factor", "ArrowRight")
    vector, by_deviation, by_variance = wait_for_change(figure, before)
    assert vector["y"] == pytest.approx([2 * y for y in before[0]["y"]])
    assert by_deviation["y"] == pytest.approx(before[1]["y"], rel=1e-3)
    assert by_variance["y"] == pytest.approx([y / 2 for y in before[2]["y"]], rel=1e-3)
    assert ran.problems == []


def test_the_lens_is_coloured_by_another_probability_by_keyboard(ran):
    app, figure = ran.app_of("apps.logit_lens", "colour", "heatmap")
    before = drawn(figure)
    app.locator("button", has_text="the token shown").press("Space")
    (after,) = wait_for_change(figure, before)
    assert after["text"] == before[0]["text"]
    assert sum(map(sum, after["z"])) > sum(map(sum, before[0]["z"])), "no token is likelier than the likeliest"
    assert ran.problems == []


def test_another_model_is_counted_by_keyboard_and_a_slider_makes_it_ones_own(ran):
    app, figure = ran.app_of("apps.parameter_counter", "vocabulary", "bar")
    before = drawn(figure)
    press(app, "model", "ArrowRight")
    medium = wait_for_change(figure, before)
    expect(figure.locator(".gtitle")).to_have_text("GPT-2 medium: 354,823,168 parameters")
    press(app, "layers", "ArrowRight")
    wait_for_change(figure, medium)
    expect(figure.locator(".gtitle")).to_contain_text("own sizes")
    assert ran.problems == []


def test_before_any_run_the_menu_of_the_still_figure_counts_gpt_3(open_notebook):
    lab = open_notebook(LESSON)
    figure = lab.still_figure("apps.parameter_counter")
    before = drawn(figure)
    figure.locator(".updatemenu-header-group").first.click()
    figure.locator(".updatemenu-dropdown-button", has_text="GPT-3").click()
    wait_for_change(figure, before)
    expect(figure.locator(".gtitle")).to_have_text("GPT-3: 174,604,259,328 parameters")
    assert lab.problems == []
