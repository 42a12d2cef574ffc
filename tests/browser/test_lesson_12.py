"""Lesson 12 in a real JupyterLab: flows that stand still until they are asked to move."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "12_depth_as_a_flow.ipynb"
GROUND, NEAR, PARTICLES = 'grounds={"convex"', "groups=", 'parameter="β"'  # by these words their cells are found


def app(lab, words: str) -> tuple[Locator, Locator]:
    """The output of the cell with these words, scrolled to, and its figure."""
    output = lab.output(lab.cell_with(words))
    figure = output.locator(".js-plotly-plot").first
    expect(figure).to_be_visible()
    return output, figure


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=11)


@pytest.mark.parametrize(("words", "slider"), [(GROUND, "time"), (NEAR, "depth s"), (PARTICLES, "time")])
def test_the_time_goes_on_by_keyboard(ran, words, slider):
    output, figure = app(ran, words)
    before = drawn(figure)
    press(output, slider, "ArrowRight")
    after = wait_for_change(figure, before)
    assert after[0] == before[0]  # the ground, or the outline of the sphere
    assert after[-1]["x"] != before[-1]["x"]
    press(output, slider, "Home")
    assert wait_for_change(figure, after)[-1]["x"] == before[-1]["x"]
    assert ran.problems == []


def test_beta_moved_by_keyboard_changes_where_the_tokens_are(ran):
    output, figure = app(ran, PARTICLES)
    before = drawn(figure)
    press(output, "time", "End")
    many = wait_for_change(figure, before)
    press(output, "β", "Home")
    one = wait_for_change(figure, many)
    outline, on_the_sphere = 0, 2  # two outlines, then the points of two panels
    assert one[outline] == before[outline]
    assert spread(one[on_the_sphere]) < 0.1 < spread(many[on_the_sphere])
    assert ran.problems == []


def test_nothing_moves_before_the_player_is_started(ran):
    output, figure = app(ran, GROUND)
    before = drawn(figure)
    ran.page.wait_for_timeout(1_000)
    assert drawn(figure) == before
    output.locator(".jupyter-widgets-play button, .widget-play button").first.press("Enter")
    wait_for_change(figure, before)
    assert ran.problems == []


def test_without_a_kernel_the_figures_own_button_plays_it(ran, open_again_without_kernel):
    ran.save()
    lab = open_again_without_kernel(ran)
    _, figure = app(lab, NEAR)
    before = drawn(figure)
    lab.page.wait_for_timeout(1_000)
    assert drawn(figure) == before
    figure.locator(".updatemenu-button").first.click()
    moving = wait_for_change(figure, before)
    assert moving[0] == before[0] and moving[-1]["x"] != before[-1]["x"]
    assert lab.problems == []


def spread(trace: dict) -> float:
    return max(trace["x"]) - min(trace["x"]) + max(trace["y"]) - min(trace["y"])
