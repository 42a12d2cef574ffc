"""What temperature, top-k and top-p leave: the bars, the lines where they cut, the numbers, and the app."""

from math import inf, log

import numpy as np
import pytest

from gptlab import apps, figures
from gptlab.figures.cuts import CUT, DRAWN, KEPT, MASS, SAID, TOP_K, TOP_P, Setting
from tests.examples import example
from tests.examples._model import untrained
from tests.references.figures import softmax
from tests.references.naive_probabilities import probabilities

TEXT = "text/plain"
TRACES = (KEPT, CUT, MASS, TOP_K, TOP_P, DRAWN, SAID)
P = np.array([0.5, 0.3, 0.15, 0.05])


def setting(p, temperature=1, top_k=None, top_p=None, kept=4):
    drawn = np.where(np.argsort(np.argsort(-p, kind="stable")) < kept, p, 0.0)
    return Setting(temperature, top_k, top_p, p, drawn / drawn.sum())


def trace(figure, name):
    return figure.data[TRACES.index(name)]


def draw(*args, n=4, labels=("a", "b", "c", "d"), **options):
    return figures.sampling_cut(P, labels, *args, n=n, **options)


def test_case_37_top_p_keeps_the_token_that_crosses_the_threshold():
    """Of .5, .3, .15, .05 at .6 two tokens stay, .625 and .375."""
    figure = draw(setting(P, top_p=0.6, kept=2))
    np.testing.assert_allclose(trace(figure, KEPT).x, [0.5, 0.3, 0, 0], atol=1e-6)
    np.testing.assert_allclose(trace(figure, CUT).x, [0, 0, 0.15, 0.05], atol=1e-6)
    np.testing.assert_allclose(trace(figure, DRAWN).x, [0.625, 0.375, 0, 0], atol=1e-6)
    np.testing.assert_allclose(trace(figure, MASS).x, [0.5, 0.8, 0.95, 1], atol=1e-6)
    assert list(trace(figure, TOP_P).x) == [0.6, 0.6]
    assert list(trace(figure, TOP_K).y) == [None, None]


def test_the_numbers_are_tokens_mass_and_both_entropies():
    (said,) = trace(draw(setting(P, top_p=0.6, kept=2)), SAID).customdata
    before = -sum(p * log(p) for p in P)
    after = -(0.625 * log(0.625) + 0.375 * log(0.375))
    np.testing.assert_allclose(list(said), [2, 4, 0.8, before, after], atol=1e-6)


def test_top_k_is_a_line_below_the_last_token_that_stays():
    figure = draw(setting(P, top_k=3, kept=3))
    assert list(trace(figure, TOP_K).y) == [2.5, 2.5]
    assert list(trace(figure, TOP_P).x) == [None, None]


def test_top_p_is_a_share_of_what_top_k_has_left():
    figure = draw(setting(P, top_k=2, top_p=0.5, kept=1))
    assert list(trace(figure, TOP_P).x) == pytest.approx([0.4, 0.4])


def test_tokens_without_a_row_stand_together_and_a_cut_goes_through_them():
    figure = draw(setting(P, top_k=3, kept=3), n=2)
    np.testing.assert_allclose(trace(figure, KEPT).x, [0.5, 0.3, 0.15], atol=1e-6)
    np.testing.assert_allclose(trace(figure, CUT).x, [0, 0, 0.05], atol=1e-6)
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "2 others"]
    assert list(trace(figure, TOP_K).y) == [2, 2]


def test_each_step_of_a_slider_shows_a_setting_and_puts_the_others_back():
    now, cut_at_2 = setting(P), setting(P, top_k=2, kept=2)
    figure = draw(now, sliders={"temperature": [now], "top-k": [cut_at_2, now]})
    assert [slider.active for slider in figure.layout.sliders] == [0, 1]
    step = figure.layout.sliders[1].steps[0]
    assert (step.label, step.method) == ("2", "update")
    restyle, relayout, traces = step.args
    assert relayout == {"sliders[0].active": 0} and list(traces) == list(range(len(TRACES)))
    np.testing.assert_allclose(restyle["x"][TRACES.index(CUT)], [0, 0, 0.15, 0.05], atol=1e-6)
    assert restyle["customdata"][TRACES.index(SAID)][0][0] == 2
    with pytest.raises(ValueError, match="one of the steps of the slider 'top-k'"):
        draw(now, sliders={"top-k": [cut_at_2]})


def test_the_words_say_the_setting_and_what_it_keeps():
    said = example("figure_sampling_cut").layout.meta["description"]
    assert said.startswith(
        "With temperature 1, top-k off, top-p 0.6: 2 of 5 tokens can be drawn, with 0.80 of the mass"
    )
    assert "‘␣cat’ 0.62, ‘␣dog’ 0.38, ‘␣tree’ 0.00" in said
    assert "temperature ∞" in draw(setting(P, temperature=inf)).layout.meta["description"]


def test_nothing_is_read_as_markup():
    figure = draw(setting(P), labels=["<b>", "$x$", "%{y}", "&lt;"])
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;", "&#36;x&#36;", "&#37;{y}", "&amp;lt;"]


@pytest.mark.parametrize(
    ("model", "made", "options", "message"),
    [
        ([0.5, 0.6], setting(P), {}, "sum of model is 1.1"),
        ([[1.0]], setting(P), {}, r"shape of model is \(1, 1\)"),
        (P, setting(P)._replace(drawn=P / 2), {}, "sum of drawn is 0.5"),
        (P, setting(P)._replace(scaled=P[:2] / 0.8), {}, "probabilities in drawn is 4, but must be 2"),
        (P, setting(P), {"n": 0}, "n is 0"),
    ],
)
def test_what_is_no_distribution_is_refused(model, made, options, message):
    with pytest.raises(ValueError, match=message):
        figures.sampling_cut(model, list("abcd"), made, **options)


# The app ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    return apps.sampling_cut(*untrained(), "The cat")


def set_(app, **knobs):
    """Move the sliders to values."""
    for name, value in knobs.items():
        name = name.replace("_", "-")
        app.knobs[name].value = app._values[name].index(value)


def test_case_30_the_bars_are_the_logits_at_the_sliders_temperature(app):
    logits = app.prompt.reading.logits.tolist()
    ids = sorted(range(len(logits)), key=lambda id: -logits[id])[:10]
    for temperature in (0.1, 0.5, 1, 2, 10):
        set_(app, temperature=temperature)
        expected = softmax(np.array(logits) - max(logits), temperature)
        np.testing.assert_allclose(trace(app.figure, KEPT).x[:10], [expected[id] for id in ids], rtol=1e-3, atol=1e-6)


def test_the_limits_are_greedy_and_uniform(app):
    set_(app, temperature=0)
    assert trace(app.figure, DRAWN).x[:2].tolist() == [1, 0]
    assert trace(app.figure, SAID).customdata[0][0] == 1
    set_(app, temperature=inf)
    n_tokens = untrained()[1].vocab_size
    np.testing.assert_allclose(trace(app.figure, DRAWN).x[:10], 1 / n_tokens, rtol=1e-4)
    assert trace(app.figure, SAID).customdata[0][3] == pytest.approx(log(n_tokens), rel=1e-4)


def test_all_three_act_together_as_the_plain_loops_say(app):
    logits = app.prompt.reading.logits.double().tolist()
    set_(app, temperature=5, top_k=7, top_p=0.8)
    expected, close_call = probabilities(logits, temperature=5, top_k=7, top_p=0.8)
    assert not close_call
    ids = sorted(range(len(logits)), key=lambda id: -logits[id])[:10]
    np.testing.assert_allclose(trace(app.figure, DRAWN).x[:10], [expected[id] for id in ids], rtol=1e-4, atol=1e-6)
    assert list(trace(app.figure, TOP_K).y) == [6.5, 6.5]


def test_a_slider_takes_no_forward_pass(app, request):
    passes = []
    handle = untrained()[0].blocks[0].register_forward_hook(lambda *_: passes.append(1))
    request.addfinalizer(handle.remove)
    set_(app, temperature=2, top_k=5, top_p=0.5)
    assert passes == []
    app.prompt.box.value = "The dog"
    assert len(passes) == 1


def test_the_still_figure_goes_through_each_slider_from_where_the_app_is(app):
    set_(app, temperature=2, top_k=5)
    still = app.still()
    places = [slider.active for slider in still.layout.sliders]
    assert places == [slider.value for slider in app.knobs.values()]
    np.testing.assert_allclose(trace(still, DRAWN).x, trace(app.figure, DRAWN).x)
    labels = [[step.label for step in slider.steps] for slider in still.layout.sliders]
    assert labels[0][0] == "0" and labels[0][-1] == "∞" and labels[1][-1] == labels[2][-1] == "off"


def test_the_words_follow_the_sliders(app):
    set_(app, top_k=5)
    assert "top-k 5" in app._repr_mimebundle_()[TEXT]


def test_case_34_a_slider_never_offers_more_than_the_vocabulary(app):
    assert max(k for k in app._values["top-k"] if k) < untrained()[1].vocab_size


def test_case_133_what_goes_wrong_is_said_in_the_apps_own_line(app, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("the <b>weights</b> are NaN")

    monkeypatch.setattr("gptlab.apps.cuts.next_token_probabilities", fail)
    set_(app, temperature=2)
    assert "This did not work" in app.line.value and "<b>" not in app.line.value
