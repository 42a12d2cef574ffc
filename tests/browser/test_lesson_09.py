"""Lesson 09 in a real JupyterLab: a hidden word under a slider, and a translation that looks across."""

from playwright.sync_api import expect

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "09_encoders_and_decoders.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=8)


def test_with_nothing_read_behind_it_the_hidden_word_is_in_doubt(ran):
    app, figure = ran.app_of("apps.hidden_word", "behind the gap", "bar")
    before = drawn(figure)
    press(app, "behind the gap", "Home")
    after = wait_for_change(figure, before)
    bars, truth = 0, 1
    assert max(after[truth]["x"]) < max(before[truth]["x"]) == 1
    assert after[bars]["x"] != before[bars]["x"]
    app.locator("input[type=text]").fill("There was once _ engineer")
    assert max(wait_for_change(figure, after)[truth]["x"]) == 1
    assert ran.problems == []


def test_another_head_and_another_sentence_change_the_look_across(ran):
    app, figure = ran.app_of("apps.translation", "head", "heatmap")
    before = drawn(figure)
    press(app, "head", "ArrowRight")
    assert wait_for_change(figure, before)[0]["z"] != before[0]["z"]
    app.locator("input[type=text]").fill("Vera Hill lived in the noisy market.")
    expect(app.get_by_role("status")).to_contain_text("Vera Hill en")
    assert ran.problems == []
