"""The tree of a beam search: where the tokens stand, what the sliders show, and the app that searches."""

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from gptlab import apps, figures
from gptlab.beam import BeamNode
from gptlab.decoding import greedy
from gptlab.figures.trees import BEFORE, BEST, DROPPED, KEPT, MOST_ROWS, PARTS
from tests.examples import example
from tests.examples._model import untrained
from tests.examples.figure_beam_tree import WORDS, grown

FIGURE, TEXT = "application/vnd.plotly.v1+json", "text/plain"


def shown(figure: go.Figure, kind: str) -> dict[str, list]:
    """By step the tokens of that kind which can be seen; of the likeliest text, which is written below, their rows."""
    steps = {}
    for index, trace in enumerate(figure.data[BEFORE:]):
        step, part = divmod(index, len(PARTS))
        if PARTS[part] == (kind, "tokens") and trace.visible and len(trace.x):
            steps[step + 1] = list(trace.y if kind == BEST else trace.text)
    return steps


def moved(figure: go.Figure, *steps: object) -> go.Figure:
    """The figure after steps of its sliders, as Plotly's restyle does it."""
    after = go.Figure(figure)
    for step in steps:
        changes, indices = step.args
        for name, values in changes.items():
            for index, value in zip(indices, values, strict=True):
                after.data[index].update({name.replace(".", "_"): value})
    return after


def test_case_53_the_wider_search_is_drawn_with_its_likelier_text():
    """Greedy takes cat, .6 · .34 = .204; width 2 keeps dog as well, .4 · .9 = .36."""
    figure = example("figure_beam_tree")
    assert shown(figure, KEPT) == {1: ["␣cat", "␣dog"], 2: ["␣barked", "␣sat"]}
    assert shown(figure, DROPPED) == {2: ["␣ran", "␣ran"]}
    assert shown(figure, BEST) == {2: [1, 0]}  # dog, in the second row, then barked, in the first
    said = figure.layout.meta["description"]
    assert "‘ dog barked’, log-probability -1.02; 2 of 4" in said  # ln .36 = -1.021651


def test_a_token_carries_the_texts_log_probability_its_own_probability_and_its_fate():
    numbers = example("figure_beam_tree").data[BEFORE + len(PARTS) + 3].customdata  # kept in step 2
    np.testing.assert_allclose([row[0] for row in numbers], [-1.021651, -1.589635], atol=1e-6)
    np.testing.assert_allclose([row[1] for row in numbers], [0.9, 0.34], atol=1e-6)
    assert [row[2] for row in numbers] == ["rank 1 of 4: kept", "rank 2 of 4: kept"]


def test_the_width_and_the_steps_are_chosen_together_without_knowing_each_other():
    figure = example("figure_beam_tree")
    widths, steps = figure.layout.sliders
    assert (widths.active, steps.active) == (1, 1)
    both = moved(figure, widths.steps[0], steps.steps[0])
    assert shown(both, KEPT) == {1: ["␣cat"]} and shown(both, BEST) == {1: [0]}
    other_way_round = moved(figure, steps.steps[0], widths.steps[0])
    assert shown(other_way_round, KEPT) == shown(both, KEPT)
    assert shown(moved(both, steps.steps[1]), KEPT) == {1: ["␣cat"], 2: ["␣sat"]}


def test_what_ended_stays_the_likeliest_text_if_it_is():
    nodes = [
        BeamNode(None, 1, 0, -0.1, kept=True, ended=True),
        BeamNode(None, 1, 1, -2.4, kept=True, ended=False),
        BeamNode(1, 2, 2, -2.5, kept=True, ended=False),
    ]
    figure = figures.beam_tree(nodes, ["end", "a", "b"])
    assert shown(figure, BEST) == {2: [0]}
    assert figure.data[BEFORE + 3].marker.symbol == ("square", "circle")
    assert "‘end’, log-probability -0.10" in figure.layout.meta["description"]


def test_of_many_continuations_the_likeliest_are_drawn():
    nodes = [BeamNode(None, 1, 0, -float(n), kept=n < 2, ended=False) for n in range(20)]
    figure = figures.beam_tree(nodes, ["a"])
    assert sum(len(tokens) for kind in (KEPT, DROPPED) for tokens in shown(figure, kind).values()) == MOST_ROWS
    assert "rank 3 of 20: dropped" in figure.data[BEFORE + 1].customdata[0]


def test_nothing_is_read_as_markup():
    figure = figures.beam_tree([BeamNode(None, 1, 0, -1.0, kept=True, ended=False)], ["<b>$x$%{y}"])
    assert figure.data[BEFORE + 3].text == ("&lt;b&gt;&#36;x&#36;&#37;{y}",)


@pytest.mark.parametrize(
    ("trees", "options", "message"),
    [
        ([], {}, "number of nodes is 0"),
        ({}, {}, "number of nodes is 0"),
        ({2: []}, {}, "number of nodes is 0"),
        ("nodes", {"shown": 0}, "shown is 0, but must be a number of steps from 1 to 2"),
        ("nodes", {"shown": 3}, "shown is 3"),
        ("nodes", {"n_steps": 1}, "n_steps is 1, but must be at least 2"),
        ("dict", {"width": 3}, "width is 3, but must be one of 1, 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(trees, options, message):
    nodes = {width: grown(width).nodes for width in (1, 2)}
    given = {"nodes": nodes[2], "dict": nodes}.get(trees if isinstance(trees, str) else "", trees)
    with pytest.raises(ValueError, match=message):
        figures.beam_tree(given, WORDS, **options)


# The app ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    return apps.beam_tree(*untrained(), "The cat", max_new_tokens=3, width=2)


def test_width_1_is_greedy(app):
    model, tok = untrained()
    app.width.value = 1
    ids = app.prompt.reading.ids
    expected = [tok.pieces([int(id)])[0].shown for id in greedy(model, ids, 3)[0, ids.shape[1] :]]
    kept = [token for tokens in shown(app.figure, KEPT).values() for token in tokens]
    assert [token.replace("␣", " ") for token in kept] == [token.replace("␣", " ") for token in expected]


def test_the_steps_are_shown_without_another_search_and_a_width_is_searched_once(app, monkeypatch):
    searched = []

    def counted(*args, **options):
        searched.append(args[3])
        return search(*args, **options)

    from gptlab.beam import beam_search as search

    monkeypatch.setattr("gptlab.apps.trees.beam_search", counted)
    app.steps.value = 1
    assert list(shown(app.figure, KEPT)) == [1] and searched == []
    app.width.value = 3
    app.width.value = 2
    app.width.value = 3
    assert searched == [3]
    app.prompt.box.value = "The dog"
    assert searched == [3, 3]


def test_the_still_figure_begins_where_the_app_is(app):
    app.width.value, app.steps.value = 3, 2
    still = app.still()
    assert [slider.active for slider in still.layout.sliders] == [2, 1]
    assert shown(still, KEPT) == shown(app.figure, KEPT)
    assert [len(slider.steps) for slider in still.layout.sliders] == [4, 3]


def test_the_words_follow_the_sliders(app):
    before = app._repr_mimebundle_()[TEXT]
    app.width.value = 1
    assert "width 1" in app._repr_mimebundle_()[TEXT] != before


def test_a_search_that_ends_early_leaves_the_later_columns_empty():
    model, tok = untrained()

    def only_the_end(ids, cache=None):
        return torch.full((*ids.shape, tok.vocab_size), -20.0).index_fill(2, torch.tensor(tok.end_of_text), 0.0)

    app = apps.beam_tree(model, tok, "", max_new_tokens=4, width=1)
    app.prompt.reading.model = only_the_end
    app.forget()
    assert app.line.value.count("did not work") == 0
    assert list(shown(app.figure, KEPT)) == [1]


def test_case_133_what_goes_wrong_is_said_in_the_apps_own_line(app, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("the <b>weights</b> are NaN")

    monkeypatch.setattr("gptlab.apps.trees.beam_search", fail)
    app.forget()
    assert "This did not work" in app.line.value and "<b>" not in app.line.value


@pytest.mark.parametrize("options", [{"max_new_tokens": 0}, {"max_new_tokens": 9}, {"width": 0}, {"width": 5}])
def test_what_has_no_room_is_refused(options):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        apps.beam_tree(*untrained(), "", **options)


def test_its_sliders_are_named(app):
    sliders = [child for child in app.children if isinstance(child, widgets.IntSlider)]
    assert [slider.description for slider in sliders] == ["width", "steps"]
