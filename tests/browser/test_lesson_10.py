"""Lesson 10 in a real JupyterLab: the gradient's reach and the operations of a layer, moved by keyboard."""

import pytest

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "10_recurrent_networks.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=12)


@pytest.mark.parametrize(
    ("cell", "slider", "line"),
    [("vanishing, gains", "W_h", 0), ("gated, gains", "all three", 1), ("operations, [", "width", 0)],
)
def test_the_slider_moves_the_lines_by_keyboard(ran, cell, slider, line):
    app, figure = ran.app_of(cell, slider, "scatter")
    before = drawn(figure)
    press(app, slider, "End")
    after = wait_for_change(figure, before)
    assert after[line]["y"] != before[line]["y"] and after[line]["x"] == before[line]["x"]
    press(app, slider, "Home")
    assert wait_for_change(figure, after)[line]["y"] != after[line]["y"]
    assert ran.problems == []
