"""Apps of many heads: enlarged by slider and click, silenced by ticks; each computes once what it shows."""

import numpy as np
import pytest
import torch
from plotly.callbacks import Points

from gptlab import apps
from gptlab.corpus import Batch, HeldOut
from gptlab.loss import mean_loss
from gptlab.tracing import intervene, trace
from tests.examples import example
from tests.examples._model import untrained
from tests.pictures import speech
from tests.references.figures import softmax

PROMPT = "The cat saw the cat"
FIGURE, TEXT = "application/vnd.plotly.v1+json", "text/plain"
PROMPTS = ["", ".", "The cat saw the cat. " * 500, "\n\n", "مرحبا", "<img src=x onerror=alert(1)> $x$ %{y}", "\ud83d"]


@pytest.fixture
def grid():
    return example("app_all_heads")


@pytest.fixture
def silencing():
    return example("app_ablate_heads")


# All heads --------------------------------------------------------------------------------------------------------


def test_the_maps_are_those_of_the_trace(grid):
    weights = trace(untrained()[0], grid.prompt.reading.ids).attention[:, 0]
    for index, tile in enumerate(grid.figure.data[:4]):
        np.testing.assert_allclose(tile.z, 100 * weights[divmod(index, 2)], atol=0.51)


def test_the_slider_enlarges_a_head_without_a_forward_pass(grid, passes):
    whole = tuple(grid.figure.layout.xaxis.range)
    grid.enlarge.value = (1, 1)
    tile = grid.figure.data[3]
    assert tuple(grid.figure.layout.xaxis.range) == (tile.x0 - 0.5, tile.x0 + 5.5)
    assert list(grid.figure.layout.xaxis.ticktext)[1:] == ["The", "␣cat (2)", "␣saw", "␣the", "␣cat (5)"]
    grid.enlarge.value = "all"
    assert tuple(grid.figure.layout.xaxis.range) == whole
    assert passes == []


def test_a_click_enlarges_and_a_second_one_brings_all_back(grid):
    for index, tile in enumerate(grid.figure.data):
        met = Points(point_inds=[[0, 0]], xs=[0], ys=[0]) if index == 2 else Points()
        tile._dispatch_on_click(met, None)
    assert grid.enlarge.value == (1, 0)
    grid.click((1, 0))
    assert grid.enlarge.value == "all"


def test_the_still_figure_has_the_slider_and_begins_where_the_app_stands(grid):
    grid.enlarge.value = (0, 1)
    output = grid._repr_mimebundle_()
    assert output[FIGURE]["layout"]["sliders"][0]["active"] == 2
    assert "Enlarged head 0.1" in output[TEXT]
    assert not grid.figure.layout.sliders


def test_another_prompt_changes_the_maps_in_place(grid):
    figure = grid.figure
    grid.prompt.box.value = "The dog"
    assert grid.figure is figure and figure.data[0].z.shape == (3, 3)
    assert figure.data[3].x0 == 4


# Silent heads -----------------------------------------------------------------------------------------------------


def test_a_tick_silences_its_head_in_the_bars_and_in_the_loss(silencing):
    model, _ = untrained()
    silencing.boxes[1, 0].value = True
    silencing.boxes[0, 1].value = True
    held_out = silencing._held_out
    with intervene(model, heads=[(1, 0), (0, 1)]), torch.no_grad():
        loss = mean_loss(model, held_out.batches)
        after = softmax(model(silencing.prompt.reading.ids)[0, -1].tolist())
    whole = softmax(model(silencing.prompt.reading.ids)[0, -1].tolist())
    best = sorted(range(len(whole)), key=lambda id: -max(whole[id], after[id]))[:8]
    best.sort(key=lambda id: -whole[id])
    bars, silent, _, silent_loss, floor = silencing.figure.data
    assert bars.x.tolist()[:8] == pytest.approx([whole[id] for id in best], rel=1e-4)
    assert silent.x.tolist()[:8] == pytest.approx([after[id] for id in best], rel=1e-3, abs=1e-6)
    assert silent_loss.y[0] == pytest.approx(loss, rel=1e-5)
    assert floor.y[0] == 1.0
    assert silencing._repr_mimebundle_()[TEXT].startswith("Silent: 0.1, 1.0. Next token:")


def test_what_was_computed_once_is_kept(silencing, passes):
    silencing.boxes[0, 0].value = True
    assert len(passes) == 2, "one for the prompt, one for the held-out texts"
    silencing.boxes[0, 0].value = False
    silencing.boxes[0, 0].value = True
    assert len(passes) == 2


def test_without_a_tick_nothing_is_changed(silencing):
    for box in silencing.boxes.values():
        box.value = True
    for box in silencing.boxes.values():
        box.value = False
    bars, silent, loss, silent_loss, _ = silencing.figure.data
    np.testing.assert_array_equal(bars.x, silent.x)
    assert tuple(loss.y) == tuple(silent_loss.y)


def test_the_still_figure_silences_each_head_by_itself_and_what_is_ticked(silencing):
    silencing.boxes[0, 0].value = silencing.boxes[1, 1].value = True
    (slider,) = silencing.still().layout.sliders
    assert [step.label for step in slider.steps] == ["none", "0.0", "0.1", "1.0", "1.1", "0.0, 1.1"]
    assert slider.active == 5


def test_of_many_heads_the_still_figure_shows_what_is_ticked(silencing, monkeypatch):
    monkeypatch.setattr("gptlab.apps.silencing.MOST_HEADS", 3)
    assert not silencing.still().layout.sliders


def test_another_prompt_has_other_bars_and_the_same_loss(silencing):
    before, loss = list(silencing.figure.layout.yaxis.ticktext), silencing.figure.data[2].y[0]
    silencing.prompt.box.value = "The dog"
    assert list(silencing.figure.layout.yaxis.ticktext) != before
    assert silencing.figure.data[2].y[0] == loss


def test_the_model_is_left_as_it_was():
    model, tok = untrained()
    model.train()
    ids = torch.tensor([tok.encode(PROMPT)])
    app = apps.ablate_heads(model, tok, PROMPT, HeldOut([Batch(ids[:, :-1], ids[:, 1:])], None))
    app.boxes[0, 0].value = True
    assert model.training and all(block.attention.fused for block in model.blocks)
    model.eval()


@pytest.mark.parametrize("prompt", PROMPTS)
def test_any_prompt_is_drawn(prompt, grid, silencing):
    for app in (grid, silencing):
        app.prompt.box.value = prompt
        assert "did not work" not in speech(app)
        assert app._repr_mimebundle_()[TEXT]


def test_what_goes_wrong_is_said(grid, silencing, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("the <b>weights</b> are NaN")

    monkeypatch.setattr("gptlab.apps.glance.head_grid", fail)
    monkeypatch.setattr("gptlab.apps.silencing.ablation_bars", fail)
    for app in (grid, silencing):
        app.refresh()
        assert speech(app) == "This did not work: the &lt;b&gt;weights&lt;/b&gt; are NaN"
