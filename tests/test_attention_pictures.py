"""Attention pictures of any model: arrays, outputs of `transformers` from models made at random, traces of ours."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

import gptlab
from gptlab import apps, figures
from gptlab.figures._attentions import attention_of
from tests.examples._model import untrained
from tests.pictures import strict, words

QUERIES, KEYS = ["le", "chat", "dort"], ["the", "cat", "is", "asleep", "."]
HOSTILE = ["<img src=x onerror=alert(1)>", "</script>", "$x$", "%{y}", "&lt;"]
FIGURE, TEXT = "application/vnd.plotly.v1+json", "text/plain"
SIZES = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 3, "intermediate_size": 16}


def rows(n_queries: int, n_keys: int, *outer: int) -> np.ndarray:
    """Weights that sum to 1 in each row."""
    scores = np.exp(np.random.default_rng(0).normal(size=(*outer, n_queries, n_keys)))
    return scores / scores.sum(-1, keepdims=True)


def drawn(figure) -> np.ndarray:
    """The weights of all heads of a figure, (N,T,S), masked cells as 0."""
    heads = [np.asarray(trace.z, float) for trace in figure.data if trace.type == "heatmap"]
    bytes_ = figure.data[0].z.dtype == np.uint8
    return np.nan_to_num(np.stack(heads)) / (100 if bytes_ else 1)


def hatched(figure) -> bool:
    return len(figure.data[-1].x or ()) > 0


# Models of transformers, made at random ----------------------------------------------------------------------------


def read(kind: type, config: transformers.PretrainedConfig, **inputs: torch.Tensor):
    """What a random model of that kind gives for inputs of a few ids, with its attentions."""
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    with torch.no_grad():
        return kind(config).eval()(**inputs, output_attentions=True)


def ids(n: int) -> torch.Tensor:
    return torch.arange(n)[None] + 3


@pytest.fixture(scope="module")
def gpt2():
    config = transformers.GPT2Config(vocab_size=30, n_positions=16, n_embd=8, n_layer=3, n_head=2)
    return read(transformers.GPT2LMHeadModel, config, input_ids=ids(5))


@pytest.fixture(scope="module")
def bert():
    config = transformers.BertConfig(vocab_size=30, **SIZES)
    return read(transformers.BertModel, config, input_ids=ids(5))


def t5():
    config = transformers.T5Config(
        vocab_size=30, d_model=8, d_kv=4, d_ff=16, num_layers=2, num_decoder_layers=3, num_heads=2
    )
    return read(transformers.T5ForConditionalGeneration, config, input_ids=ids(5), decoder_input_ids=ids(3))


def bart():
    sides = {f"{side}_{size}": n for side in ("encoder", "decoder") for size, n in (("attention_heads", 2),)}
    config = transformers.BartConfig(
        vocab_size=30, d_model=8, encoder_layers=2, decoder_layers=3, encoder_ffn_dim=16, decoder_ffn_dim=16, **sides
    )
    return read(transformers.BartForConditionalGeneration, config, input_ids=ids(5), decoder_input_ids=ids(3))


@pytest.fixture(scope="module", params=[t5, bart], ids=["t5", "bart"])
def translator(request):
    return request.param()


def test_a_decoders_output_is_drawn_with_its_mask(gpt2):
    figure = figures.attention_heatmap(gpt2, KEYS, layer=2, head=1)
    expected = torch.cat(gpt2.attentions).flatten(0, 1)
    np.testing.assert_allclose(drawn(figure), expected, atol=0.0051)
    assert hatched(figure)
    assert "layer 2 head 1 of 3 layers with 2 heads" in words(figure)


def test_an_encoders_output_is_drawn_whole(bert):
    figure = figures.attention_heatmap(bert, KEYS)
    np.testing.assert_allclose(drawn(figure), torch.cat(bert.attentions).flatten(0, 1), atol=0.0051)
    assert not hatched(figure)


def test_of_a_translator_each_part_is_drawn_on_its_own_axes(translator):
    for part, attentions, tokens, keys in (
        ("encoder", translator.encoder_attentions, KEYS, None),
        ("decoder", translator.decoder_attentions, QUERIES, None),
        ("cross", translator.cross_attentions, QUERIES, KEYS),
    ):
        figure = figures.attention_heatmap(translator, tokens, keys=keys, part=part)
        np.testing.assert_allclose(drawn(figure), torch.cat(attentions).flatten(0, 1), atol=0.0051)
        assert hatched(figure) == (part == "decoder")
        assert list(figure.layout.yaxis.ticktext) == tokens
        assert list(figure.layout.xaxis.ticktext) == (keys or tokens)


def test_an_outputs_field_is_as_good_as_the_output(translator):
    field = figures.attention_heatmap(translator.cross_attentions, QUERIES, keys=KEYS)
    assert field.to_json() == figures.attention_heatmap(translator, QUERIES, keys=KEYS, part="cross").to_json()


def test_which_part_of_a_translator_must_be_said(translator):
    with pytest.raises(ValueError, match="part is None, but must be 'encoder' or 'decoder' or 'cross'"):
        figures.attention_heatmap(translator, QUERIES)
    with pytest.raises(ValueError, match="part is 'self', but must be 'encoder'"):
        figures.attention_heatmap(translator, QUERIES, part="self")


def test_a_part_of_what_has_no_parts_is_refused(gpt2):
    assert attention_of(gpt2, "self").shape == (3, 2, 5, 5)
    for weights in (gpt2.attentions, rows(3, 3)):
        with pytest.raises(ValueError, match="part is 'self', but must be None"):
            attention_of(weights, "self")


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_attention_that_the_model_did_not_keep_is_refused_with_what_to_do(implementation):
    config = transformers.GPT2Config(vocab_size=30, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    config._attn_implementation = implementation
    output = transformers.GPT2LMHeadModel(config).eval()(ids(5))
    with pytest.raises(ValueError, match=r"output_attentions=True.*attn_implementation='eager'"):
        figures.attention_heatmap(output, KEYS)
    with pytest.raises(ValueError, match="output_attentions=True"):  # as some versions say that a kernel gave none
        figures.attention_heatmap(SimpleNamespace(attentions=(None, None)), KEYS)


def test_several_texts_at_once_are_refused():
    config = transformers.BertConfig(vocab_size=30, **SIZES)
    output = read(transformers.BertModel, config, input_ids=ids(5).repeat(2, 1))
    with pytest.raises(ValueError, match="number of texts in weights is 2, but must be 1"):
        figures.attention_heatmap(output, KEYS)


def test_one_step_of_generate_is_drawn_and_all_of_them_refused_by_name():
    config = transformers.GPT2Config(vocab_size=30, n_positions=16, n_embd=8, n_layer=1, n_head=2, eos_token_id=None)
    config._attn_implementation = "eager"
    options = {"output_attentions": True, "return_dict_in_generate": True, "pad_token_id": 0, "do_sample": False}
    steps = transformers.GPT2LMHeadModel(config).eval().generate(ids(4), max_new_tokens=3, **options).attentions
    last = figures.attention_heatmap(steps[-1], ["new"], keys=["a", "b", "c", "d", "e", "f"])
    np.testing.assert_allclose(drawn(last), steps[-1][0][0], atol=0.0051)
    with pytest.raises(ValueError, match=r"one step of generate: weights\[0\]"):
        figures.attention_heatmap(steps, ["a"])


def test_dropout_that_is_on_is_named_where_it_makes_weights_above_1():
    with pytest.raises(ValueError, match=r"weights\[0, 0\] is 1.11.*eval\(\)"):
        figures.attention_heatmap([[1 / 0.9]], ["a"])


# Traces and arrays -------------------------------------------------------------------------------------------------


def test_a_trace_is_drawn_as_its_attention():
    model, _ = untrained()
    trace = gptlab.trace(model, ids(5))
    figure = figures.attention_heatmap(trace, KEYS, layer=1)
    np.testing.assert_allclose(drawn(figure), trace.attention.flatten(0, 2), atol=0.0051)
    with pytest.raises(ValueError, match="number of texts in weights is 2"):
        figures.attention_heatmap(gptlab.trace(model, ids(5).repeat(2, 1)), KEYS)
    with pytest.raises(ValueError, match=r"weights is Trace\(logits .*a trace with them"):
        figures.attention_heatmap(gptlab.trace(model, ids(5), keep={"logits"}), KEYS)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_of_any_kind_are_drawn(dtype):
    weights = torch.tensor(rows(3, 3, 2, 2)).to(dtype).requires_grad_()
    expected = figures.attention_heatmap(rows(3, 3, 2, 2), QUERIES)
    for given in (weights, list(weights), [layer[None] for layer in weights], rows(3, 3, 2, 2).tolist()):
        np.testing.assert_allclose(drawn(figures.attention_heatmap(given, QUERIES)), drawn(expected), atol=0.011)


def test_case_122_equal_tokens_keep_their_places_among_queries_and_among_keys():
    figure = figures.attention_heatmap(rows(3, 4), ["a", "b", "a"], keys=["x", "x", "y", "x"])
    assert figure.data[0].y.tolist() == [0, 1, 2] and figure.data[0].x.tolist() == [0, 1, 2, 3]
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "a"]
    assert list(figure.layout.xaxis.ticktext) == ["x", "x", "y", "x"]


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 4), (4, 1)])
def test_case_124_the_first_query_stands_on_top_and_each_cell_is_its_weight(shape):
    weights = rows(*shape)
    figure = figures.attention_heatmap(weights, ["q"] * shape[0], keys=["k"] * shape[1])
    low, high = figure.layout.yaxis.range
    assert (low, high) == (shape[0] - 0.5, -0.5)
    assert tuple(figure.layout.xaxis.range) == (-0.5, shape[1] - 0.5)
    np.testing.assert_allclose(figure.data[0].z, weights, rtol=1e-6)


@pytest.mark.parametrize("values", ["weights", "scores"])
def test_case_129_a_masked_key_is_masked_and_the_json_stays_strict(values):
    weights = rows(3, 5)
    weights[:, -1] = -np.inf if values == "scores" else np.nan
    figure = figures.attention_heatmap(weights, QUERIES, keys=KEYS, values=values)
    strict(figure)
    assert hatched(figure) and "later" not in figure.data[-1].text
    assert list(figure.data[-1].x[:2]) == [3.5, 4.5]


def test_case_130_a_translation_of_100_tokens_by_12_layers_is_small():
    weights = rows(100, 100, 6, 4)
    assert len(figures.attention_heatmap(weights, ["a"] * 100, keys=["b"] * 100).to_json()) < 400_000


def test_zeros_above_the_diagonal_of_another_text_are_no_mask():
    weights = np.tril(rows(3, 3))
    assert hatched(figures.attention_heatmap(weights, QUERIES))
    assert not hatched(figures.attention_heatmap(weights, QUERIES, keys=KEYS[:3]))


def test_the_words_say_how_many_keys_there_are():
    figure = figures.attention_heatmap([[0.25, 0.75], [0.9, 0.1]], ["a", "b"], keys=["x", "y"])
    assert words(figure) == (
        "Attention of 2 tokens to 2 keys: the last token ‘b’ looks most at ‘x’ (0): 0.90, then at ‘y’ (1): 0.10."
    )


@pytest.mark.parametrize("token", HOSTILE)
def test_hostile_keys_are_text(token):
    figure = figures.attention_heatmap([[0.5, 0.5]], ["a"], keys=[token, "b"])
    shown = figure.layout.xaxis.ticktext[0]
    assert not set("<>$%") & set(shown)
    app = apps.attention([[0.5, 0.5]], [token], keys=[token, "b"])
    axes = app._repr_mimebundle_()[FIGURE]["layout"]
    assert axes["yaxis"]["ticktext"] == [shown] and axes["xaxis"]["ticktext"][0] == shown


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (rows(3, 5), {}, r"shape of weights is \(3, 5\), but must be as many keys as queries.*keys=\["),
        (rows(3, 5, 2, 2), {}, r"shape of weights is \(2, 2, 3, 5\)"),
        (rows(3, 5), {"keys": KEYS[:4]}, "number of keys is 4, but must be 5, as weights are 3 × 5"),
        (rows(2, 5), {"keys": KEYS}, "number of tokens is 3, but must be 2, as weights are 2 × 5"),
        (rows(3, 5), {"keys": "abcde"}, "keys is 'abcde', but must be a list"),
        (rows(3, 3, 2), {}, r"draw one: weights\[0\]"),
        ([rows(3, 3, 1, 2), rows(3, 3, 1, 3)], {}, "shapes of the layers is"),
        ([rows(3, 3, 2, 2)] * 2, {}, "number of texts in weights is 2"),
        (SimpleNamespace(attention=rows(3, 3)), {}, r"shape of the attention is \(3, 3\)"),
        ([[1.0], [0.5, 0.5]], {}, "weights is .* must be numbers"),
        ("the cat", {}, "weights is 'the cat', but must be numbers"),
        (None, {}, "weights is None, but must be numbers"),
        ({"attentions": 1}, {}, "weights is {'attentions': 1}, but must be numbers"),
        ([["a"]], {}, "must be numbers"),
        ([], {}, r"shape of weights is \(0,\)"),
        (rows(3, 3) * 1j, {}, "must be numbers"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(weights, options, message):
    with pytest.raises(ValueError, match=message):
        figures.attention_heatmap(weights, QUERIES, **options)
    with pytest.raises(ValueError, match=message):
        apps.attention(weights, QUERIES, **options)


# The app -----------------------------------------------------------------------------------------------------------


def test_the_apps_sliders_choose_among_a_models_heads(gpt2):
    app = apps.attention(gpt2, KEYS)
    for layer in range(3):
        for head in range(2):
            app.layer.value, app.head.value = layer, head
            np.testing.assert_allclose(app.figure.data[0].z / 100, gpt2.attentions[layer][0, head], atol=0.0051)
    output = app._repr_mimebundle_()
    assert "layer 2 head 1 of 3 layers with 2 heads" in output[TEXT]
    assert [one["currentvalue"]["prefix"].strip() for one in output[FIGURE]["layout"]["sliders"]] == ["layer", "head"]


def test_the_app_shows_cross_attention_and_traces(translator):
    app = apps.attention(translator, QUERIES, keys=KEYS, part="cross")
    assert np.shape(app.figure.data[0].z) == (3, 5)
    assert list(app.figure.layout.xaxis.ticktext) == KEYS
    trace = gptlab.trace(untrained()[0], ids(5))
    np.testing.assert_allclose(
        apps.attention(trace, KEYS).figure.data[0].z / 100, trace.attention[0, 0, 0], atol=0.0051
    )


def test_one_matrix_needs_no_slider():
    figure = figures.attention_heatmap(rows(3, 3, 1, 4), QUERIES)
    assert [one.currentvalue.prefix.strip() for one in figure.layout.sliders] == ["head"]
    assert not figures.attention_heatmap(rows(3, 3, 1, 1), QUERIES).layout.sliders
    app = apps.attention(rows(3, 3), QUERIES)
    assert len(app.children) == 2  # the line and the figure
    assert len(apps.attention(rows(3, 3, 4, 1), QUERIES).children) == 3
    assert len(apps.attention([list(rows(3, 3, 2))], QUERIES).children) == 3


def test_case_133_a_masked_cell_stays_masked_when_a_slider_moves():
    weights = rows(3, 5, 2, 2)
    weights[..., -1] = np.nan
    app = apps.attention(weights, QUERIES, keys=KEYS)
    app.head.value = 1
    assert hatched(app.figure)
    np.testing.assert_allclose(np.asarray(app.figure.data[0].z, float)[:, :4], weights[0, 1][:, :4], rtol=1e-6)
    json.dumps(app._repr_mimebundle_()[FIGURE], allow_nan=False)


def test_the_app_of_a_model_needs_a_prompt_and_takes_no_keys():
    with pytest.raises(ValueError, match="prompt is None, but must be a text"):
        apps.attention(*untrained())
    with pytest.raises(ValueError, match="keys and part is"):
        apps.attention(*untrained(), "The cat", keys=["a"])


def test_nothing_of_transformers_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    layers = tuple(torch.tensor(rows(3, 5, 1, 2)) for _ in range(2))
    output = SimpleNamespace(attentions=None, cross_attentions=layers)
    assert attention_of(output).shape == (2, 2, 3, 5)
