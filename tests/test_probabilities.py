"""Logits to probabilities: values worked out by hand, a naive reference, and everything that is refused."""

from math import inf, log, nan

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from gptlab import next_token_probabilities
from tests.references import naive_probabilities

ONE_TWO_THREE = torch.tensor([1.0, 2.0, 3.0])


def logs(*probabilities):
    return torch.tensor(probabilities).log()


def test_case_29_temperature_0_is_the_likeliest_token_alone():
    assert next_token_probabilities(ONE_TWO_THREE, temperature=0).tolist() == [0, 0, 1]
    assert next_token_probabilities(ONE_TWO_THREE, 0, top_k=2, top_p=0.1).tolist() == [0, 0, 1]


@pytest.mark.parametrize("temperature", [-1, -0.001, nan, -inf, True])
def test_case_29_other_temperatures_are_refused_by_value(temperature):
    with pytest.raises(ValueError, match=f"temperature is {temperature}"):
        next_token_probabilities(ONE_TWO_THREE, temperature=temperature)


@pytest.mark.parametrize(
    ("temperature", "right"),
    [
        (0.1, [0, 0.000045, 0.999955]),
        (0.5, [0.015876, 0.117310, 0.866813]),
        (1, [0.090031, 0.244728, 0.665241]),
        (2, [0.186324, 0.307196, 0.506480]),
        (100, [0.330006, 0.333322, 0.336672]),
    ],
)
def test_case_30_values_at_five_temperatures(temperature, right):
    assert_close(next_token_probabilities(ONE_TWO_THREE, temperature), torch.tensor(right), atol=1e-6, rtol=0)


def test_case_30_entropy_at_temperature_1():
    p = next_token_probabilities(ONE_TWO_THREE)
    assert_close(-(p * p.log()).sum().item(), 0.832396, atol=1e-6, rtol=0)


def test_case_33_a_tie_goes_to_the_lowest_id_at_temperature_0():
    assert next_token_probabilities(torch.tensor([2.0, 2.0, 1.0]), 0).tolist() == [1, 0, 0]
    many = torch.zeros(7, 5_000)
    many[:, [17, 4_000]] = 1.0
    assert next_token_probabilities(many, 0).argmax(-1).tolist() == [17] * 7


def test_case_33_ties_rank_by_id_in_both_cuts():
    assert next_token_probabilities(torch.zeros(1_000), top_k=3).nonzero().flatten().tolist() == [0, 1, 2]
    assert next_token_probabilities(torch.zeros(1_000), top_p=0.003).nonzero().flatten().tolist() == [0, 1, 2]


@pytest.mark.parametrize("top_k", [5, 6, 50, 10**30])
def test_case_34_top_k_of_all_tokens_or_more_changes_no_bit(top_k):
    logits = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(next_token_probabilities(logits, top_k=top_k), next_token_probabilities(logits))


@pytest.mark.parametrize("top_k", [0, -1, 1.5, True, False])
def test_case_35_none_alone_is_off_and_other_top_k_are_refused(top_k):
    with pytest.raises(ValueError, match=rf"top_k is {top_k}, but must be .*None"):
        next_token_probabilities(torch.zeros(5), top_k=top_k)


def test_case_35_none_keeps_every_token():
    assert next_token_probabilities(torch.zeros(5), top_k=None).tolist() == pytest.approx([0.2] * 5)


@pytest.mark.parametrize(
    ("probabilities", "top_p", "right"),
    [
        ((0.5, 0.41, 0.09), 0.9, [0.549451, 0.450549, 0]),
        ((0.5, 0.35, 0.1, 0.05), 0.9, [0.526316, 0.368421, 0.105263, 0]),
        ((0.5, 0.3, 0.15, 0.05), 0.6, [0.625, 0.375, 0, 0]),
        ((0.4, 0.3, 0.2, 0.1), 0.7, [4 / 7, 3 / 7, 0, 0]),
        ((0.1, 0.2, 0.3, 0.4), 0.7, [0, 0, 3 / 7, 4 / 7]),
        ((0.4, 0.3, 0.2, 0.1), 0.701, [4 / 9, 3 / 9, 2 / 9, 0]),
    ],
)
def test_case_37_the_smallest_set_that_reaches_top_p(probabilities, top_p, right):
    got = next_token_probabilities(logs(*probabilities), top_p=top_p)
    assert_close(got, torch.tensor(right), atol=1e-6, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("top_p", [1e-300, 1e-8, 1e-4, 1e-3])
def test_case_39_the_likeliest_token_always_stays(dtype, top_p):
    logits = torch.randn(4_096, generator=torch.Generator().manual_seed(0)).to(dtype)
    p = next_token_probabilities(logits, top_p=top_p)
    assert p.nonzero().flatten().tolist() == [int(logits.argmax())]
    assert p.sum() == 1


def test_case_39_top_p_1_changes_no_bit():
    logits = torch.randn(3, 4_096, generator=torch.Generator().manual_seed(0))
    assert torch.equal(next_token_probabilities(logits, top_p=1), next_token_probabilities(logits))
    assert torch.equal(next_token_probabilities(logits, top_p=1.0), logits.softmax(-1))
    logits[:, 0] = 30.0  # what is left for the others is less than rounding may take away from top_p
    for top_k in (50, None):
        whole = next_token_probabilities(logits, top_k=top_k)
        assert torch.equal(next_token_probabilities(logits, top_k=top_k, top_p=1), whole)
        assert whole.count_nonzero() == 3 * (top_k or 4_096)


@pytest.mark.parametrize("top_p", [0, 0.0, -0.1, 1.0001, nan, inf, True])
def test_case_39_top_p_outside_0_to_1_and_0_itself_are_refused(top_p):
    with pytest.raises(ValueError, match=f"top_p is {top_p}, but must be"):
        next_token_probabilities(torch.zeros(5), top_p=top_p)


def test_case_41_a_row_without_any_token_is_refused_with_its_place():
    with pytest.raises(ValueError, match="^logits is '-inf throughout'.*no token is left"):
        next_token_probabilities(torch.full((3,), -inf))
    logits = torch.zeros(2, 4, 3)
    logits[1, 2] = -inf
    with pytest.raises(ValueError, match=r"logits\[1, 2\]"):
        next_token_probabilities(logits, temperature=0)


def test_case_42_nan_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"logits\[1\] is nan.*weights.*loss"):
        next_token_probabilities(torch.tensor([0.0, nan, 1.0]))
    logits = torch.zeros(2, 3)
    logits[0, 0], logits[1, 2] = inf, nan
    with pytest.raises(ValueError, match=r"logits\[1, 2\] is nan"):
        next_token_probabilities(logits, temperature=0)


def test_item_07_extreme_temperatures_give_their_limits_and_no_nan():
    logits = torch.tensor([[1.0, 2.0, 3.0], [3.0, 3.0, -inf]])
    for cold in (1e-8, 1e-45, 1e-320):
        assert next_token_probabilities(logits, cold).tolist() == [[0, 0, 1], [0.5, 0.5, 0]]
    for hot in (1e8, 1e30, 1e300, inf):
        got = next_token_probabilities(logits, hot)
        assert_close(got, torch.tensor([[1 / 3] * 3, [0.5, 0.5, 0]]), atol=1e-7, rtol=0)
    assert next_token_probabilities(logits, inf, top_k=2).tolist() == [[0, 0.5, 0.5], [0.5, 0.5, 0]]


def test_item_08_the_cuts_work_on_the_temperature_and_on_each_other():
    p = logs(0.4, 0.3, 0.2, 0.1)
    # Cut to three first, .4 makes up .4/.9 of the mass, so .44 needs one token; of all four it would need two.
    assert next_token_probabilities(p, top_k=3, top_p=0.44).tolist() == [1, 0, 0, 0]
    assert next_token_probabilities(p, top_p=0.44).count_nonzero() == 2
    assert next_token_probabilities(p, temperature=10, top_p=0.44).count_nonzero() == 2
    assert next_token_probabilities(p, temperature=0.1, top_p=0.9).count_nonzero() == 1


def test_item_09_infinite_logits_take_all_and_share():
    assert next_token_probabilities(torch.tensor([0.0, inf, -inf])).tolist() == [0, 1, 0]
    assert next_token_probabilities(torch.tensor([inf, 5.0, inf]), 2.0).tolist() == [0.5, 0, 0.5]
    assert next_token_probabilities(torch.tensor([inf, 5.0, inf]), 0).tolist() == [1, 0, 0]
    rows = torch.tensor([[0.0, inf], [0.0, 0.0]])
    assert next_token_probabilities(rows, top_p=0.9).tolist() == [[0, 1], [0.5, 0.5]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_item_10_large_logits_of_every_type(dtype):
    logits = torch.tensor([60_000, -60_000, 60_000]).to(dtype)
    for temperature in (0.001, 1, 1_000):
        p = next_token_probabilities(logits, temperature, top_k=2, top_p=0.99)
        assert p.tolist() == [0.5, 0, 0.5]
    assert p.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


def test_shapes_without_a_token_are_refused():
    for logits in (torch.tensor(1.0), torch.zeros(3, 0)):
        with pytest.raises(ValueError, match="logits' shape is "):
            next_token_probabilities(logits)


def test_the_logits_are_left_as_they_were():
    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    before = logits.clone()
    next_token_probabilities(logits, 0.7, top_k=9, top_p=0.8)
    assert torch.equal(logits, before)


logit_rows = st.lists(st.floats(-30, 30, width=32) | st.sampled_from([0.0, 1.0, -inf]), min_size=1, max_size=12)


@given(
    row=logit_rows.filter(lambda row: max(row) > -inf),
    temperature=st.sampled_from([0, 1e-8, 1, inf]) | st.floats(0.05, 20),
    top_k=st.none() | st.integers(1, 14),
    top_p=st.none() | st.floats(0.01, 1),
)
def test_the_naive_reference_agrees(row, temperature, top_k, top_p):
    right, close_call = naive_probabilities.probabilities(row, temperature, top_k, top_p)
    got = next_token_probabilities(torch.tensor(row), temperature, top_k, top_p)
    assert torch.isfinite(got).all()
    assert abs(float(got.sum()) - 1) < 1e-6
    assert got[naive_probabilities.ranked(row)[0]] == got.max()
    if not close_call:
        assert_close(got.double(), torch.tensor(right, dtype=torch.float64), atol=2e-6, rtol=0)


@given(rows=st.lists(logit_rows.filter(lambda row: max(row) > -inf), min_size=2, max_size=4), top_p=st.floats(0.01, 1))
def test_each_row_of_a_batch_is_what_it_is_alone(rows, top_p):
    width = max(map(len, rows))
    padded = torch.tensor([row + [-inf] * (width - len(row)) for row in rows])
    batch = next_token_probabilities(padded.reshape(1, len(rows), width), 0.8, top_p=top_p)
    for got, row in zip(batch[0], padded, strict=True):
        assert torch.equal(got, next_token_probabilities(row, 0.8, top_p=top_p))


def test_log_of_the_cut_is_minus_infinity_where_nothing_is_left():
    assert next_token_probabilities(logs(0.5, 0.3, 0.2), top_k=1).log().tolist() == [log(1), -inf, -inf]
