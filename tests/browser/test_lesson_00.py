"""Lesson 00 in a real JupyterLab: what a newcomer sees, does and finds again."""

from playwright.sync_api import expect

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change, wait_for_words

LESSON = "00_start_here.ipynb"
BROKEN = "Error displaying widget"
OTHER_PROMPT = "Clara found two"


def assert_still_figures_stand_there(lab) -> None:
    assert lab.figure_cells()
    for number in lab.figure_cells():
        expect(lab.figures(number)).to_have_count(1)
    assert_nothing_went_wrong(lab)


def assert_nothing_went_wrong(lab) -> None:
    expect(lab.page.get_by_text(BROKEN)).to_have_count(0)
    assert lab.problems == []


def test_before_any_run_the_still_figures_stand_there(open_notebook):
    lab = open_notebook(LESSON)
    lab.wait_for_kernel()
    assert_still_figures_stand_there(lab)


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=3)


def test_nobody_is_asked_about_news_or_updates(ran):
    """Where the question is on, it stands there within seconds and stays until it is answered."""
    expect(ran.page.locator(".jp-Dialog, .Toastify__toast")).to_have_count(0)


def test_the_temperature_slider_moved_by_keyboard_changes_the_bars(ran):
    app, figure = ran.app_with("temperature", "bar")
    before = drawn(figure)
    press(app, "temperature", "ArrowRight")
    after = wait_for_change(figure, before)
    assert bars(after) != bars(before)


def test_the_layer_slider_changes_the_heatmap(ran):
    app, figure = ran.app_with("layer", "heatmap")
    before = drawn(figure)
    press(app, "layer", "ArrowRight")
    assert heat(wait_for_change(figure, before)) != heat(before)


def test_typing_another_prompt_changes_the_tokens(ran):
    strip = ran.figures(ran.figure_cells()[0]).first
    words = OTHER_PROMPT.split()
    assert not all(word in str(drawn(strip)) for word in words)
    box = ran.page.locator(".gptlab-app input[type=text]").first
    box.fill(OTHER_PROMPT)
    box.press("Enter")
    wait_for_words(strip, words)
    assert_nothing_went_wrong(ran)


def test_saved_and_opened_again_without_a_kernel_the_still_figures_stand_there(
    open_notebook, open_again_without_kernel
):
    lab = open_notebook(LESSON)
    lab.run_all()
    lab.save()
    figures = lab.figure_cells()
    assert_nothing_went_wrong(lab)

    again = open_again_without_kernel(lab)
    assert again.figure_cells() == figures
    assert_still_figures_stand_there(again)


def bars(traces: list[dict]) -> list[tuple]:
    """Both directions, for bars may stand or lie."""
    return [(trace["x"], trace["y"]) for trace in traces if trace["type"] == "bar"]


def heat(traces: list[dict]) -> list[list[float]]:
    return next(trace["z"] for trace in traces if trace["type"] == "heatmap")
