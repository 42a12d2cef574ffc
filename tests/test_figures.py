"""Figures: what they hold, what they say, what they refuse. How they look is for the gallery and the browser."""

import html
import re

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from gptlab import figures
from gptlab.figures import _canvas
from gptlab.figures.curves import thinned
from gptlab.tokenizer import Tokenizer
from tests.examples import NAMES, example
from tests.pictures import HOSTILE, causal, strict, words
from tests.references.figures import softmax

FIGURES = [name for name in NAMES if name.startswith("figure_")]


# All figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES)
def test_each_example_is_a_figure_that_says_in_a_line_what_is_to_be_seen(name):
    figure = example(name)
    assert isinstance(figure, go.Figure)
    assert strict(figure)["data"]
    assert words(figure) and "\n" not in words(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_case_131_the_same_input_gives_the_same_bytes(name):
    assert example(name).to_json() == example(name).to_json()
    exported = [example(name).to_html(include_plotlyjs=False, div_id="figure") for _ in range(2)]
    assert exported[0] == exported[1]


@pytest.mark.parametrize("name", FIGURES)
def test_text_is_at_least_16_px_and_grows_in_a_lecture(name, lecture):
    sizes = [font_sizes(strict(example(name)))]
    lecture(2)
    sizes.append(font_sizes(strict(example(name))))
    assert min(sizes[0]) >= 16
    assert sizes[1] == [2 * size for size in sizes[0]]


@pytest.fixture
def lecture():
    yield figures.lecture_mode
    figures.lecture_mode(1)


def font_sizes(value: object) -> list[float]:
    """Every font size anywhere in a figure."""
    if isinstance(value, dict):
        own = [font["size"] for key, font in value.items() if key.endswith("font") and "size" in font]
        return own + [size for inner in value.values() for size in font_sizes(inner)]
    return [size for inner in value for size in font_sizes(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("scale", [0, -1, float("nan"), True, 100])
def test_a_lecture_of_no_size_is_refused(scale):
    with pytest.raises(ValueError, match="scale is"):
        figures.lecture_mode(scale)


@pytest.mark.parametrize("token", HOSTILE)
def test_what_plotly_would_read_as_markup_is_written_as_entities(token):
    written = _canvas.escaped(token)
    assert html.unescape(written) == token
    assert not set("<>$%") & set(written)


@pytest.mark.parametrize(("token", "shown"), [(" a", "␣a"), ("\n", "⏎"), ("", "∅"), ("⟨F0 9F⟩ ", "⟨F0 9F⟩␣")])
def test_blanks_are_drawn(token, shown):
    assert _canvas.token_labels([token]) == [shown]


def test_a_long_label_is_cut_and_says_how_long_it_is():
    assert _canvas.token_labels(["x" * 100]) == ["x" * 12 + "…(100)"]


def test_case_75_tokens_of_blanks_alone_are_seen_and_told_apart():
    tok = Tokenizer.gpt2()
    blank = [id for id in range(tok.vocab_size) if tok.decode([id]).isspace()]
    labels = _canvas.token_labels(tok.pieces(blank))
    assert len(blank) == 23
    assert len(set(labels)) == len(labels)
    assert not any(label.isspace() or not label for label in labels)


# Attention --------------------------------------------------------------------------------------------------------


def test_case_122_equal_tokens_keep_rows_and_columns_of_their_own():
    figure = figures.attention_heatmap(causal(5, 5), "the cat saw the cat".split())
    assert figure.data[0].x.tolist() == figure.data[0].y.tolist() == [0, 1, 2, 3, 4]
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert axis.type == "linear"
        assert list(axis.tickvals) == [0, 1, 2, 3, 4]
        assert list(axis.ticktext) == ["the", "cat", "saw", "the", "cat"]


def test_case_124_the_first_query_stands_on_top_and_the_cell_is_the_weight():
    weights = causal(3, 3)
    figure = figures.attention_heatmap(weights, list("abc"))
    low, high = figure.layout.yaxis.range
    assert low > high
    below = np.tri(3, dtype=bool)
    np.testing.assert_allclose(figure.data[0].z[below], weights[below], rtol=1e-6)
    assert "%{y:d}" in figure.data[0].hovertemplate and "%{x:d}" in figure.data[0].hovertemplate


def test_case_84_shapes_that_do_not_fit_are_refused_with_both_sizes():
    with pytest.raises(ValueError, match=r"number of tokens is 4, but must be 5, as weights are 5 × 5"):
        figures.attention_heatmap(causal(5, 5), list("abcd"))
    with pytest.raises(ValueError, match=r"\(16, 5, 5\).*draw one: weights\[0\]"):
        figures.attention_heatmap(causal(16, 5, 5), list("abcde"))
    with pytest.raises(ValueError, match=r"\(2, 1, 3, 5, 5\).*weights\[:, 0\]"):
        figures.attention_heatmap(causal(2, 1, 3, 5, 5), list("abcde"))
    with pytest.raises(ValueError, match=r"shape of weights is \(0, 0\)"):
        figures.attention_heatmap(np.zeros((0, 0)), [])
    assert figures.attention_heatmap([[1.0]], ["a"]).data[0].z.tolist() == [[1.0]]


@pytest.mark.parametrize("values", ["weights", "scores"])
def test_case_129_what_is_no_number_is_drawn_as_masked_and_the_json_stays_strict(values):
    scores = np.array([[0.5, -np.inf, -np.inf], [0.25, 0.75, np.nan], [0.5, 0.25, 0.25]])
    figure = figures.attention_heatmap(scores, list("abc"), values=values)
    strict(figure)
    assert masked_cells(figure) == {(0, 1), (0, 2), (1, 2)}
    assert figure.data[1].text.startswith("masked")
    assert figure.data[1].hoveron == "fills"
    assert not figure.data[0].hoverongaps
    with pytest.raises(ValueError, match=r"\[0, 1\] is inf"):
        figures.attention_heatmap(np.array([[0.5, np.inf], [0, 1]]), list("ab"), values=values)


def masked_cells(figure: go.Figure) -> set[tuple[int, int]]:
    """(query, key) of each cell under the masked sheet: every other corner of its rectangles tells where it is."""
    x, y = figure.data[1].x, figure.data[1].y
    return {
        (int(y[corner] + 0.5), key)
        for corner in range(0, len(x), 5)
        for key in range(int(x[corner] + 0.5), int(x[corner + 1] + 0.5))
    }


def test_weights_of_no_causal_mask_are_all_drawn():
    assert masked_cells(figures.attention_heatmap(np.full((3, 3), 1 / 3), list("abc"))) == set()


def test_all_heads_are_bytes_in_whole_per_cents():
    weights = causal(2, 3, 4, 4)
    figure = figures.attention_heatmap(torch.tensor(weights, requires_grad=True), list("abcd"), layer=1, head=2)
    for index, trace in enumerate(figure.data[:6]):
        assert trace.z.dtype == np.uint8
        np.testing.assert_allclose(trace.z, 100 * weights[divmod(index, 3)], atol=0.5)
        assert "%{z} %" in trace.hovertemplate
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 100)


def test_the_layer_slider_and_the_head_slider_choose_together_without_knowing_each_other():
    figure = figures.attention_heatmap(causal(2, 3, 4, 4), list("abcd"), layer=1, head=2)
    assert seen(figure) == [(1, 2)]
    layers, heads = figure.layout.sliders
    for layer, layer_step in enumerate(layers.steps):
        for head, head_step in enumerate(heads.steps):
            moved = go.Figure(figure)
            for step in (layer_step, head_step):
                changes, indices = step.args
                for key, values in changes.items():
                    for index, value in zip(indices, values, strict=True):
                        moved.data[index][key] = value
            assert seen(moved) == [(layer, head)]


def seen(figure: go.Figure) -> list[tuple[int, int]]:
    """(layer, head) of the heatmaps that can be seen and pointed at."""
    return [
        divmod(index, 3)
        for index, trace in enumerate(figure.data[:6])
        if trace.visible and trace.opacity != 0 and trace.hoverinfo != "skip"
    ]


def test_512_tokens_stay_usable():
    figure = figures.attention_heatmap(causal(512, 512), ["a"] * 512)
    assert figure.layout.xaxis.tickmode == "auto" and figure.layout.xaxis.nticks <= 24
    assert figure.layout.xaxis.labelalias["511"] == "a"
    assert figure.layout.height <= 720


def test_labelled_rows_keep_a_height_and_columns_that_are_turned_have_room():
    weights = np.tile(np.tril(np.ones((24, 24))) / 24, (2, 2, 1, 1))
    short, long = (figures.attention_heatmap(weights, [label] * 24).layout.height for label in ("a", "somewhere"))
    assert short - 260 >= 18 * 24 and short + 80 <= long <= 900
    assert figures.attention_heatmap(weights, ["a"] * 24).layout.xaxis.autotickangles == (0, -90)


def test_case_130_many_cells_are_small():
    quarter = (100 * causal(512, 512)).round().astype(np.uint8)
    assert len(figures.attention_heatmap(quarter, ["a"] * 512).to_json()) < 450_000  # as float32 1.75 MB
    assert len(figures.attention_heatmap(causal(4, 4, 64, 64), ["a"] * 64).to_json()) < 120_000
    assert all(len(example(name).to_json()) < 100_000 for name in FIGURES)  # films among them; no library in any


def test_the_words_name_what_the_last_token_looks_at():
    said = words(example("figure_attention_heatmap"))
    assert (
        said == "Attention of 5 tokens: the last token ‘␣cat’ looks most at ‘␣cat’ (1): 0.80, then at ‘␣saw’ (2): 0.06."
    )
    assert "layer 1 head 2 of 2 layers with 3 heads" in words(example("figure_attention_heatmap_all_heads"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.5]], ["a"], {}), r"weights\[0, 0\] is 1.5"),
        (([[-0.1]], ["a"], {}), r"weights\[0, 0\] is -0.1"),
        (([[1.0]], "a", {}), "not one string"),
        (([[1.0]], [7], {}), "a token is 7"),
        (([[1.0]], ["a"], {"values": "logits"}), "values is 'logits'"),
        ((np.ones((1, 1, 1, 1)), ["a"], {"head": 1}), r"\(layer, head\) is \(0, 1\)"),
        ((np.ones((1, 1, 1, 1)), ["a"], {"values": "scores"}), "one head at a time"),
    ],
)
def test_bad_attention_is_refused(arguments, message):
    weights, tokens, options = arguments
    with pytest.raises(ValueError, match=message):
        figures.attention_heatmap(weights, tokens, **options)


# Next token -------------------------------------------------------------------------------------------------------

LOGITS = [2.0, 1.0, 0.5, -1.0]
LABELS = list("abcd")


def test_bars_are_the_likeliest_tokens_and_all_others_together():
    figure = figures.next_token_bars(softmax(LOGITS), LABELS, after=softmax(LOGITS, 2.0), truth=[0.5, 0.5, 0, 0], n=2)
    model, after, truth = figure.data
    expected, cooled = softmax(LOGITS), softmax(LOGITS, 2.0)
    np.testing.assert_allclose(model.x, [expected[0], expected[1], expected[2] + expected[3]], rtol=1e-6)
    np.testing.assert_allclose(after.x, [cooled[0], cooled[1], cooled[2] + cooled[3]], rtol=1e-6)
    np.testing.assert_allclose(truth.x, [0.5, 0.5, 0])
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "2 others"]
    assert truth.marker.symbol.startswith("diamond")


def test_the_slider_holds_the_bars_of_each_temperature():
    temperatures = [0.5, 1.0, 2.0]
    after = {temperature: softmax(LOGITS, temperature) for temperature in temperatures}
    figure = figures.next_token_bars(softmax(LOGITS), LABELS, after=after, temperature=1.8, n=4)
    slider = figure.layout.sliders[0]
    assert [step.label for step in slider.steps] == ["0.5", "1", "2"]
    assert slider.active == 2
    for temperature, step in zip(temperatures, slider.steps, strict=True):
        np.testing.assert_allclose(step.args[0]["x"][0], softmax(LOGITS, temperature), rtol=1e-6)
        assert list(step.args[1]) == [1]
    np.testing.assert_allclose(figure.data[1].x, softmax(LOGITS, 2.0), rtol=1e-6)


def test_a_token_that_only_the_truth_finds_likely_is_shown():
    figure = figures.next_token_bars([0.7, 0.2, 0.1, 0.0], LABELS, truth=[0.0, 0.0, 0.4, 0.6], n=3)
    assert list(figure.layout.yaxis.ticktext) == ["a", "c", "d", "1 other"]


def test_without_truth_its_diamonds_are_hidden_but_there():
    figure = figures.next_token_bars([0.5, 0.5], list("ab"))
    assert [trace.visible for trace in figure.data] == [True, False, False]


def test_equal_probabilities_keep_the_order_of_ids():
    assert list(figures.next_token_bars([0.25] * 4, LABELS, n=4).layout.yaxis.ticktext) == LABELS


def test_the_words_give_the_numbers_of_the_three_likeliest():
    said = words(figures.next_token_bars([0.6, 0.3, 0.1], list("abc"), truth=[0.5, 0.5, 0]))
    assert said == "Next token: ‘a’ model 0.60, truth 0.50; ‘b’ model 0.30, truth 0.50; ‘c’ model 0.10, truth 0.00."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": [0.5, 0.6]}, "sum of model is 1.1"),
        ({"model": [1.5, -0.5]}, "sum of model"),
        ({"model": [np.nan, 1.0]}, "sum of model is nan"),
        ({"model": [[0.5, 0.5]]}, r"shape of model is \(1, 2\)"),
        ({"labels": ["a"]}, "number of labels is 1, but must be 2"),
        ({"truth": [1.0]}, "probabilities in truth is 1, but must be 2"),
        ({"after": {0.5: [1.0]}}, r"after\[0.5\] is 1"),
        ({"n": 0}, "n is 0"),
    ],
)
def test_what_is_no_distribution_is_refused(options, message):
    given = {"model": [0.5, 0.5], "labels": ["a", "b"]} | options
    with pytest.raises(ValueError, match=message):
        figures.next_token_bars(given.pop("model"), given.pop("labels"), **given)


# Tokens -----------------------------------------------------------------------------------------------------------


def test_the_strip_shows_ids_and_bytes_in_reading_order():
    pieces = Tokenizer.gpt2().pieces("the cat saw the cat")
    boxes = figures.token_strip(pieces).data[0]
    assert [text.split("<br>")[0] for text in boxes.text] == ["the", "␣cat", "␣saw", "␣the", "␣cat"]
    assert all(str(piece.id) in text for piece, text in zip(pieces, boxes.text, strict=True))
    assert "bytes 20 63 61 74" in boxes.hovertext[1] and "position 1" in boxes.hovertext[1]
    starts = np.array(boxes.base)
    assert (np.diff(starts) > 0).all() and set(boxes.y) == {0}


def test_case_61_tokens_that_are_one_character_together_are_bracketed_under_it():
    figure = figures.token_strip(Tokenizer.gpt2().pieces("I 👍 it"))
    boxes, brackets = figure.data
    assert [text.split("<br>")[0] for text in boxes.text] == ["I", "␣⟨F0 9F 91⟩", "⟨8D⟩", "␣it"]
    assert [text for text in brackets.text if text] == ["👍"]
    start, middle, end, _ = brackets.x
    assert boxes.base[1] < middle < boxes.base[2] + boxes.x[2]
    assert boxes.base[0] + boxes.x[0] < start and end < boxes.base[3]


def test_a_long_text_is_wrapped_and_a_very_long_one_cut_with_a_word():
    figure = figures.token_strip(["token"] * 1000)
    boxes = figure.data[0]
    assert len(boxes.text) == 400
    assert (np.array(boxes.base) + np.array(boxes.x)).max() <= 72
    assert figure.layout.annotations[0].text == "and 600 more tokens"
    assert words(figure).startswith("1000 tokens:")


def test_ids_of_another_number_are_refused():
    with pytest.raises(ValueError, match="number of ids is 1, but must be 2"):
        figures.token_strip(["a", "b"], [1])


def test_no_token_at_all_is_an_empty_strip():
    assert words(figures.token_strip([])) == "0 tokens."


# Texts and curves -------------------------------------------------------------------------------------------------


def test_the_text_of_each_temperature_is_on_the_slider_and_loses_nothing():
    long = " sat on the mat" * 20 + "\nand slept"
    figure = figures.generated_text("The cat", {0.0: " sat.", 1.0: long})
    slider = figure.layout.sliders[0]
    assert [step.label for step in slider.steps] == ["0", "1"]
    for text, step in zip([" sat.", long], slider.steps, strict=True):
        shown = re.sub(r"<span[^>]*>|</span>|<br>", "", step.args[0]["text"][0][0])
        assert shown == ("The cat" + text).replace("\n", "")
    assert max(len(re.sub("<[^>]*>", "", line)) for line in figure.data[0].text[0].split("<br>")) <= 62
    assert words(figure).startswith("The text at temperature 1: The cat| sat on")
    with pytest.raises(ValueError, match="texts"):
        figures.generated_text("a", {})


def test_no_line_but_the_first_begins_with_a_blank():
    figure = figures.generated_text("The cat", {1.0: " sat  on the mat" * 20})
    lines = [re.sub("<[^>]*>", "", line) for line in figure.data[0].text[0].split("<br>")]
    assert len(lines) > 3 and not any(line.startswith(" ") for line in lines)
    assert "".join(lines) == "The cat" + " sat  on the mat" * 20


def test_case_132_a_long_curve_is_thinned_and_keeps_first_last_and_extremes():
    steps = np.arange(50_000)
    loss = 1.2 + 4 * np.exp(-steps / 5_000)
    loss[31_234], loss[41_234] = 9.0, 0.1
    figure = figures.loss_curve(steps, loss, floor=1.2)
    curve, floor = figure.data
    assert len(curve.x) <= 2_000
    assert {0, 31_234, 41_234, 49_999} <= set(curve.x.tolist())
    assert (np.diff(curve.x) > 0).all()
    np.testing.assert_allclose(curve.y, loss[curve.x], rtol=1e-6)
    assert floor.y.tolist() == pytest.approx([1.2, 1.2]) and floor.x.tolist() == [0, 49_999]
    assert len(figure.to_json()) < 120_000  # the curve twice: as loss, and above the floor


@pytest.mark.parametrize("n", [1, 2, 3, 10, 11, 1000])
def test_thinning_keeps_the_extremes_of_every_stretch(n):
    values = np.random.default_rng(n).normal(size=n)
    kept = thinned(values, 10)
    assert len(kept) <= max(n if n <= 10 else 10, 1)
    assert {0, n - 1, int(values.argmin()), int(values.argmax())} <= set(kept.tolist())


def test_a_validation_that_was_not_made_at_each_step_is_drawn_where_it_was():
    figure = figures.loss_curve([0, 1, 2], [3.0, 2.0, 1.5], [3.1, None, 1.6], floor=1.0)
    assert figure.data[1].x.tolist() == [0, 2]
    assert words(figure) == (
        "training loss 3.00 at step 0, 1.50 at 2; validation loss 3.10 at step 0, 1.60 at 2; floor 1.00 nats per token."
    )


def test_a_curve_of_no_steps_or_other_lengths_is_refused():
    with pytest.raises(ValueError, match="steps is"):
        figures.loss_curve([], [])
    with pytest.raises(ValueError, match=r"training loss is \(2,\), but must be \(1,\)"):
        figures.loss_curve([0], [1.0, 2.0])


def test_a_loss_curve_shows_the_gap_to_the_floor_on_a_button_and_a_floor_may_change():
    floor = [0.7, 0.7, 0.8, 0.8]
    figure = figures.loss_curve([1, 2, 3, 4], [3.0, 1.0, 0.9, 0.8], floor=floor)
    assert figure.data[1].y.tolist() == pytest.approx(floor)
    update, axis = figure.layout.updatemenus[0].buttons[1].args
    np.testing.assert_allclose(update["y"][0], [2.3, 0.3, 0.1, 1e-4], rtol=1e-5)
    assert update["visible"] == [True, False] and axis["yaxis.type"] == "log"
    assert not figures.loss_curve([1], [3.0]).layout.updatemenus


def test_a_notebook_stores_a_figure_with_its_words():
    stored = figures.loss_curve([1, 2], [3.0, 1.0])._repr_mimebundle_()
    assert set(stored) == {"application/vnd.plotly.v1+json", "text/plain"}
    assert "training loss 3.00 at step 1" in stored["text/plain"]
    assert "meta" not in stored["application/vnd.plotly.v1+json"]["layout"]
