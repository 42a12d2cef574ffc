"""Lesson 04 in a real JupyterLab: attention stepped through by key, and its arcs changed."""

from tests.browser.lab import assert_it_ran, drawn, press, wait_for_change

LESSON = "04_causal_attention.ipynb"
SHOWN = "figure => figure._fullData.filter(trace => trace.type === 'heatmap' && trace.visible === true).length"


def test_all_cells_run_without_an_error_and_nothing_leaves_the_machine(ran):
    assert_it_ran(ran, figures=11)


def test_a_step_by_key_adds_a_column_and_another_query_other_numbers(ran):
    app, figure = ran.app_of("apps.attention_steps", "step", "heatmap")
    assert figure.evaluate(SHOWN) == 1
    press(app, "step", "ArrowRight")
    ran.page.wait_for_function(f"figure => ({SHOWN})(figure) === 2", arg=figure.element_handle())
    before = drawn(figure)
    press(app, "query", "ArrowLeft")
    assert wait_for_change(figure, before)[0]["z"] != before[0]["z"]
    assert ran.problems == []


def test_another_layer_has_other_arcs_and_one_word_fewer(ran):
    app, figure = ran.app_of("apps.attention_arcs", "words that look")
    before = drawn(figure)
    press(app, "layer", "ArrowLeft")
    other = wait_for_change(figure, before)
    press(app, "words that look", "End")
    assert len(wait_for_change(figure, other)[1]["x"]) < len(other[1]["x"])
    assert ran.problems == []
