"""Lesson 02 in a real JupyterLab: the merges' slider, and one text cut by two tokenizers."""

from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab, assert_it_ran, drawn, press, wait_for_change, wait_for_words

LESSON = "02_tokenization.ipynb"


def app_of(lab: Lab, call: str) -> tuple[Locator, Locator]:
    """The live output of the cell that makes this call, and its figure."""
    number = lab.cell_with(call)
    app = lab.output(number)
    expect(app.locator("input[type=text]")).to_be_visible()
    return app, lab.figures(number).last


def type_into(app: Locator, text: str) -> None:
    box = app.locator("input[type=text]")
    box.fill(text)
    box.press("Enter")


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=8)


def test_the_merges_slider_moved_by_keyboard_makes_the_next_token(ran):
    app, figure = app_of(ran, "apps.merge_steps")
    before = drawn(figure)
    press(app, "merges", "ArrowRight")
    boxes, _, _, headline = wait_for_change(figure, before)
    assert len(boxes["text"]) == len(before[0]["text"]) - 7  # h + e stands there seven times
    assert "2 merges" in headline["text"][0]


def test_another_text_is_learned_from_and_an_empty_one_does_no_harm(ran):
    app, figure = app_of(ran, "apps.merge_steps")
    type_into(app, "")
    wait_for_words(figure, ["0 merges, 0 tokens"])
    type_into(app, "aaaaa")
    wait_for_words(figure, ["a + a: 4"])
    press(app, "merges", "End")
    wait_for_words(figure, ["3 merges, 1 token"])
    assert ran.problems == []


def test_both_strips_follow_what_is_typed(ran):
    app, figure = app_of(ran, "apps.token_strips")
    type_into(app, "<b>a dragon</b>")
    wait_for_words(figure, ["GPT-2: 8 tokens", "small world: 13 tokens"])
    assert ran.problems == []
