"""Lesson 14 in a real JupyterLab, without weights: it says so and goes on; tokens typed, a head and a lens chosen."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab import assert_it_ran, drawn, press, press_and_read, wait_for_change, wait_for_words

LESSON = "14_the_real_gpt2.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=8)
    expect(ran.output(ran.cell_with("gptlab.load(source)"))).to_contain_text("small world's model")


def test_what_is_typed_is_cut_by_both_tokenizers(ran):
    strips = ran.figures(ran.cell_with("apps.token_strips")).first
    box = ran.output(ran.cell_with("apps.token_strips")).locator("input[type=text]").first
    box.fill("the garden")
    box.press("Enter")
    wait_for_words(strips, ["garden"])
    assert ran.problems == []


@pytest.mark.parametrize(
    ("app", "control", "kind"),
    [
        ("apps.next_token", "temperature", "bar"),
        ("apps.attention(", "head", "heatmap"),
        ("apps.score_words", "order", "bar"),
    ],
)
def test_an_arrow_key_on_a_slider_changes_the_picture(ran, app, control, kind):
    live, figure = ran.app_of(app, control, kind)
    before = drawn(figure)
    press(live, control, "ArrowRight")
    assert wait_for_change(figure, before) != before
    assert ran.problems == []


def test_the_lens_is_coloured_by_the_other_probability_at_a_key(ran):
    live, figure = ran.app_of("apps.logit_lens", "colour", "heatmap")
    before = drawn(figure)
    live.get_by_role("button", name="the token shown").press("Enter")
    assert wait_for_change(figure, before)[0]["z"] != before[0]["z"]
    assert ran.problems == []


def test_the_button_lets_the_model_write(ran):
    output = ran.output(ran.cell_with("apps.generate"))
    press_and_read(output.locator("button.widget-button"), "Stop", "Write on")
    assert ran.problems == []
