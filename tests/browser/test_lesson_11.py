"""Lesson 11 in a real JupyterLab: it trains, β at a slider, and a group of answers round by round."""

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "11_fine_tuning.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=8)


def test_a_smaller_beta_goes_further_by_keyboard(ran):
    app, figure = ran.app_of("apps.preference_runs", "β", "bar")
    before = drawn(figure)
    press(app, "β", "End")
    largest = wait_for_change(figure, before)
    press(app, "β", "Home")
    smallest = wait_for_change(figure, largest)
    assert max(smallest[3]["y"]) > 10 * max(largest[3]["y"])
    assert ran.problems == []


def test_a_group_of_answers_changes_with_the_round(ran):
    app, figure = ran.app_of("apps.judged_answers", "after round", "bar")
    before = drawn(figure)
    press(app, "after round", "ArrowRight")
    second = wait_for_change(figure, before)
    assert second[0]["text"] != before[0]["text"]
    press(app, "after round", "End")
    last = wait_for_change(figure, second)
    assert len(set(last[0]["text"])) == 1
    assert ran.problems == []
