"""Lesson 05 in a real JupyterLab: heads enlarged by key and by click, and silenced by a tick."""

from playwright.sync_api import Locator, expect

from tests.browser.lab import CHANGE_MS, assert_it_ran, drawn, press, wait_for_change

LESSON = "05_many_heads.ipynb"
RANGE = "figure => figure._fullLayout.xaxis.range"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=9)


def test_an_arrow_key_enlarges_a_head_and_home_brings_all_back(ran):
    app, figure = ran.app_of("apps.all_heads", "enlarge", "heatmap")
    whole = figure.evaluate(RANGE)
    press(app, "enlarge", "ArrowRight")
    first = wait_for_another_range(figure, whole)
    assert first[1] - first[0] < (whole[1] - whole[0]) / 3
    press(app, "enlarge", "Home")
    wait_for_range(figure, whole)
    assert ran.problems == []


def test_a_click_on_a_map_enlarges_it_and_another_brings_all_back(ran):
    app, figure = ran.app_of("apps.all_heads", "enlarge", "heatmap")
    whole = figure.evaluate(RANGE)
    click(figure, 0.85, 0.18)  # the lower left of the last map of the first row
    enlarged = wait_for_another_range(figure, whole)
    assert enlarged[0] > whole[0] + 0.6 * (whole[1] - whole[0])
    expect(app.locator(".widget-readout").first).to_have_text("0.3")
    click(figure, 0.2, 0.8)
    wait_for_range(figure, whole)
    assert ran.problems == []


def test_the_space_key_silences_a_head(ran):
    app, figure = ran.app_of("apps.ablate_heads", "silence", "bar")
    before = drawn(figure)
    app.locator("label", has_text="0.0").locator("input[type=checkbox]").press("Space")
    after = wait_for_change(figure, before)
    assert after[0]["x"][0] == before[0]["x"][0], "the whole model's first choice stays"
    assert after[3]["y"][0] > before[3]["y"][0], "the loss rises"
    assert ran.problems == []


def click(figure: Locator, x: float, y: float) -> None:
    """Click into the plot, at shares of its width from the left and of its height from the top."""
    plot = figure.locator(".nsewdrag").first
    box = plot.bounding_box()
    plot.click(position={"x": x * box["width"], "y": y * box["height"]})


def wait_for_another_range(figure: Locator, before: list[float]) -> list[float]:
    figure.page.wait_for_function(
        f"([figure, before]) => JSON.stringify(({RANGE})(figure)) !== JSON.stringify(before)",
        arg=[figure.element_handle(), before],
        timeout=CHANGE_MS,
    )
    return figure.evaluate(RANGE)


def wait_for_range(figure: Locator, wanted: list[float]) -> None:
    """Until the figure shows it; on the way there it may show another."""
    figure.page.wait_for_function(
        f"([figure, wanted]) => JSON.stringify(({RANGE})(figure)) === JSON.stringify(wanted)",
        arg=[figure.element_handle(), wanted],
        timeout=CHANGE_MS,
    )
