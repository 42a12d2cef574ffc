"""The loss against plain loops in float64, and what counts in it."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from gptlab import GPT, GPTConfig, next_token_loss
from gptlab.corpus import IGNORE, Batch
from gptlab.loss import batch_loss, mean_loss, perplexity, scoring_windows
from gptlab.model import evaluation_mode
from tests.references import learning


def logits_and_ids(batch, tokens, vocab, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(batch, tokens, vocab, generator=generator, dtype=torch.float64)
    return logits.to(dtype), torch.randint(vocab, (batch, tokens), generator=generator)


def small_model(vocab=13, context=24, **changed):
    torch.manual_seed(0)
    return GPT(GPTConfig(vocab, context, 2, 2, 16, **changed)).eval()


@settings(max_examples=30)
@given(st.integers(1, 3), st.integers(2, 7), st.integers(1, 9), st.integers(0, 1000))
def test_the_loss_of_a_text_is_the_papers_double_sum(batch, tokens, vocab, seed):
    logits, ids = logits_and_ids(batch, tokens, vocab, seed)
    by_loops = [learning.text_loss(z, x) for z, x in zip(logits.tolist(), ids.tolist(), strict=True)]
    assert next_token_loss(logits, ids, "sum").item() == pytest.approx(sum(by_loops), abs=1e-9)
    assert next_token_loss(logits, ids).item() == pytest.approx(sum(by_loops) / (batch * (tokens - 1)), abs=1e-9)
    assert next_token_loss(logits, ids, "none").sum(1).tolist() == pytest.approx(by_loops, abs=1e-9)


def test_the_gradient_is_what_the_model_says_minus_what_is_there():
    logits, ids = logits_and_ids(2, 5, 7)
    logits.requires_grad_()
    next_token_loss(logits, ids, "sum").backward()
    by_loops = [learning.text_loss_gradient(z, x) for z, x in zip(logits.tolist(), ids.tolist(), strict=True)]
    torch.testing.assert_close(logits.grad, torch.tensor(by_loops, dtype=torch.float64))


def test_a_text_of_four_tokens_has_three_terms():
    logits, ids = logits_and_ids(1, 4, 6)
    log_p = logits.log_softmax(-1)[0]
    terms = [-log_p[i, ids[0, i + 1]].item() for i in range(3)]
    assert next_token_loss(logits, ids, "none")[0].tolist() == pytest.approx(terms)


def test_case_88_the_first_loss_of_a_model_is_near_the_logarithm_of_the_vocabulary():
    for vocab in (65, 256):
        model = small_model(vocab)
        ids = torch.randint(vocab, (8, 24), generator=torch.Generator().manual_seed(1))
        assert next_token_loss(model(ids), ids).item() == pytest.approx(math.log(vocab), abs=0.1)


def test_case_90_no_target_of_a_row_is_predicted_from_another_row():
    logits, ids = logits_and_ids(2, 5, 7)
    other = ids.clone()
    other[1] = (other[1] + 1) % 7
    before, after = next_token_loss(logits, ids, "none"), next_token_loss(logits, other, "none")
    assert before.shape == (2, 4)
    assert torch.equal(before[0], after[0])
    assert not torch.isclose(before[1], after[1]).any()


@pytest.mark.parametrize("wrong", [-1, -99, 7, 50_256])
def test_case_93_a_target_outside_the_vocabulary_is_refused_with_its_place(wrong):
    logits, ids = logits_and_ids(2, 5, 7)
    ids[1, 3] = wrong
    with pytest.raises(ValueError, match=rf"ids\[1, 3\] is {wrong}, .*0 to 6, or -100"):
        next_token_loss(logits, ids)
    targets = torch.tensor([[0, 1], [2, wrong]])
    with pytest.raises(ValueError, match=rf"targets\[1, 1\] is {wrong}, "):
        batch_loss(small_model(7), Batch(torch.zeros(2, 2, dtype=torch.long), targets))


def test_case_93_only_the_documented_value_is_ignored():
    logits, ids = logits_and_ids(2, 5, 7)
    padded = ids.clone()
    padded[1, 2:] = IGNORE
    each = next_token_loss(logits, ids, "none")
    counted = torch.cat([each[0], each[1, :1]])
    torch.testing.assert_close(next_token_loss(logits, padded), counted.mean())
    torch.testing.assert_close(next_token_loss(logits, padded, "sum"), counted.sum())
    assert next_token_loss(logits, padded, "none")[1, 1:].tolist() == [0, 0, 0]


def test_nothing_to_predict_is_refused():
    logits, ids = logits_and_ids(2, 5, 7)
    with pytest.raises(ValueError, match="two tokens"):
        next_token_loss(logits[:, :1], ids[:, :1])
    ids[:, 1:] = IGNORE
    with pytest.raises(ValueError, match="some target counts"):
        next_token_loss(logits, ids)
    with pytest.raises(ValueError, match="reduction is 'average'"):
        next_token_loss(logits, ids, "average")
    with pytest.raises(ValueError, match="without a target"):
        mean_loss(small_model(), [])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_logits_in_half_precision_are_read_as_float32(dtype):
    logits, ids = logits_and_ids(2, 5, 2000, dtype=dtype)
    loss = next_token_loss(logits, ids)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, next_token_loss(logits.float(), ids))
    assert next_token_loss(logits.sign() * 60_000, ids).isfinite()


def test_a_batch_and_the_ids_it_was_cut_from_have_one_loss():
    model = small_model()
    ids = torch.randint(13, (3, 9), generator=torch.Generator().manual_seed(1))
    one_call = next_token_loss(model(ids), ids)
    torch.testing.assert_close(batch_loss(model, Batch(ids[:, :-1], ids[:, 1:])), one_call)


def test_case_100_losses_are_averaged_over_tokens_before_exp():
    short, long = [5.0] * 2, [2.0] * 10
    assert perplexity(sum(short + long) / 12) == pytest.approx(12.182494, abs=1e-6)


def test_case_100_batches_weigh_by_their_tokens():
    model = small_model()
    ids = torch.randint(13, (2, 24), generator=torch.Generator().manual_seed(1))
    each = next_token_loss(model(ids), ids, "none")
    parts = [Batch(ids[:1, :4], ids[:1, 1:5]), Batch(ids[1:, :23], ids[1:, 1:])]
    expected = torch.cat([each[0, :4], each[1]]).mean().item()
    assert mean_loss(model, parts) == pytest.approx(expected, abs=1e-6)


def test_case_100_padding_is_no_token():
    model = small_model()
    ids = torch.randint(13, (2, 9), generator=torch.Generator().manual_seed(1))
    targets = ids[:, 1:].clone()
    targets[1, 3:] = IGNORE
    each = next_token_loss(model(ids), ids, "none")
    expected = torch.cat([each[0], each[1, :3]]).mean().item()
    assert mean_loss(model, [Batch(ids[:, :-1], targets)]) == pytest.approx(expected, abs=1e-6)


def test_case_100_a_very_large_loss_is_no_error():
    assert perplexity(800) == math.inf
    assert perplexity(700) == pytest.approx(math.exp(700))
    assert perplexity(0) == 1


@pytest.mark.parametrize("stride", [None, 1, 5, 24])
def test_case_100_perplexity_over_windows_is_that_of_one_pass(stride):
    model = small_model()
    ids = torch.randint(13, (25,), generator=torch.Generator().manual_seed(1))
    windows = list(scoring_windows(ids, 24, stride=stride))
    one_pass = next_token_loss(model(ids[None, :24]), ids[None, :24], "none")[0]
    last = -model(ids[None, :24])[0, -1].log_softmax(-1)[ids[24]]
    assert mean_loss(model, windows) == pytest.approx(torch.cat([one_pass, last[None]]).mean().item(), abs=1e-6)


@settings(max_examples=100)
@given(st.integers(0, 60), st.integers(1, 12), st.data())
def test_case_100_windows_score_each_token_but_the_first_exactly_once(n, context, data):
    stride = data.draw(st.none() | st.integers(1, context))
    ids = torch.arange(n)  # each id is its own place
    scored = []
    for batch in scoring_windows(ids, context, stride=stride):
        assert batch.inputs.shape == batch.targets.shape and batch.inputs.shape[1] <= context
        counted = batch.targets != IGNORE
        assert torch.equal(batch.targets[counted], batch.inputs[counted] + 1)
        fewest_before = batch.inputs[counted].min() - batch.inputs[0, 0] + 1
        assert fewest_before >= min(context - (stride or context) + 1, batch.targets[counted].min())
        scored += batch.targets[counted].tolist()
    assert scored == list(range(1, n))


def test_a_stride_that_would_skip_tokens_is_refused():
    with pytest.raises(ValueError, match="stride is 9, but must be from 1 to the context length, 8"):
        list(scoring_windows(torch.arange(20), 8, stride=9))


def test_measuring_keeps_no_graph_and_no_mode():
    model = small_model(dropout=0.5).train()
    ids = torch.randint(13, (1, 9), generator=torch.Generator().manual_seed(1))
    with evaluation_mode(model):
        first, second = (mean_loss(model, [Batch(ids[:, :-1], ids[:, 1:])]) for _ in range(2))
    assert first == second and model.training
    assert all(p.grad is None for p in model.parameters())


# The logits of a GPT, which are not kept


def padded_batch(rows=9, tokens=20, vocab=13):
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(vocab, (rows, tokens + 1), generator=generator)
    targets = ids[:, 1:].masked_fill(torch.rand(rows, tokens, generator=generator) < 0.3, IGNORE)
    return Batch(ids[:, :-1], targets)


def plain_loss(model, batch, reduction="mean"):
    return F.cross_entropy(model(batch.inputs).flatten(0, 1), batch.targets.flatten(), reduction=reduction)


@pytest.mark.parametrize("variant", [{}, {"norm": "post", "tie_weights": False}])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("rows_at_once", [1, 7, 512])
def test_the_loss_without_logits_has_the_value_and_the_gradients_of_the_plain_one(
    variant, reduction, rows_at_once, monkeypatch
):
    monkeypatch.setattr("gptlab.loss._ROWS_AT_ONCE", rows_at_once)
    model, batch = small_model(**variant).double(), padded_batch()
    parameters = list(model.parameters())
    ours, plain = batch_loss(model, batch, reduction), plain_loss(model, batch, reduction)
    torch.testing.assert_close(ours, plain)
    torch.testing.assert_close(torch.autograd.grad(3 * ours, parameters), torch.autograd.grad(3 * plain, parameters))


def test_under_autocast_it_is_as_near_as_the_plain_one():
    model, batch = small_model(), padded_batch()
    exact = torch.autograd.grad(plain_loss(model, batch), model.token_embedding.weight)[0]
    errors = []
    for one in (batch_loss, plain_loss):
        with torch.autocast("cpu", torch.bfloat16):
            value = one(model, batch)
        assert value.item() == pytest.approx(plain_loss(model, batch).item(), rel=0.01)
        errors.append((torch.autograd.grad(value, model.token_embedding.weight)[0] - exact).norm() / exact.norm())
    assert errors[0] < 1.5 * errors[1] < 0.05


def test_no_more_logits_are_made_than_are_needed_at_once(monkeypatch):
    monkeypatch.setattr("gptlab.loss._ROWS_AT_ONCE", 50)
    model, batch, rows = small_model(vocab=300), padded_batch(vocab=300), []

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor) and result.ndim and result.shape[-1] == 300:
                rows.append(result.numel() // 300)
            return result

    with Watching():
        batch_loss(model, batch).backward()
    assert max(rows) == 50 and batch.n_targets > 2 * 50
    assert sum(n == 50 for n in rows) > 2


def test_frozen_weights_and_an_empty_batch_do_no_harm():
    model, batch = small_model(), padded_batch()
    expected = torch.autograd.grad(plain_loss(model, batch), model.blocks[0].mlp.up.weight)[0]
    model.token_embedding.requires_grad_(False)
    torch.testing.assert_close(
        torch.autograd.grad(batch_loss(model, batch), model.blocks[0].mlp.up.weight)[0], expected
    )
    nothing = Batch(batch.inputs, torch.full_like(batch.targets, IGNORE))
    assert batch_loss(model, nothing, "sum").item() == 0
    assert batch_loss(model, nothing).isnan()


def test_a_model_whose_call_is_watched_or_changed_is_called():
    batch = padded_batch()
    watched, other = small_model(), small_model()
    seen = []
    watched.register_forward_hook(lambda module, args, logits: seen.append(logits.shape))
    assert batch_loss(watched, batch).item() == pytest.approx(plain_loss(watched, batch).item())
    assert seen == [(9, 20, 13)] * 2
    other.forward = lambda ids: torch.zeros(*ids.shape, 13)
    assert batch_loss(other, batch).item() == pytest.approx(math.log(13))
