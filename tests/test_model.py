"""The model against plain loops in float64, and the properties that make it a causal language model."""

from itertools import product
from math import log, sqrt

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from gptlab.cache import Cache
from gptlab.config import GPTConfig
from gptlab.model import (
    GPT,
    CausalSelfAttention,
    attention_pattern,
    attention_scores,
    causal_mask,
    evaluation_mode,
    sinusoidal_positions,
)
from tests.references import transformer

SIZES = {"vocab_size": 11, "context_length": 16, "n_layers": 2, "n_heads": 2, "d_model": 8}
NORMS = ["pre", "post"]


def lively(config, seed=0, deviation=0.4):
    """A model in which every weight matters: at 0.02 a wrong formula could pass for a rounding error."""
    torch.manual_seed(seed)
    model = GPT(config).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=deviation)
    return model


def random_ids(config, batch, tokens, seed=0):
    return torch.randint(config.vocab_size, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def written_out(model):
    for block in model.blocks:
        block.attention.fused = False
    return model


# Against the reference


@pytest.mark.parametrize(
    ("norm", "positions", "tie_weights", "activation", "bias"),
    list(
        product(NORMS, ["learned", "sinusoidal"], [True, False], ["gelu", "gelu_tanh", "relu"], [True, False]),
    ),
)
def test_logits_are_those_of_plain_loops(norm, positions, tie_weights, activation, bias):
    config = GPTConfig(
        **SIZES, norm=norm, positions=positions, tie_weights=tie_weights, activation=activation, bias=bias
    )
    model = lively(config)
    ids = random_ids(config, 2, 6)
    weights = transformer.weights_of(model.state_dict(), config)
    expected = [
        transformer.run(row, weights, n_heads=2, norm=norm, activation=activation)["logits"] for row in ids.tolist()
    ]
    expected = torch.tensor(expected)
    assert expected.std() > 0.1
    torch.testing.assert_close(model(ids), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(written_out(model)(ids), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_without_the_causal_mask_the_model_is_the_reference_encoder(norm):
    config = GPTConfig(**SIZES, norm=norm, causal=False)
    model = lively(config)
    ids = random_ids(config, 1, 6)
    weights = transformer.weights_of(model.state_dict(), config)
    expected = transformer.run(ids[0].tolist(), weights, n_heads=2, norm=norm, activation="gelu", causal=False)
    expected = torch.tensor([expected["logits"]])
    torch.testing.assert_close(model(ids), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(written_out(model)(ids), expected, atol=1e-5, rtol=1e-5)


def test_sinusoidal_positions_are_the_papers():
    for d in (1, 7, 8):
        expected = torch.tensor([transformer.sinusoid(t, d) for t in range(300)])
        torch.testing.assert_close(sinusoidal_positions(300, d), expected, atol=1e-6, rtol=0)


def test_sinusoidal_positions_are_neither_learned_nor_saved():
    model = GPT(GPTConfig(**SIZES, positions="sinusoidal"))
    assert not any("position" in name for name in [*model.state_dict(), *dict(model.named_parameters())])


def test_tied_weights_are_one_tensor_and_untied_are_two():
    tied, untied = GPT(GPTConfig(**SIZES)), GPT(GPTConfig(**SIZES, tie_weights=False))
    assert sum(tuple(tensor.shape) == (11, 8) for tensor in tied.state_dict().values()) == 1
    assert sum(tuple(tensor.shape) == (11, 8) for tensor in untied.state_dict().values()) == 2
    hidden = torch.randn(3, 8)
    before = tied.unembed(hidden)
    with torch.no_grad():
        tied.token_embedding.weight.mul_(2)
    torch.testing.assert_close(tied.unembed(hidden), 2 * before)


def test_hidden_then_unembed_is_the_model():
    model = lively(GPTConfig(**SIZES))
    ids = random_ids(model.config, 2, 5)
    hidden = model.hidden(ids)
    assert hidden.shape == (2, 5, 8)
    assert torch.equal(model.unembed(hidden), model(ids))
    assert torch.equal(model.unembed(hidden[:, -1]), model.unembed(hidden)[:, -1])


# Attention


def test_case_79_worked_values():
    q = k = torch.eye(2)
    mask = causal_mask(2, 2)
    expected = torch.tensor([[1.0, 0.0], [0.330238, 0.669762]])
    torch.testing.assert_close(attention_pattern(attention_scores(q, k), mask), expected, atol=1e-6, rtol=0)
    expected = torch.tensor([[1.0, 0.0], [0.268941, 0.731059]])
    torch.testing.assert_close(attention_pattern(q @ k.T, mask), expected, atol=1e-6, rtol=0)


def test_case_79_equal_scores_share_equally():
    pattern = attention_pattern(torch.full((5, 5), 3.0), causal_mask(5, 5))
    expected = torch.tensor([[1 / (i + 1) if j <= i else 0.0 for j in range(5)] for i in range(5)])
    torch.testing.assert_close(pattern, expected, atol=1e-7, rtol=0)


def test_the_column_form_of_the_notes_is_the_same_attention():
    """V·softmax(KᵀQ/√dk) with vectors as columns and the softmax down each column."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 6, 4)
    rows = attention_pattern(attention_scores(q, k)) @ v
    Q, K, V = q.T, k.T, v.T
    torch.testing.assert_close(V @ (K.T @ Q / sqrt(4)).softmax(0), rows.T)


def test_scores_of_random_vectors_have_variance_one():
    torch.manual_seed(0)
    q, k = torch.randn(2, 500, 64)
    assert attention_scores(q, k).var().item() == pytest.approx(1, abs=0.02)
    assert (q @ k.T).var().item() == pytest.approx(64, abs=2)


@pytest.mark.parametrize("tokens", [1, 2, 16])
@pytest.mark.parametrize("norm", NORMS)
def test_case_78_fused_equals_written_out(tokens, norm):
    model = lively(GPTConfig(**SIZES, norm=norm))
    ids = random_ids(model.config, 3, tokens)
    fused = model(ids)
    torch.testing.assert_close(written_out(model)(ids), fused, atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_case_80_a_row_with_every_key_hidden_is_zero_on_both_paths(dtype):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 4, 8).to(dtype).requires_grad_()
    mask = causal_mask(4, 4)
    mask[2] = False
    pattern = attention_pattern(attention_scores(q, k), mask)
    assert torch.equal(pattern[0, :, 2], torch.zeros(2, 4))
    torch.testing.assert_close(pattern[0, :, 3].sum(-1), torch.ones(2))
    written = pattern.to(dtype) @ v
    fused = F.scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(written, fused, atol=1e-6 if dtype == torch.float32 else 2e-2, rtol=0)
    (gradient,) = torch.autograd.grad(written.float().square().sum(), q)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [60_000.0, -60_000.0, 1_000_000.0])
def test_case_95_half_types_stay_finite_at_large_scores(dtype, size):
    """Large and negative ones too: a mask of -1e4 or -1e10 in place of -inf would draw the look to hidden keys."""
    q = torch.full((1, 2, 5, 8), sqrt(abs(size) * sqrt(8) / 8)).to(dtype)
    k = q if size > 0 else -q
    scores = attention_scores(q, k)
    assert scores.isfinite().all()
    torch.testing.assert_close(scores, torch.full_like(scores, size), atol=0, rtol=0.01)
    pattern = attention_pattern(scores, causal_mask(5, 5))
    expected = torch.tensor([[1 / (i + 1) if j <= i else 0.0 for j in range(5)] for i in range(5)])
    torch.testing.assert_close(pattern[0, 0], expected)
    v = torch.randn(1, 2, 5, 8).to(dtype)
    torch.testing.assert_close(
        pattern.to(dtype) @ v, F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=2e-2, rtol=0
    )


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_case_95_the_model_in_half_types_is_near_itself_in_float32(dtype, fused):
    model = lively(GPTConfig(**SIZES), deviation=0.2)
    ids = random_ids(model.config, 2, 16)
    expected = model(ids)
    model = model.to(dtype)
    logits = (model if fused else written_out(model))(ids)
    assert logits.dtype == dtype
    torch.testing.assert_close(logits.float(), expected, atol=0.1, rtol=0)


# The future does not leak


def test_case_81_changing_id_10_of_16_leaves_the_logits_before_it_bit_for_bit():
    config = GPTConfig(**SIZES)
    ids = random_ids(config, 1, 16)
    other = ids.clone()
    other[0, 10] = (ids[0, 10] + 1) % config.vocab_size
    for norm, fused in product(NORMS, [True, False]):
        model = lively(GPTConfig(**SIZES, norm=norm))
        model = model if fused else written_out(model)
        before, after = model(ids), model(other)
        assert torch.equal(before[:, :10], after[:, :10])
        assert ((before - after).abs().amax(-1)[0, 10:] > 0).all()


@settings(max_examples=60)
@given(data=st.data())
def test_changing_a_token_never_changes_the_logits_before_it(data):
    norm = data.draw(st.sampled_from(NORMS))
    positions = data.draw(st.sampled_from(["learned", "sinusoidal"]))
    model = lively(GPTConfig(**SIZES, norm=norm, positions=positions))
    tokens = data.draw(st.integers(2, 16))
    changed = data.draw(st.integers(0, tokens - 1))
    cuts = sorted(data.draw(st.sets(st.integers(1, tokens - 1), max_size=4)))
    ids = random_ids(model.config, 2, tokens, seed=data.draw(st.integers(0, 99)))
    other = ids.clone()
    other[:, changed] = (ids[:, changed] + 1) % model.config.vocab_size

    def logits(ids):
        cache = Cache(2, 16)
        with torch.no_grad():
            return torch.cat([model(piece, cache) for piece in ids.tensor_split(cuts, dim=1)], dim=1)

    assert torch.equal(logits(ids)[:, :changed], logits(other)[:, :changed])
    assert not torch.equal(logits(ids)[:, changed], logits(other)[:, changed])
    torch.testing.assert_close(logits(ids), model(ids), atol=1e-5, rtol=0)


def test_an_encoder_sees_the_future():
    model = lively(GPTConfig(**SIZES, causal=False))
    ids = random_ids(model.config, 1, 16)
    other = ids.clone()
    other[0, 10] = (ids[0, 10] + 1) % 11
    assert ((model(ids) - model(other)).abs().amax(-1) > 0).all()


# The cache, as the model uses it


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("prompt", [1, 2, 15])
@pytest.mark.parametrize("fused", [True, False])
def test_case_48_cached_logits_equal_uncached_ones_at_every_step(norm, positions, batch, prompt, fused):
    model = lively(GPTConfig(**SIZES, norm=norm, positions=positions))
    model = model if fused else written_out(model)
    ids = random_ids(model.config, batch, 16)
    cache = Cache(2, 16)
    with torch.no_grad():
        torch.testing.assert_close(model(ids[:, :prompt], cache), model(ids[:, :prompt]), atol=1e-5, rtol=0)
        for t in range(prompt, 16):
            step = model(ids[:, t : t + 1], cache)
            assert cache.length == t + 1
            torch.testing.assert_close(step[:, 0], model(ids[:, : t + 1])[:, -1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("fused", [True, False])
def test_case_48_several_tokens_at_once_behind_cached_ones(fused):
    model = lively(GPTConfig(**SIZES))
    model = model if fused else written_out(model)
    ids = random_ids(model.config, 2, 16)
    for cuts in ([7], [1, 2, 9], [3, 4, 5, 15]):
        cache = Cache(2, 16)
        with torch.no_grad():
            pieces = [model(piece, cache) for piece in ids.tensor_split(cuts, dim=1)]
        torch.testing.assert_close(torch.cat(pieces, dim=1), model(ids), atol=1e-5, rtol=0)


def test_any_object_with_update_and_length_is_a_cache():
    class Growing:
        def __init__(self):
            self.length, self.held = 0, {}

        def update(self, layer, k, v):
            if layer in self.held:
                k, v = torch.cat([self.held[layer][0], k], 2), torch.cat([self.held[layer][1], v], 2)
            self.held[layer] = k, v
            self.length = k.shape[2] if layer == 1 else self.length
            return k, v

    model = lively(GPTConfig(**SIZES))
    ids, cache = random_ids(model.config, 2, 9), Growing()
    model(ids[:, :5], cache)
    torch.testing.assert_close(model(ids[:, 5:], cache), model(ids)[:, 5:], atol=1e-5, rtol=0)


def test_a_cache_is_refused_where_tokens_see_later_ones():
    model = GPT(GPTConfig(**SIZES, causal=False))
    with pytest.raises(ValueError, match="cache is .*, but must be None"):
        model(torch.zeros(1, 2, dtype=torch.int64), Cache(2, 16))


# Weights at the start, dropout


@pytest.mark.parametrize("vocab_size", [65, 256, 1_000, 50_257])
@pytest.mark.parametrize(
    ("norm", "tie_weights", "positions"),
    [("pre", True, "learned"), ("post", True, "learned"), ("pre", False, "learned"), ("pre", True, "sinusoidal")],
)
def test_case_88_the_first_loss_is_ln_v(vocab_size, norm, tie_weights, positions):
    torch.manual_seed(0)
    config = GPTConfig(vocab_size, 64, 4, 4, 64, norm=norm, tie_weights=tie_weights, positions=positions)
    model = GPT(config).eval()
    ids = random_ids(config, 4, 64)
    with torch.no_grad():
        loss = F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    assert loss.item() == pytest.approx(log(vocab_size), abs=0.1)


def test_weights_start_as_gpt2s():
    torch.manual_seed(0)
    model = GPT(GPTConfig(1_000, 128, 8, 4, 128, tie_weights=False))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        else:
            writes_residual = "attention.output" in name or "mlp.down" in name
            expected = 0.02 / sqrt(16) if writes_residual else 0.02
            assert parameter.std().item() == pytest.approx(expected, rel=0.05), name
            assert parameter.mean().item() == pytest.approx(0, abs=expected / 20), name


@pytest.mark.parametrize("fused", [True, False])
def test_case_57_dropout_is_off_in_evaluation_on_both_paths(fused):
    model = GPT(GPTConfig(**SIZES, dropout=0.5))
    model = model if fused else written_out(model)
    ids = random_ids(model.config, 2, 8)
    assert not torch.equal(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


@pytest.mark.parametrize("fused", [True, False])
def test_dropout_of_the_pattern_drops_pairs_and_scales_the_rest(fused):
    """One key, one value: what passes is 0 or v / (1 - p), in both paths."""
    torch.manual_seed(0)
    attention = CausalSelfAttention(GPTConfig(**SIZES, dropout=0.25), layer=0)
    attention.fused, attention.dropout.p = fused, 0.0
    nn.init.eye_(attention.output.weight)
    nn.init.zeros_(attention.output.bias)
    x = torch.randn(500, 1, 8)
    v = attention.qkv(x)[..., 16:].unflatten(-1, (2, 4))
    ratio = (attention(x).unflatten(-1, (2, 4)) / v).mean(-1)
    dropped = ratio.abs() < 1e-6
    torch.testing.assert_close(ratio[~dropped], torch.full_like(ratio[~dropped], 4 / 3))
    assert dropped.float().mean().item() == pytest.approx(0.25, abs=0.05)


def test_case_58_evaluation_mode_gives_every_module_back_its_mode():
    model = GPT(GPTConfig(**SIZES, dropout=0.5))
    model.blocks[0].eval()
    modes = [module.training for module in model.modules()]
    assert len(set(modes)) == 2
    with pytest.raises(KeyboardInterrupt), evaluation_mode(model):
        assert not any(module.training for module in model.modules())
        raise KeyboardInterrupt
    assert [module.training for module in model.modules()] == modes


def test_gradients_reach_every_weight():
    for norm, fused in product(NORMS, [True, False]):
        model = lively(GPTConfig(**SIZES, norm=norm, tie_weights=False))
        model = model if fused else written_out(model)
        model(random_ids(model.config, 2, 16)).square().mean().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


# Refusals


@pytest.fixture(scope="module")
def model():
    return GPT(GPTConfig(**SIZES)).eval()


@pytest.mark.parametrize("bad", [11, -1, 2**40])
def test_an_id_outside_the_vocabulary_is_refused_with_its_place(model, bad):
    ids = random_ids(model.config, 2, 6)
    ids[1, 3] = bad
    with pytest.raises(ValueError, match=rf"^ids\[1, 3\] is {bad}, but must be a token id from 0 to 10"):
        model(ids)


def test_case_47_more_tokens_than_the_context_are_refused_naming_both_numbers(model):
    with pytest.raises(ValueError, match="the number of tokens is 17, but must be at most .* context_length of 16"):
        model(random_ids(model.config, 1, 17))
    assert model(random_ids(model.config, 1, 16)).shape == (1, 16, 11)


def test_the_context_counts_cached_tokens(model):
    cache = Cache(2, 16)
    model(random_ids(model.config, 1, 10), cache)
    with pytest.raises(ValueError, match="is 17, but must be at most .* 16, 10 cached tokens included"):
        model(random_ids(model.config, 1, 7), cache)
    assert cache.length == 10


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bool])
def test_ids_of_another_type_are_refused(model, dtype):
    with pytest.raises(ValueError, match=f"ids' type is {dtype}, but must be a tensor of torch.int64"):
        model(torch.ones(1, 4, dtype=dtype))


@pytest.mark.parametrize("ids", [[1, 2, 3], None, "a cat"])
def test_what_is_no_tensor_is_refused(model, ids):
    with pytest.raises(ValueError, match="ids' type is .*, but must be a tensor of torch.int64"):
        model(ids)


@pytest.mark.parametrize("shape", [(4,), (1, 2, 3), (), (1, 0), (0, 4)])
def test_ids_of_another_shape_are_refused(model, shape):
    with pytest.raises(ValueError, match="ids' shape is .*, but must be \\(batch, tokens\\)"):
        model(torch.zeros(shape, dtype=torch.int64))
