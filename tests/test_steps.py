"""The attention stepper: its numbers are those of the trace and of plain loops, whatever control shows them."""

import json
import math
import re

import numpy as np
import pytest

from gptlab import apps, figures
from gptlab.figures.steps import STEPS
from gptlab.tracing import trace
from tests.examples._model import untrained
from tests.pictures import words
from tests.references.transformer import attention

PROMPT = "The cat saw the cat"
HOSTILE = ["<img src=x onerror=alert(1)>", "$x$", "%{y}"]
PRODUCTS, SCALED, MASKED, WEIGHTS, PARTS, HIDDEN_SCORES, HIDDEN_WEIGHTS, LOOKS = range(8)


@pytest.fixture
def head():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))


def column(figure, number: int) -> list:
    return [row[0] for row in np.asarray(figure.data[number].z, float).tolist()]


def moved_to(figure, query: int) -> dict:
    """What the slider of the still figure sets for a query."""
    return next(s for s in figure.layout.sliders if "query" in s.currentvalue.prefix).steps[query].args[0]


# The figure -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("query", range(4))
def test_every_step_is_what_plain_loops_give(head, query, causal):
    figure = figures.attention_steps(*head, list("abcd"), query=query, causal=causal)
    scores, pattern, outputs = attention(*(part.tolist() for part in head), causal)
    seen = query + 1 if causal else 4
    assert column(figure, SCALED) == pytest.approx(scores[query], rel=1e-5)
    assert column(figure, PRODUCTS) == pytest.approx([math.sqrt(3) * s for s in scores[query]], rel=1e-5)
    assert column(figure, MASKED)[:seen] == pytest.approx(scores[query][:seen], rel=1e-5)
    assert all(math.isnan(cell) for cell in column(figure, MASKED)[seen:])
    assert column(figure, WEIGHTS)[:seen] == pytest.approx(pattern[query][:seen], rel=1e-5)
    assert column(figure, WEIGHTS)[-1] == pytest.approx(1)
    parts = np.asarray(figure.data[PARTS].z, float)
    assert parts[:-1].tolist() == pytest.approx(np.array(pattern[query])[:, None] * head[2], rel=1e-5)
    assert parts[-1].tolist() == pytest.approx(outputs[query], rel=1e-5)
    assert [list(figure.data[n].y) for n in (HIDDEN_SCORES, HIDDEN_WEIGHTS)] == [list(range(seen, 4))] * 2
    assert list(figure.data[LOOKS].y) == [query]


def test_case_79_worked_values_stand_in_the_columns():
    figure = figures.attention_steps(np.eye(2), np.eye(2), np.eye(2), ["a", "b"])
    assert column(figure, WEIGHTS) == pytest.approx([0.330238, 0.669762, 1], abs=1e-6)
    first = figures.attention_steps(np.eye(2), np.eye(2), np.eye(2), ["a", "b"], query=0)
    assert column(first, WEIGHTS)[0] == 1


@pytest.mark.parametrize("step", range(1, 6))
def test_a_step_shows_what_has_been_computed_so_far(head, step):
    figure = figures.attention_steps(*head, list("abcd"), step=step)
    shown = [number for number in range(5) if figure.data[number].visible]
    assert shown == list(range(step))
    assert figure.data[HIDDEN_SCORES].visible == (step >= 3) and figure.data[HIDDEN_WEIGHTS].visible == (step >= 4)
    (slider,) = [s for s in figure.layout.sliders if "step" in s.currentvalue.prefix]
    assert [s.label for s in slider.steps] == list(STEPS) and slider.active == step - 1
    assert slider.steps[step - 1].args[0]["visible"] == [trace.visible for trace in figure.data]
    assert f"step {step} of 5" in words(figure) and ("weight" in words(figure)) == (step >= 4)


def test_the_query_slider_in_the_browser_shows_what_the_figure_of_that_query_shows(head):
    figure = figures.attention_steps(*head, list("abcd"))
    for query in range(4):
        args, other = moved_to(figure, query), figures.attention_steps(*head, list("abcd"), query=query)
        for number, drawn in enumerate(other.data):
            assert list(drawn.x) == list(args["x"][number]) and list(drawn.y) == list(args["y"][number])
            if drawn.type == "heatmap":
                np.testing.assert_array_equal(np.asarray(drawn.z, float), np.asarray(args["z"][number], float))


def test_colours_mean_the_same_for_every_query(head):
    ends = [
        [trace.zmax for trace in figures.attention_steps(*head, list("abcd"), query=query).data[:5]]
        for query in range(4)
    ]
    assert ends[0] == ends[1] == ends[2] == ends[3]


def test_a_small_weighted_value_is_seen_beside_a_large_one(head):
    colours = [colour for _, colour in figures.attention_steps(*head, list("abcd")).data[4].colorscale]
    weighted = np.array([[int(part) for part in re.findall(r"\d+", colour)] for colour in colours])
    middle = len(weighted) // 2
    for end in (0, -1):  # a tenth of the largest number has a quarter of its colour, or more
        nearest = weighted[middle + (1 if end else -1)] - weighted[middle]
        assert np.linalg.norm(nearest) >= 0.25 * np.linalg.norm(weighted[end] - weighted[middle])


def test_equal_tokens_keep_their_rows_and_no_label_is_markup(head):
    figure = figures.attention_steps(*head, ["the", *HOSTILE[:2], "the"])
    assert len(figure.layout.yaxis.ticktext) == 5 and len(column(figure, PRODUCTS)) == 4
    assert not any("<img" in label or "$" in label for label in figure.layout.yaxis.ticktext)
    assert json.loads(figure.to_json(), parse_constant=lambda name: pytest.fail(name))


def test_a_single_token_looks_at_itself():
    figure = figures.attention_steps([[2.0]], [[3.0]], [[5.0]], ["a"])
    assert (column(figure, PRODUCTS), column(figure, WEIGHTS)) == ([6], [1, 1])
    assert np.asarray(figure.data[PARTS].z).tolist() == [[5], [5]]


def test_many_tokens_are_drawn_without_their_numbers_in_the_cells_and_without_a_slider_for_each():
    part = np.random.default_rng(0).normal(size=(30, 4))
    figure = figures.attention_steps(part, part, part, [str(n) for n in range(30)])
    assert figure.data[PRODUCTS].texttemplate is None
    assert [slider.currentvalue.prefix.strip() for slider in figure.layout.sliders] == ["step"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"q": np.ones(4)}, "shape of q"),
        ({"k": np.ones((4, 2))}, "shapes of k and v"),
        ({"v": np.ones((3, 2))}, "shapes of k and v"),
        ({"v": np.full((4, 2), np.nan)}, "finite"),
        ({"tokens": ["a"]}, "number of tokens is 1, but must be 4"),
        ({"query": 4}, "query is 4"),
        ({"step": 0}, "step is 0"),
        ({"step": 6}, "step is 6"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(head, change, complaint):
    given = dict(zip("qkv", head, strict=True)) | {"tokens": list("abcd")} | change
    with pytest.raises(ValueError, match=complaint):
        figures.attention_steps(**given)


# The app ----------------------------------------------------------------------------------------------------------


def test_the_apps_numbers_are_the_traces():
    app = apps.attention_steps(*untrained(), PROMPT)
    kept = trace(untrained()[0], app.prompt.reading.ids)
    for layer, head, query in [(0, 0, 5), (1, 0, 3), (1, 1, 0)]:
        app.layer.value, app.head.value, app.query.value, app.step.value = layer, head, query, 5
        figure, seen = app.figure, query + 1
        scores, weights = (part[layer, 0, head, query].numpy() for part in (kept.scores, kept.attention))
        np.testing.assert_allclose(column(figure, SCALED), scores, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(column(figure, MASKED)[:seen], scores[:seen], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(column(figure, WEIGHTS)[:seen], weights[:seen], rtol=1e-4, atol=1e-5)
        summed = (kept.attention @ kept.v)[layer, 0, head, query].numpy()
        np.testing.assert_allclose(np.asarray(figure.data[PARTS].z, float)[-1], summed, rtol=1e-4, atol=1e-5)


def test_a_step_changes_what_is_visible_and_says_its_name():
    app = apps.attention_steps(*untrained(), PROMPT)
    assert [bool(trace.visible) for trace in app.figure.data[:5]] == [True] + [False] * 4
    app.step.value = 3
    assert [bool(trace.visible) for trace in app.figure.data[:5]] == [True] * 3 + [False] * 2
    assert "Step 3 of 5: + mask" in app.line.value


def test_sliders_take_no_forward_pass_and_a_prompt_takes_one(request):
    passes = []
    handle = untrained()[0].blocks[0].register_forward_hook(lambda *_: passes.append(1))
    request.addfinalizer(handle.remove)
    app = apps.attention_steps(*untrained(), PROMPT)
    app.query.value, app.layer.value, app.step.value = 2, 1, 5
    app.still()
    assert len(passes) == 1
    app.prompt.box.value = "The dog"
    assert len(passes) == 2


@pytest.mark.parametrize("prompt", ["", "The", "The cat saw the cat. " * 500, HOSTILE[0]])
def test_after_another_prompt_its_last_token_looks(prompt):
    app = apps.attention_steps(*untrained(), PROMPT)
    app.prompt.box.value = prompt
    last = app.prompt.reading.ids.shape[1] - 1
    assert (app.query.value, app.query.max) == (last, last)
    assert "did not work" not in app.line.value, app.line.value
    assert list(app.figure.data[LOOKS].y) == [last]
    assert "<img" not in app.line.value


def test_what_goes_wrong_is_said_in_the_apps_own_line(monkeypatch):
    app = apps.attention_steps(*untrained(), PROMPT)
    monkeypatch.setattr("gptlab.figures.steps.attention_steps", lambda *_, **__: 1 / 0)
    app.step.value = 2
    assert "This did not work: division" in app.line.value


@pytest.mark.parametrize("app", [apps.attention_steps, apps.attention_arcs])
def test_a_head_that_is_not_there_is_refused(app):
    with pytest.raises(ValueError, match=r"\(2, 0\).*\(1, 1\)"):
        app(*untrained(), PROMPT, layer=2)
