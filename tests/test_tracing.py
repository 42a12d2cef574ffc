"""Traces against plain loops, and that neither a trace nor an intervention leaves anything behind in the model."""

from itertools import product

import psutil
import pytest
import torch
from torch import nn

from gptlab.cache import Cache
from gptlab.config import GPTConfig
from gptlab.model import GPT
from gptlab.tracing import PARTS, intervene, trace, trace_bytes
from tests.references import transformer

SIZES = {"vocab_size": 11, "context_length": 16, "n_layers": 3, "n_heads": 2, "d_model": 8}
B, T, L, H, D, DK, V = 2, 6, 3, 2, 8, 4, 11


def lively(config, deviation=0.4):
    torch.manual_seed(0)
    model = GPT(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=deviation)
    return model


@pytest.fixture
def model():
    return lively(GPTConfig(**SIZES)).eval()


@pytest.fixture
def ids():
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(1))


def hooks(model):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


# What a trace holds


@pytest.mark.parametrize(("norm", "causal"), list(product(["pre", "post"], [True, False])))
def test_every_part_is_that_of_plain_loops(norm, causal, ids):
    model = lively(GPTConfig(**SIZES, norm=norm, causal=causal))
    weights = transformer.weights_of(model.state_dict(), model.config)
    seen = trace(model, ids)
    for b in range(B):
        run = transformer.run(ids[b].tolist(), weights, n_heads=H, norm=norm, activation="gelu", causal=causal)
        assert set(PARTS) == set(run)
        for name in PARTS:
            part = getattr(seen, name)
            row = part[b] if name == "logits" else part[:, b]
            torch.testing.assert_close(row, torch.tensor(run[name]), atol=2e-5, rtol=1e-5, msg=name)


def test_shapes(model, ids):
    shapes = {name: tuple(getattr(trace(model, ids), name).shape) for name in PARTS}
    assert shapes == {
        "attention": (L, B, H, T, T),
        "scores": (L, B, H, T, T),
        "q": (L, B, H, T, DK),
        "k": (L, B, H, T, DK),
        "v": (L, B, H, T, DK),
        "residual": (L + 1, B, T, D),
        "mlp": (L, B, T, D),
        "logits": (B, T, V),
    }


@pytest.mark.parametrize("tokens", [1, 2, 16])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_case_78_attention_is_whole_and_capturing_changes_nothing(tokens, norm):
    model = lively(GPTConfig(**SIZES, norm=norm)).eval()
    ids = torch.randint(V, (B, tokens), generator=torch.Generator().manual_seed(2))
    before = model(ids)
    seen = trace(model, ids)
    assert seen.attention.shape == (L, B, H, tokens, tokens)
    torch.testing.assert_close(seen.attention.sum(-1), torch.ones(L, B, H, tokens), atol=1e-6, rtol=0)
    above = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    assert (seen.attention[..., above] == 0).all()
    assert seen.scores.isfinite().all()
    torch.testing.assert_close(seen.logits, before, atol=1e-5, rtol=0)
    assert torch.equal(model(ids), before)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_last_residual_leads_to_the_logits(norm, ids):
    model = lively(GPTConfig(**SIZES, norm=norm)).eval()
    seen = trace(model, ids)
    torch.testing.assert_close(model.unembed(model.final_norm(seen.residual[L])), seen.logits)
    torch.testing.assert_close(seen.residual[0], model.token_embedding(ids) + model.position_embedding[:T])


def test_only_what_is_asked_for_is_kept(model, ids):
    seen = trace(model, ids, keep={"attention", "q"})
    assert repr(seen) == "Trace(q (3, 2, 2, 6, 4), attention (3, 2, 2, 6, 6))"  # in the order computed
    assert torch.equal(seen.attention, trace(model, ids).attention)
    with pytest.raises(AttributeError, match="this trace kept attention, q, not logits"):
        seen.logits  # noqa: B018 - the access is what is refused


@pytest.mark.parametrize(
    ("keep", "last"),
    [({"q"}, "mlp 1"), ({"attention", "q"}, "mlp 1"), ({"residual"}, "mlp 2"), ({"mlp", "k"}, "mlp 2"), (None, "norm")],
)
def test_the_pass_ends_where_nothing_more_is_asked_for(model, ids, keep, last):
    ran, places = [], {f"mlp {layer}": block.mlp for layer, block in enumerate(model.blocks)}
    for name, module in (places | {"norm": model.final_norm}).items():
        module.register_forward_hook(lambda *args, name=name: ran.append(name))
    trace(model, ids, keep)
    assert ran[-1] == last


def test_half_types_are_traced(ids):
    model = lively(GPTConfig(**SIZES), deviation=0.2).bfloat16()
    seen = trace(model, ids)
    torch.testing.assert_close(seen.attention.sum(-1), torch.ones(L, B, H, T), atol=1e-6, rtol=0)
    assert seen.residual.dtype == seen.logits.dtype == torch.bfloat16


# What a trace leaves behind: nothing


def test_case_58_the_mode_is_left_as_it_was_and_dropout_is_off_meanwhile(ids):
    model = lively(GPTConfig(**SIZES, dropout=0.5)).train()
    model.blocks[1].eval()
    modes = [module.training for module in model.modules()]
    first, second = trace(model, ids), trace(model, ids)
    assert [module.training for module in model.modules()] == modes
    for name in PARTS:
        assert torch.equal(getattr(first, name), getattr(second, name)), name


def test_the_model_is_left_as_it_was_also_by_an_exception(model, ids):
    model.train()

    def broken(module, args):
        raise KeyboardInterrupt

    handle = model.blocks[2].register_forward_pre_hook(broken)
    with pytest.raises(KeyboardInterrupt):
        trace(model, ids)
    handle.remove()
    assert hooks(model) == 0
    assert model.training
    assert all(block.attention.fused for block in model.blocks)


def test_no_gradient_is_recorded_and_gradient_mode_is_left_on(model, ids):
    seen = trace(model, ids)
    assert not any(getattr(seen, name).requires_grad for name in PARTS)
    assert torch.is_grad_enabled()
    assert model(ids).requires_grad


def test_a_later_trace_does_not_change_an_earlier_one(model, ids):
    first = trace(model, ids)
    copies = {name: getattr(first, name).clone() for name in PARTS}
    trace(model, ids.flip(1))
    assert all(torch.equal(getattr(first, name), copies[name]) for name in PARTS)


def test_case_86_memory_stays_flat_over_20_traces():
    model = GPT(GPTConfig(64, 256, 4, 8, 64)).eval()
    ids = torch.zeros(1, 256, dtype=torch.int64)
    size = trace_bytes(model.config, 1, 256)
    assert size > 15_000_000

    def highest_of_20():
        """One figure says little: the allocator gives memory back when it likes."""
        resident = []
        for _ in range(20):
            trace(model, ids)
            resident.append(psutil.Process().memory_info().rss)
        return max(resident)

    before = highest_of_20()
    assert highest_of_20() < before + 10 * size
    assert hooks(model) == 0


@pytest.mark.parametrize(("tokens", "megabytes"), [(128, 9.4), (512, 151.0), (1_024, 604.0)])
def test_case_86_the_attention_of_gpt2_in_bytes(tokens, megabytes):
    size = trace_bytes(GPTConfig.preset("gpt2"), 1, tokens, {"attention"})
    assert size / 1e6 == pytest.approx(megabytes, abs=0.05)
    assert size == 4 * 12 * 12 * tokens**2


@pytest.mark.parametrize("keep", [None, {"attention"}, {"q", "residual"}, {"mlp", "logits", "scores"}])
def test_case_86_trace_bytes_is_what_a_trace_holds(model, ids, keep):
    held = sum(tensor.nbytes for tensor in vars(trace(model, ids, keep)).values())
    assert trace_bytes(model.config, B, T, keep) == held


def test_case_86_a_trace_too_large_is_refused_before_anything_is_computed(model, ids):
    size = trace_bytes(model.config, B, T)
    model.blocks[0].register_forward_pre_hook(lambda module, args: pytest.fail("computed"))
    with pytest.raises(ValueError, match=f"trace's size in bytes is {size}, but must be at most max_bytes"):
        trace(model, ids, max_bytes=size - 1)


# Refusals


def test_ids_are_refused_as_by_the_model(model, ids):
    for bad in (ids + 8, ids[0], ids.float(), ids.repeat(1, 3), ids[:, :0]):
        with pytest.raises(ValueError) as by_model:
            model(bad)
        with pytest.raises(ValueError) as by_trace:
            trace(model, bad)
        assert str(by_trace.value) == str(by_model.value)


@pytest.mark.parametrize("keep", [{"attention", "weights"}, "attention", ["Q"]])
def test_an_unknown_name_to_keep_is_answered_with_the_known_ones(model, ids, keep):
    with pytest.raises(ValueError, match="keep is .*, but must be None or a set of names among attention, scores, q"):
        trace(model, ids, keep=keep)


# Interventions


def without_head(model, layer, head):
    """The same model with that head's rows of W_O at zero: nothing of the head reaches the residual."""
    other = GPT(model.config).eval()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        other.blocks[layer].attention.output.weight[:, head * DK : (head + 1) * DK] = 0
    return other


@pytest.mark.parametrize(("layer", "head"), list(product(range(L), range(H))))
def test_an_ablated_head_adds_nothing(model, ids, layer, head):
    expected = without_head(model, layer, head)(ids)
    before = model(ids)
    with intervene(model, heads=[(layer, head)]):
        changed = model(ids)
    torch.testing.assert_close(changed, expected, atol=1e-5, rtol=0)
    assert (changed - before).abs().max() > 1e-3
    assert torch.equal(model(ids), before)


def test_several_heads_and_nested_blocks_add_up(model, ids):
    expected = without_head(without_head(model, 0, 1), 2, 0)(ids)
    before = model(ids)
    with intervene(model, heads=[(0, 1), (2, 0)]):
        torch.testing.assert_close(model(ids), expected, atol=1e-5, rtol=0)
    with intervene(model, heads=[(0, 1)]):
        outer = model(ids)
        with intervene(model, heads=[(2, 0)]):
            torch.testing.assert_close(model(ids), expected, atol=1e-5, rtol=0)
        assert torch.equal(model(ids), outer)
    assert torch.equal(model(ids), before)
    assert hooks(model) == 0


def test_an_edited_pattern_takes_the_place_of_the_models(model, ids):
    """Looking only at oneself in layer 1: each head there gives the token's own value."""
    calls = []

    def only_self(layer, pattern):
        calls.append((layer, tuple(pattern.shape)))
        return torch.eye(T).expand_as(pattern) if layer == 1 else pattern

    before = trace(model, ids)
    with intervene(model, pattern=only_self):
        seen = trace(model, ids)
        logits = model(ids)
    assert calls == 2 * [(layer, (B, H, T, T)) for layer in range(L)]
    assert torch.equal(seen.attention[1], torch.eye(T).expand(B, H, T, T))
    assert torch.equal(seen.attention[0], before.attention[0])
    torch.testing.assert_close(logits, seen.logits)

    block, x = model.blocks[1], seen.residual[1]
    values = block.attention.qkv(block.attention_norm(x))[..., 2 * D :]
    x = x + block.attention.output(values)
    torch.testing.assert_close(seen.residual[2], x + block.mlp(block.mlp_norm(x)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_dropped_mask_makes_the_model_an_encoder(norm, ids):
    model = lively(GPTConfig(**SIZES, norm=norm)).eval()
    encoder = GPT(GPTConfig(**SIZES, norm=norm, causal=False)).eval()
    encoder.load_state_dict(model.state_dict())
    before = model(ids)
    with intervene(model, mask=False):
        torch.testing.assert_close(model(ids), encoder(ids), atol=1e-5, rtol=0)
        assert (trace(model, ids).attention > 0).all()
        with pytest.raises(ValueError, match="cache is .*, but must be None"):
            model(ids, Cache(L, 16))
        with intervene(model, heads=[(0, 0)]):
            assert (trace(model, ids).attention > 0).all()
    assert torch.equal(model(ids), before)


def test_interventions_hold_behind_a_cache(model, ids):
    cache = Cache(L, 16)
    with intervene(model, heads=[(1, 1)]), torch.no_grad():
        expected = model(ids)
        steps = [model(ids[:, t : t + 1], cache) for t in range(T)]
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, atol=1e-5, rtol=0)


def test_an_intervention_ends_by_exception_too(model, ids):
    before = model(ids)
    with pytest.raises(KeyboardInterrupt), intervene(model, heads=[(0, 0)], pattern=lambda _, p: p / 2, mask=False):
        raise KeyboardInterrupt
    assert torch.equal(model(ids), before)
    assert hooks(model) == 0
    assert all(block.attention.fused and block.attention.causal for block in model.blocks)


def test_gradients_pass_through_an_intervention(model, ids):
    with intervene(model, heads=[(1, 0)]):
        model(ids).square().mean().backward()
    gradient = model.blocks[1].attention.output.weight.grad
    assert not gradient[:, :DK].any()
    assert gradient[:, DK:].all()


@pytest.mark.parametrize("pair", [(3, 0), (0, 2), (-1, 0), (0, -1)])
def test_a_head_that_does_not_exist_is_refused_by_name(model, ids, pair):
    with (
        pytest.raises(
            ValueError, match=r"a pair in heads is \(.*\), but must be .* from \(0, 0\) to \(2, 1\)"
        ) as refusal,
        intervene(model, heads=[(0, 0), pair]),
    ):
        pytest.fail("entered")
    assert str(pair) in str(refusal.value)
    assert hooks(model) == 0


@pytest.mark.parametrize("edit", [lambda _, p: p[..., :2], lambda _, p: p.sum(0)])
def test_a_pattern_of_another_shape_is_refused(model, ids, edit):
    with (
        pytest.raises(ValueError, match=r"shape of what pattern gave is \(.*\), but must be \(2, 2, 6, 6\), as it was"),
        intervene(model, pattern=edit),
    ):
        model(ids)
    assert hooks(model) == 0


def test_a_pattern_that_gives_nothing_back_is_refused(model, ids):
    with pytest.raises(ValueError, match="what pattern gave is None"), intervene(model, pattern=lambda _, p: None):
        model(ids)
