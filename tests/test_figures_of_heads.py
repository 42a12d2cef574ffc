"""Pictures of many heads: all at a glance, some silenced, over a long text."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from gptlab import figures
from gptlab.figures._canvas import staircase
from tests.examples import example
from tests.pictures import causal, words

HOSTILE = ["<img src=x onerror=alert(1)>", "<b>", "$x$", "%{y}"]


def moved(figure: go.Figure, slider: int, step: str) -> go.Figure:
    """The figure as the browser draws it after a slider was moved to the step of that label."""
    (chosen,) = [one for one in figure.layout.sliders[slider].steps if one.label == step]
    after = go.Figure(figure)
    layout, traces = {}, {}
    if chosen.method == "relayout":
        (layout,) = chosen.args
    elif chosen.method == "update":
        traces, layout, indices = chosen.args
    else:
        traces, indices = chosen.args
    for key, values in traces.items():
        for index, value in zip(indices, values, strict=True):
            after.data[index][key] = value
    for key, value in layout.items():
        after.layout[key] = value
    return after


# All heads at a glance --------------------------------------------------------------------------------------------


def test_each_map_holds_its_heads_weights_in_whole_per_cents():
    weights = causal(2, 3, 4, 4)
    figure = figures.head_grid(weights, list("abcd"))
    tiles = figure.data[:6]
    for index, tile in enumerate(tiles):
        layer, head = divmod(index, 3)
        assert tile.z.dtype == np.uint8
        np.testing.assert_allclose(tile.z, 100 * weights[layer, head], atol=0.5)
        assert f"layer {layer}, head {head}" in tile.hovertemplate
    assert {(tile.x0, tile.y0) for tile in tiles} == {(x, y) for x in (0, 5, 10) for y in (0, 5)}


def test_enlarging_is_zooming_in_on_the_heads_map_and_names_its_tokens():
    figure = figures.head_grid(causal(2, 3, 4, 4), ["the", "cat", "the", "dog"])
    assert figure.layout.sliders[0].steps[0].label == "all"
    for index in range(6):
        layer, head = divmod(index, 3)
        close = moved(figure, 0, f"{layer}.{head}").layout
        tile = figure.data[index]
        keys, queries = (list(range(first, first + 4)) for first in (tile.x0, tile.y0))
        assert tuple(close.xaxis.range) == (keys[0] - 0.5, keys[-1] + 0.5)
        assert tuple(close.yaxis.range) == (queries[-1] + 0.5, queries[0] - 0.5)
        assert list(close.xaxis.tickvals) == keys and list(close.yaxis.tickvals) == queries
        assert list(close.xaxis.ticktext) == ["the (0)", "cat", "the (2)", "dog"]
        assert [figure.layout.xaxis.labelalias[str(place)] for place in keys] == list(close.xaxis.ticktext)
        back = moved(moved(figure, 0, f"{layer}.{head}"), 0, "all").layout
        assert back.xaxis.range == figure.layout.xaxis.range and back.xaxis.ticktext == figure.layout.xaxis.ticktext


def test_it_may_begin_enlarged():
    figure = figures.head_grid(causal(2, 3, 4, 4), list("abcd"), enlarged=(1, 2))
    same = moved(figures.head_grid(causal(2, 3, 4, 4), list("abcd")), 0, "1.2")
    assert figure.layout.sliders[0].active == 6
    assert figure.layout.xaxis == same.layout.xaxis and figure.layout.yaxis == same.layout.yaxis
    assert "Enlarged head 1.2: the last token ‘d’ looks most at" in words(figure)


def test_the_stage_slider_shows_the_maps_of_one_stage():
    figure = example("figure_head_grid")
    assert [tile.visible for tile in figure.data[:12]] == [False] * 6 + [True] * 6
    before = moved(figure, 1, "before")
    assert [tile.visible for tile in before.data[:12]] == [True] * 6 + [False] * 6
    assert words(figure).startswith("Stage after of before, after. Attention of 2 × 3 heads to 5 tokens")


def test_the_words_name_the_sharpest_head_and_the_most_even():
    weights = np.tile(np.tri(4) / np.arange(1, 5)[:, None], (1, 2, 1, 1))
    weights[0, 1] = np.eye(4)
    said = words(figures.head_grid(weights, list("abcd")))
    assert "1.00 in head 0.1, the sharpest, and 0.52 in head 0.0" in said


def test_only_causal_weights_are_masked():
    assert np.isfinite(figures.head_grid(causal(1, 2, 4, 4), list("abcd")).data[-1].x).any()
    assert len(figures.head_grid(np.full((1, 2, 4, 4), 0.25), list("abcd")).data[-1].x) == 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_staircase_goes_round_what_is_above_the_diagonal(n):
    x, y = (np.repeat(corners, 2) for corners in staircase(n))
    x, y = x[:-1], y[1:]  # down to the next corner's height, then right to its place
    area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    assert area == pytest.approx(n * (n - 1) / 2)
    assert all(a - b in (0.0, 1.0) or a == n - 0.5 for a, b in zip(x, y, strict=True))


def test_many_heads_are_small():
    assert len(figures.head_grid(causal(4, 4, 24, 24), ["a"] * 24).to_json()) < 50_000
    assert len(figures.head_grid(causal(4, 4, 64, 64), ["a"] * 64).to_json()) < 150_000
    close = moved(figures.head_grid(causal(1, 2, 64, 64), ["a"] * 64), 0, "0.1").layout.xaxis
    assert close.tickmode == "auto" and close.labelalias[str(69 + 63)] == "a (63)"


def test_no_label_is_read_as_markup():
    for figure in (
        figures.head_grid(causal(1, 1, 4, 4), HOSTILE, enlarged=(0, 0)),
        figures.long_attention(causal(4, 4), HOSTILE, {"<b>": (0, 2)}, block=2),
        figures.ablation_bars(HOSTILE, [0.25] * 4, {"<b>": [0.25] * 4}, whole_loss=1, silent_losses={"<b>": 1}),
    ):
        axes = [figure.layout.xaxis.to_plotly_json(), figure.layout.yaxis.to_plotly_json()]
        drawn = json.dumps([axes, [step.label for slider in figure.layout.sliders for step in slider.steps]])
        assert "<" not in drawn and "$" not in drawn and "%{" not in drawn


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (np.ones((2, 2)), {}, r"shape of weights is \(2, 2\)"),
        (causal(1, 1, 3, 3), {}, "number of tokens is 2, but must be 3"),
        (2 * causal(1, 1, 2, 2), {}, r"weights\[0, 0, 0, 0\] is 2"),
        (np.full((1, 1, 2, 2), np.nan), {}, r"weights\[0, 0, 0, 0\] is nan"),
        ({}, {}, "at least one stage"),
        ({"a": causal(1, 1, 2, 2), "b": causal(1, 2, 2, 2)}, {}, "shapes of the stages"),
        (causal(1, 1, 2, 2), {"enlarged": (0, 1)}, r"enlarged is \(0, 1\)"),
        ({"a": causal(1, 1, 2, 2)}, {"stage": "b"}, "stage is 'b', but must be one of a"),
    ],
)
def test_bad_grids_are_refused(weights, options, message):
    with pytest.raises(ValueError, match=message):
        figures.head_grid(weights, list("ab"), **options)


# Silent heads -----------------------------------------------------------------------------------------------------


def test_the_bars_and_the_loss_are_those_of_the_silent_heads():
    figure = example("figure_ablation_bars")
    whole, silent, loss, silent_loss, floor = figure.data
    np.testing.assert_allclose(whole.x, [0.6, 0.3, 0.1], rtol=1e-6)
    np.testing.assert_allclose(silent.x, [0.1, 0.7, 0.2], rtol=1e-6)
    assert (list(loss.y), list(silent_loss.y), set(floor.y)) == ([0.73], [1.1], {0.71})
    assert list(figure.layout.yaxis.ticktext) == ["␣were", "␣was", "2,383 others"]
    assert words(figure) == (
        "Silent: 0.1. Next token: ‘␣were’ 0.60 → 0.10; ‘␣was’ 0.30 → 0.70; ‘2,383 others’ 0.10 → 0.20. "
        "Loss 0.73 → 1.10; floor 0.71."
    )


def test_the_slider_moves_the_silent_bars_and_nothing_else():
    figure = example("figure_ablation_bars")
    assert figure.layout.sliders[0].active == 1
    after = moved(figure, 0, "both")
    np.testing.assert_allclose(after.data[1].x, [0.05, 0.15, 0.8], rtol=1e-6)
    assert list(after.data[1].y) == [0, 1, 2] and list(after.data[3].x) == [1] and list(after.data[3].y) == [2.0]
    assert after.data[0] == figure.data[0] and after.data[2] == figure.data[2]


def test_of_one_setting_there_is_no_slider_and_without_a_floor_no_line():
    figure = figures.ablation_bars(["a"], [1.0], {"0.0": [0.5]}, whole_loss=1, silent_losses={"0.0": 2})
    assert not figure.layout.sliders and not figure.data[4].visible and "floor" not in words(figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"whole": [0.5]}, r"shape of whole is \(1,\)"),
        ({"whole": [0.5, 1.5]}, "whole is"),
        ({"silent": {"0.0": [1.0]}}, r"shape of silent\['0.0'\]"),
        ({"silent": {}, "silent_losses": {}}, "at least one"),
        ({"silent_losses": {"1.0": 1.0}}, "names of silent_losses"),
        ({"shown": "1.1"}, "shown is '1.1', but must be one of 0.0"),
    ],
)
def test_bad_ablations_are_refused(options, message):
    given = {"whole": [0.5, 0.5], "silent": {"0.0": [0.5, 0.5]}, "whole_loss": 1, "silent_losses": {"0.0": 1.0}}
    given |= options
    with pytest.raises(ValueError, match=message):
        figures.ablation_bars(["a", "b"], **given)


# Long texts -------------------------------------------------------------------------------------------------------


def test_a_block_is_what_its_queries_give_its_keys_together_on_average():
    weights = causal(10, 10)
    blocks, tokens = figures.long_attention(weights, list("abcdefghij"), {}, block=4).data[:2]
    assert blocks.z.shape == (3, 3) and tokens.z.shape == (10, 10)
    for i, rows in enumerate((range(4), range(4, 8), range(8, 10))):
        for j, columns in enumerate((range(4), range(4, 8), range(8, 10))):
            mean = sum(weights[query, key] for query in rows for key in columns) / len(rows)
            assert blocks.z[i, j] == pytest.approx(100 * mean, abs=0.51)
    np.testing.assert_allclose(tokens.z, 100 * weights, atol=0.51)


def test_the_slider_goes_from_blocks_to_tokens_to_parts():
    figure = example("figure_long_attention")
    seen = {}
    for step in ("blocks of 4", "all", "first text", "second text"):
        after = moved(figure, 0, step)
        seen[step] = [trace.visible for trace in after.data[:2]], tuple(after.layout.xaxis.range)
        assert tuple(after.layout.yaxis.range) == tuple(after.layout.xaxis.range)[::-1]
    assert seen == {
        "blocks of 4": ([True, False], (-0.5, 23.5)),
        "all": ([False, True], (-0.5, 23.5)),
        "first text": ([False, True], (-0.5, 11.5)),
        "second text": ([False, True], (11.5, 23.5)),
    }


def test_the_words_say_how_much_stays_near_and_within_the_own_part():
    assert "0.67 of it goes to the nearest 4; 0.78 stays within its own of 2 parts" in words(
        example("figure_long_attention")
    )


def test_512_tokens_stay_small():
    figure = figures.long_attention(causal(512, 512), ["a"] * 512, {"first": (0, 100)})
    assert len(figure.to_json()) < 450_000
    assert figure.layout.xaxis.tickmode == "auto" and figure.layout.xaxis.labelalias["511"] == "a"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": causal(1, 3, 3)}, r"shape of weights is \(1, 3, 3\)"),
        ({"weights": causal(2, 2)}, "number of tokens is 3, but must be 2"),
        ({"weights": np.full((3, 3), 0.3)}, "nothing above the diagonal"),
        ({"weights": np.full((3, 3), np.nan)}, "from 0 to 1"),
        ({"block": 0}, "block is 0"),
        ({"block": 4}, "block is 4"),
        ({"parts": {"end": (2, 4)}}, r"parts\['end'\] is \(2, 4\)"),
    ],
)
def test_bad_long_texts_are_refused(options, message):
    given = {"weights": causal(3, 3), "parts": {}, "block": 2} | options
    with pytest.raises(ValueError, match=message):
        figures.long_attention(given.pop("weights"), list("abc"), given.pop("parts"), **given)
