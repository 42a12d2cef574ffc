"""Lesson 02 in a real JupyterLab: the merges' slider, and one text cut by two tokenizers."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab, drawn, press, wait_for_change, wait_for_words

LESSON = "02_tokenization.ipynb"


@pytest.fixture(scope="module")
def ran(open_notebook):
    lab = open_notebook(LESSON)
    lab.run_all()
    return lab


def app_of(lab: Lab, call: str) -> tuple[Locator, Locator]:
    """The live output of the cell that makes this call, and its figure."""
    number = next(number for number, cell in enumerate(lab.cells) if call in "".join(cell["source"]))
    app = lab.output(number)
    expect(app.locator("input[type=text]")).to_be_visible()
    return app, lab.figures(number).last


def type_into(app: Locator, text: str) -> None:
    box = app.locator("input[type=text]")
    box.fill(text)
    box.press("Enter")


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert ran.errors == []
    assert sum(ran.figures(number).count() for number in ran.figure_cells()) >= 8
    expect(ran.page.get_by_text("Error displaying widget")).to_have_count(0)
    assert ran.problems == []


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
