"""Lesson 01 in a real JupyterLab: the table grows, a sentence is scored, the memory of a network is lengthened."""

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change, wait_until

LESSON = "01_language_models.ipynb"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=7)


def test_one_word_more_makes_every_table_larger(ran):
    app, figure = ran.app_of("apps.table_size", "words in the text", "bar")
    (before,) = drawn(figure)
    press(app, "words in the text", "ArrowRight")
    (after,) = wait_for_change(figure, [before])
    assert before["text"][0] == "27" and after["text"][0] == "81"
    assert all(one < other for one, other in zip(before["x"], after["x"], strict=True))
    assert ran.problems == []


def test_another_order_changes_its_own_bars_alone(ran):
    app, figure = ran.app_of("apps.score_words", "order", "bar")
    before = drawn(figure)
    press(app, "order", "ArrowRight")
    after = wait_for_change(figure, before)
    assert after[0] == before[0]
    assert after[3]["x"] != before[3]["x"] and len(after[3]["x"]) == len(before[3]["x"])
    assert ran.problems == []


def test_a_sentence_that_is_typed_is_scored(ran):
    app, figure = ran.app_of("apps.score_words", "order", "bar")
    assert len(drawn(figure)[0]["x"]) == 9
    box = app.locator("input[type=text]")
    box.fill("There was once a poet.")
    box.press("Enter")
    wait_until(figure, "drawn[0].x.length === wanted", 6)
    assert ran.problems == []


def test_a_longer_memory_changes_the_bars_and_leaves_the_truth(ran):
    app, figure = ran.app_of("apps.last_words", "words that are read", "bar")
    before = drawn(figure)
    press(app, "words that are read", "ArrowRight")
    after = wait_for_change(figure, before)
    assert after[0]["x"] != before[0]["x"]
    assert after[1] == before[1]
    assert ran.problems == []
