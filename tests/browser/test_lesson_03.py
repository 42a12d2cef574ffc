"""Lesson 03 in a real JupyterLab: neighbours of what is typed, and the map that is turned and searched."""

import pytest
from playwright.sync_api import expect

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change, wait_for_words

LESSON = "03_embeddings.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=9)


def test_the_slider_moved_by_keyboard_shows_one_neighbour_more(ran):
    app, figure = ran.app_of("apps.nearest_words(", "neighbours", "bar")
    before = drawn(figure)
    press(app, "neighbours", "ArrowRight")
    after = wait_for_change(figure, before)
    assert len(after[0]["x"]) == len(before[0]["x"]) + 1


def test_neighbours_follow_what_is_typed_and_a_strange_word_is_answered_in_a_sentence(ran):
    app, figure = ran.app_of("apps.nearest_words(", "neighbours", "bar")
    box = app.locator("input[type=text]")
    box.fill("happy")
    wait_for_words(figure, ["␣sad"])
    before = drawn(figure)
    box.fill("<b>dragon</b>")
    expect(app.get_by_role("status")).to_contain_text("‘<b>dragon</b>’ is")
    expect(app.get_by_role("status").locator("b")).to_have_count(0)
    assert drawn(figure) == before
    assert ran.problems == []


def test_the_map_is_turned_by_keyboard(ran):
    app, figure = ran.app_of("apps.word_map(", "turned by", "scatter")
    before = drawn(figure)
    press(app, "turned by", "ArrowRight")
    after = wait_for_change(figure, before)
    assert [trace["y"] for trace in after] == [trace["y"] for trace in before]
    assert all(one["x"] != other["x"] for one, other in zip(before[:-1], after[:-1], strict=True))


def test_searching_the_map_rings_the_word(ran):
    app, figure = ran.app_of("apps.word_map(", "search", "scatter")
    assert not drawn(figure)[-1]["x"]
    before = drawn(figure)
    app.locator("input[type=text]").fill("bat")
    assert wait_for_change(figure, before)[-1]["text"] == ["bat"]
    expect(figure.locator(".textpoint", has_text="bat")).to_be_visible()


@pytest.mark.parametrize(("figure_of", "layer"), [("nearest_words", "bar"), ("word_map", "scatter")])
def test_before_any_run_the_sliders_of_the_still_figures_work(open_notebook, figure_of, layer):
    lab = open_notebook(LESSON)
    figure = lab.still_figure(f"apps.{figure_of}(")
    before = drawn(figure)
    assert before[0]["type"] == layer
    rail = figure.locator(".slider-rail-touch-rect")
    box = rail.bounding_box()
    rail.click(position={"x": 0.3 * box["width"], "y": box["height"] / 2})
    assert wait_for_change(figure, before)[0]["x"] != before[0]["x"]
    assert lab.problems == []
