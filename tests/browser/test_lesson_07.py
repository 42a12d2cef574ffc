"""Lesson 07 in a real JupyterLab: it runs, its pictures move, a training is started, held, gone on with and ended."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab, assert_it_ran, drawn, press, wait_for_change

LESSON = "07_training.ipynb"
DESCENT, TRAINING = 1, 3  # which of its figures are these apps
TRAINING_MS = 300_000  # ten times what the steps waited for should take


def app(lab: Lab, figure: int) -> Locator:
    """The output with that figure of the lesson, counted from 0, scrolled to."""
    return lab.output(lab.figure_cells()[figure])


@pytest.fixture
def trainer(ran) -> Locator:
    """The training app."""
    return app(ran, TRAINING)


def said(app: Locator) -> Locator:
    return app.get_by_role("status").first


def button(app: Locator, name: str) -> Locator:
    return app.get_by_role("button", name=name, exact=True)


def step(app: Locator) -> int:
    return int(re.search(r"step (\d+) of", said(app).text_content())[1])


def wait_for_step(app: Locator, number: int) -> None:
    app.page.wait_for_function(
        """([app, number]) => {
            const said = app.querySelector("[role=status]").textContent;
            return Number(/step (\\d+) of/.exec(said)?.[1]) >= number;
        }""",
        arg=[app.element_handle(), number],
        timeout=TRAINING_MS,
    )


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=8)


def test_the_learning_rate_moved_by_keyboard_changes_the_ways_down(ran):
    before, after = move_learning_rate(ran)
    assert [trace["x"] for trace in after[1:]] != [trace["x"] for trace in before[1:]]


def move_learning_rate(lab: Lab) -> tuple[list[dict], list[dict]]:
    """What the ways down are before and after a key press on their slider."""
    descent = app(lab, DESCENT)
    figure = descent.locator(".js-plotly-plot")
    before = drawn(figure)
    press(descent, "learning rate", "ArrowRight")
    return before, wait_for_change(figure, before)


def test_nothing_trains_before_start_is_pressed(trainer):
    expect(said(trainer)).to_contain_text(re.compile(r"Nothing runs yet\. 250 steps will take about .* MB of memory"))
    expect(button(trainer, "Start")).to_be_enabled()
    for name in ("Pause", "Resume", "Stop"):
        expect(button(trainer, name)).to_be_disabled()


def test_a_training_is_started_held_gone_on_with_and_ended_and_the_page_stays_alive(ran, trainer):
    figure = trainer.locator(".js-plotly-plot").first
    before = drawn(figure)
    button(trainer, "Start").press("Enter")
    wait_for_step(trainer, 2)
    expect(said(trainer)).to_contain_text(re.compile(r"about .* left; learning rate .* tokens a second"))
    wait_for_change(figure, before)

    move_learning_rate(ran)  # while it trains
    trainer = app(ran, TRAINING)
    button(trainer, "Pause").click()
    expect(said(trainer)).to_contain_text("Paused")
    held = step(trainer)
    trainer.page.wait_for_timeout(3_000)
    assert step(trainer) <= held + 1  # the step under way
    before = drawn(figure)
    press(trainer, "head", "ArrowRight")
    wait_for_change(figure, before)

    button(trainer, "Resume").click()
    wait_for_step(trainer, held + 2)
    button(trainer, "Stop").click()
    expect(said(trainer)).to_contain_text("work is kept", timeout=TRAINING_MS)
    kept = step(trainer)

    button(trainer, "Resume").click()
    wait_for_step(trainer, kept + 1)
    button(trainer, "Stop").click()
    expect(said(trainer)).to_contain_text("Start anew forgets it", timeout=TRAINING_MS)
    assert ran.problems == []
