"""Attention as arcs: which there are, where they land, how broad they are, and what the sliders change."""

import json

import numpy as np
import pytest
import torch

from gptlab import apps, figures
from gptlab.tracing import trace
from tests.examples._model import untrained
from tests.pictures import words

PROMPT = "The cat saw the cat"
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.6, 0.4, 0.0], [0.05, 0.8, 0.15]])
RIBBONS, TOPS = 0, 1


def arcs(figure, first: int = 0) -> list[np.ndarray]:
    """The outlines of the arcs of one head: (points, 2) each."""
    ribbons = figure.data[first + RIBBONS]
    points = np.stack([ribbons.x, ribbons.y], axis=1).astype(float)
    gaps = np.flatnonzero(np.isnan(points[:, 0]))
    return [points[start:end] for start, end in zip([0, *(gaps[:-1] + 1)], gaps, strict=True)]


def test_each_weight_of_a_tenth_and_more_has_an_arc_and_a_top_that_says_it():
    figure = figures.attention_arcs(WEIGHTS, list("abc"))
    tops = figure.data[TOPS]
    assert [round(float(weight), 2) for weight in tops.customdata] == [1, 0.6, 0.4, 0.8, 0.15]
    assert tops.text[3] == "query ‘c’ (2) → key ‘b’ (1)"
    assert len(arcs(figure)) == 5
    assert words(figure).startswith(
        "Attention among 3 tokens as 5 arcs of at least 10%: ‘c’ (2) looks at ‘b’ (1): 0.80"
    )


def test_an_arc_runs_from_the_query_to_the_key_and_is_broader_there():
    figure = figures.attention_arcs(WEIGHTS, list("abc"))
    outline = arcs(figure)[3]  # from 2 to 1
    outer, inner = outline[: len(outline) // 2], outline[len(outline) // 2 :][::-1]
    at_query, at_key = abs(outer[0, 0] - inner[0, 0]), abs(outer[-1, 0] - inner[-1, 0])
    assert (outer[0, 0] + inner[0, 0]) / 2 == pytest.approx(2, abs=1e-6)
    assert (outer[-1, 0] + inner[-1, 0]) / 2 == pytest.approx(1, abs=1e-6)
    assert at_key == pytest.approx(0.8 * 0.4, abs=1e-6) and at_query == pytest.approx(0.3 * at_key, abs=1e-6)
    assert (outline[:, 1] >= -1e-6).all()


def test_a_look_ahead_goes_below_the_line():
    ahead = figures.attention_arcs(WEIGHTS.T / WEIGHTS.T.sum(1, keepdims=True), list("abc"))
    low, high = ahead.layout.yaxis.range
    assert low < 0 < high
    assert min(outline[:, 1].min() for outline in arcs(ahead)) < -0.5
    assert figures.attention_arcs(WEIGHTS, list("abc")).layout.yaxis.range[0] == 0


def test_of_one_query_only_its_own_arcs_are_drawn():
    figure = figures.attention_arcs(WEIGHTS, list("abc"), query=1)
    assert list(figure.data[TOPS].x) == [0.5, 1]
    assert "2 arcs" in words(figure)


def test_sliders_show_the_chosen_layer_and_head_and_no_other():
    heads = np.zeros((2, 3, 3, 3)) + np.eye(3)
    figure = figures.attention_arcs(heads, list("abc"), layer=1, head=2)
    shown = [(trace.visible, trace.opacity) for trace in figure.data]
    assert shown == [(layer == 1, float(head == 2)) for layer in range(2) for head in range(3) for _ in range(2)]
    layers, heads = figure.layout.sliders
    assert (layers.active, heads.active) == (1, 2)
    assert layers.steps[0].args[0]["visible"] == [n < 6 for n in range(12)]
    assert heads.steps[0].args[0]["opacity"] == [float(n % 6 < 2) for n in range(12)]
    assert heads.steps[0].args[0]["hoverinfo"][:4] == ["skip", "all", "skip", "skip"]
    assert [bool(template) for template in heads.steps[0].args[0]["hovertemplate"][:4]] == [False, True, False, False]
    assert [bool(trace.hovertemplate) for trace in figure.data] == [False] * 5 + [True] + [False] * 5 + [True]


def test_a_trace_and_whole_per_cents_are_drawn_as_numbers_are_and_a_single_head_needs_no_slider():
    model, tok = untrained()
    kept = trace(model, torch.tensor([[tok.end_of_text, *tok.encode(PROMPT)]]), keep={"attention"})
    labels = list("abcdef")
    drawn = figures.attention_arcs(kept, labels)
    assert drawn.to_json() == figures.attention_arcs(kept.attention[:, 0].numpy(), labels).to_json()
    whole = figures.attention_arcs(np.array([[[[100, 0], [75, 25]]]], np.uint8), ["a", "b"])
    assert whole.data[TOPS].customdata.tolist() == [1, 0.75, 0.25]
    assert not whole.layout.sliders


def test_the_last_label_has_room_when_it_is_turned():
    turned = figures.attention_arcs(np.eye(18), ["word"] * 17 + [" meadow"]).layout
    assert turned.xaxis.tickangle == 45 and turned.xaxis.ticklabeloverflow == "allow" and turned.margin.r >= 60
    level = figures.attention_arcs(np.eye(2), ["a", " meadow"]).layout
    assert level.xaxis.tickangle == 0 and level.margin.r < 20


def test_equal_tokens_keep_their_places_and_no_label_is_markup():
    hostile = ["<b>", "<b>", "$x$"]
    figure = figures.attention_arcs(WEIGHTS, hostile)
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2]
    assert list(figure.layout.xaxis.ticktext)[:2] == ["&lt;b&gt;"] * 2
    assert not any("<b>" in text or "$" in text for text in figure.data[TOPS].text)
    json.loads(figure.to_json(), parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize("n_tokens", [1, 30, 60])
def test_few_and_many_tokens_are_drawn(n_tokens):
    figure = figures.attention_arcs(np.eye(n_tokens), [f"word {n}" for n in range(n_tokens)])
    assert len(arcs(figure)) == n_tokens
    assert (figure.layout.xaxis.ticktext is None) == (n_tokens == 60)


@pytest.mark.parametrize(
    ("weights", "options", "complaint"),
    [
        (WEIGHTS[0], {}, "shape of weights"),
        (WEIGHTS[None], {}, "shape of weights"),
        (WEIGHTS[:2, :2], {}, "number of tokens is 3, but must be 2"),
        (-WEIGHTS, {}, r"weights\[0, 0\]"),
        (np.full((3, 3), np.nan), {}, r"weights\[0, 0\]"),
        (WEIGHTS, {"query": 3}, "query is 3"),
        (WEIGHTS[None, None], {"head": 1}, r"\(0, 1\)"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(weights, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        figures.attention_arcs(weights, list("abc"), **options)


# The app ----------------------------------------------------------------------------------------------------------


def test_the_app_draws_the_head_and_the_query_of_its_sliders():
    app = apps.attention_arcs(*untrained(), PROMPT, layer=1)
    weights = trace(untrained()[0], app.prompt.reading.ids).attention[:, 0].numpy()
    for layer, head, query in [(1, 0, "all"), (0, 1, "all"), (0, 1, 5)]:
        app.layer.value, app.head.value, app.query.value = layer, head, query
        looking = range(6) if query == "all" else [query]
        wanted = [w for i in looking for w in np.rint(100 * weights[layer, head, i]) / 100 if w >= 0.1]
        np.testing.assert_allclose(app.figure.data[TOPS].customdata, wanted, atol=1e-6)


def test_another_prompt_brings_its_own_words_to_look():
    app = apps.attention_arcs(*untrained(), PROMPT)
    app.query.value = 5
    app.prompt.box.value = "The <b>dog"
    assert app.query.value == "all"
    assert len(app.query.options) == 1 + app.prompt.reading.ids.shape[1]
    assert "did not work" not in app.line.value


def test_the_still_copy_has_sliders_unless_the_text_is_long(monkeypatch):
    app = apps.attention_arcs(*untrained(), PROMPT)
    assert [s.currentvalue.prefix.strip() for s in app.still().layout.sliders] == ["layer", "head"]
    monkeypatch.setattr("gptlab.apps.arcs.MOST_TOKENS", 3)
    assert not app.still().layout.sliders


def test_what_goes_wrong_is_said_in_the_apps_own_line(monkeypatch):
    app = apps.attention_arcs(*untrained(), PROMPT)
    monkeypatch.setattr("gptlab.apps.arcs.drawn", lambda *_, **__: 1 / 0)
    app.head.value = 1
    assert "This did not work: division" in app.line.value
