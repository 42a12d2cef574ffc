"""β's picture and the group's picture: what they hold, say and refuse, and that a slider changes them in place."""

import numpy as np
import pytest

from gptlab import apps, figures
from gptlab.figures.betas import PreferenceRun
from tests.examples import example
from tests.examples.figure_judged_answers import ADVANTAGES, ANSWERS, REWARDS
from tests.examples.figure_preference_runs import RUNS

TEXT = "text/plain"
NAMES, REFERENCE = ["short", "long"], [0.5, 0.5]


def runs(beta=None, **options):
    return figures.preference_runs(NAMES, REFERENCE, RUNS, beta=beta, **options)


def test_bars_are_reference_training_and_optimum_and_lines_margin_and_kl():
    figure = runs(1)
    assert [trace.name for trace in figure.data] == [
        "reference", "after training", "optimum", "margin", "KL to the reference",
    ]  # fmt: skip
    np.testing.assert_allclose(figure.data[1].y, [0.3, 0.7])
    np.testing.assert_allclose(figure.data[4].y, [0, 0.2, 0.3])
    assert figure.layout.meta["description"] == (
        "DPO at β = 1 after 100 steps: short 0.50 became 0.30, optimum 0.27; long 0.50 became 0.70, optimum 0.73; "
        "margin 1.90 nats, KL to the reference 0.30 nats."
    )


def test_the_sliders_steps_are_the_runs_and_axes_hold_all_of_them():
    figure = runs(0.2)
    (slider,) = figure.layout.sliders
    assert [step.label for step in slider.steps] == ["0.1", "1"] and slider.active == 0
    np.testing.assert_allclose(slider.steps[1].args[0]["y"][0], [0.3, 0.7])
    assert figure.layout.yaxis2.range[1] > 9
    assert figures.preference_runs(NAMES, REFERENCE, {1: RUNS[1]}).layout.sliders == ()


def test_the_apps_slider_changes_the_picture_in_place():
    app = example("app_preference_runs")
    figure, before = app.figure, app.figure.layout.yaxis2.range
    assert app.beta.value == 1
    app.beta.value = 0.1
    assert app.figure is figure and figure.layout.yaxis2.range == before
    np.testing.assert_allclose(figure.data[1].y, [0.1, 0.9])
    np.testing.assert_allclose(figure.data[3].y, [0, 6, 9])
    assert "β = 0.1" in app._repr_mimebundle_()[TEXT]
    assert app.still().layout.sliders[0].active == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"runs": {}}, "at least one β"),
        ({"runs": {0: RUNS[1]}}, "a β is 0"),
        ({"reference": [1.0]}, "the shape of reference"),
        ({"runs": {1: RUNS[1]._replace(optimum=[1])}}, "the shape of optimum at β 1"),
        ({"runs": {1: RUNS[1]._replace(kl=[1])}}, "the shape of kl at β 1"),
        ({"runs": {0.1: RUNS[0.1], 1: RUNS[1]._replace(steps=[0, 1, 2])}}, "the steps at β 1"),
    ],
)
def test_runs_that_do_not_fit_are_refused(changed, said):
    given = {"names": NAMES, "reference": REFERENCE, "runs": RUNS} | changed
    for draw in (figures.preference_runs, apps.preference_runs):
        with pytest.raises(ValueError, match=said):
            draw(given["names"], given["reference"], given["runs"])


def test_names_are_never_read_as_html():
    figure = figures.preference_runs(["<b>", "%{y}"], REFERENCE, {1: PreferenceRun(*RUNS[1])})
    assert "<b>" not in str(figure.layout.xaxis.ticktext) and "%{y}" not in str(figure.data[0].customdata)


def group(first=0, **changed):
    given = {"answers": ANSWERS, "rewards": REWARDS, "advantages": ADVANTAGES, "rounds": [0, 20]} | changed
    return figures.judged_answers(**given, first=first)


def test_a_group_is_drawn_best_first():
    figure = group()
    texts, bars = figure.data
    assert list(texts.text) == ["one, two, three.", "one, two.", "two, two, three.", "one"]
    np.testing.assert_allclose(bars.x, [1.41, 0, 0, -1.41])
    assert list(bars.text) == ["R = 2", "R = 1", "R = 1", "R = 0"]
    assert len(set(bars.marker.color)) == 2
    assert figure.layout.meta["description"] == (
        "4 answers to one question after round 0; best ‘one, two, three.’ R = 2, advantage 1.41; "
        "worst ‘one’ R = 0, advantage -1.41."
    )


def test_the_slider_changes_answers_rewards_and_colours_together():
    (slider,) = group().layout.sliders
    restyle, traces = slider.steps[1].args
    assert traces == [0, 1] or list(traces) == [0, 1]
    assert restyle["text"][1] == ["R = 2"] * 3 + ["R = 1"] or list(restyle["text"][1]) == ["R = 2"] * 3 + ["R = 1"]
    np.testing.assert_allclose(restyle["x"][1], [0.58, 0.58, 0.58, -1.73])
    assert restyle["marker.color"][1] == list(group(first=1).data[1].marker.color)


def test_the_app_shows_another_round_in_place():
    app = example("app_judged_answers")
    figure = app.figure
    app.round.value = 1
    assert app.figure is figure and list(figure.data[1].text) == ["R = 2"] * 3 + ["R = 1"]
    assert "after round 20" in app._repr_mimebundle_()[TEXT]


def test_answers_are_never_read_as_html_and_long_ones_are_cut():
    figure = group(answers=[["<img src=x>", "$x$", " ", "a" * 300], ANSWERS[1]], rewards=[[3, 2, 1, 0], REWARDS[1]])
    texts = list(figure.data[0].text)
    assert texts[0] == "&lt;img src=x&gt;" and texts[1] == "&#36;x&#36;" and texts[2] == "(nothing)"
    assert len(texts[3]) < 50


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rewards": [1, 2]}, "the shape of rewards"),
        ({"advantages": [[0, 0]]}, "the shape of advantages"),
        ({"answers": [["one"], ["two"]]}, "the numbers of answers"),
        ({"rounds": [1]}, "the number of rounds"),
        ({"first": 2}, "first is 2"),
    ],
)
def test_groups_that_do_not_fit_are_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        group(**changed)
