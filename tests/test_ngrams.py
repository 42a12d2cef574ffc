"""N-grams: a count by hand, plain loops that share no code, distributions that sum to 1, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gptlab.loss import perplexity
from gptlab.ngrams import NGrams
from tests.references import naive_ngrams

# "a b a b c" and "a a", as 0 1 0 1 2 and 0 0, behind a mark 3 where a text begins
ROWS = [[3, 0, 1, 0, 1, 2], [3, 0, 0]]
V = 4

small_rows = st.lists(st.lists(st.integers(0, 3), max_size=8), max_size=5)


def test_a_count_by_hand():
    unigram, bigram = (NGrams(ROWS, n, V, strength=0) for n in (1, 2))
    # 7 tokens are foretold: a 4 times, b twice, c once.
    np.testing.assert_allclose(unigram.distribution([]), [4 / 7, 2 / 7, 1 / 7, 0])
    # After a: b twice, a once. After b: a once, c once. After the mark: a twice.
    np.testing.assert_allclose(bigram.distribution([0]), [1 / 3, 2 / 3, 0, 0])
    np.testing.assert_allclose(bigram.distribution([1]), [1 / 2, 0, 1 / 2, 0])
    np.testing.assert_allclose(bigram.distribution([3]), [1, 0, 0, 0])


def test_perplexity_by_hand():
    """Of "a b c" after the mark: 1 · 2/3 · 1/2 = 1/3, and the third root of 3 is its perplexity."""
    text = [3, 0, 1, 2]
    bigram = NGrams(ROWS, 2, V, strength=0)
    assert perplexity(-bigram.log_probs(text).mean()) == pytest.approx(3 ** (1 / 3))
    unigram = bigram.up_to(1)
    assert perplexity(-unigram.log_probs(text).mean()) == pytest.approx((7 / 4 * 7 / 2 * 7) ** (1 / 3))


def test_smoothing_by_hand():
    """With one imagined count: P(b) = (2 + 1/4) / 8, P(b | a) = (2 + P(b)) / 4; and d may come, though it never did."""
    bigram = NGrams(ROWS, 2, V)
    assert bigram.probability(1, []) == pytest.approx(2.25 / 8)
    assert bigram.probability(1, [0]) == pytest.approx((2 + 2.25 / 8) / 4)
    assert bigram.probability(3, [1]) == pytest.approx((0.25 / 8) / 3)


@given(small_rows, st.lists(st.integers(0, 3), max_size=6), st.integers(1, 5), st.sampled_from([0, 0.3, 1, 10]))
def test_it_gives_what_plain_loops_give_and_sums_to_1(rows, context, n, strength):
    model = NGrams(rows, n, V, strength=strength)
    expected = [naive_ngrams.probability(rows, token, context, n, V, strength) for token in range(V)]
    np.testing.assert_allclose(model.distribution(context), expected, rtol=1e-12)
    np.testing.assert_allclose([model.probability(token, context) for token in range(V)], expected, rtol=1e-12)
    assert model.distribution(context).sum() == pytest.approx(1)


@given(small_rows, st.integers(1, 4))
def test_shorter_contexts_of_one_count_are_those_counted_alone(rows, n):
    text = [3, 0, 1, 2, 0]
    np.testing.assert_allclose(NGrams(rows, 4, V).up_to(n).log_probs(text), NGrams(rows, n, V).log_probs(text))


def test_a_text_is_scored_by_its_distributions():
    model, text = NGrams(ROWS, 3, V), [3, 0, 1, 0, 2]
    rows = model.distributions(text)
    assert rows.shape == (4, V)
    np.testing.assert_allclose(model.log_probs(text), np.log(rows[range(4), text[1:]]))


def test_a_token_never_changes_what_was_said_before_it():
    model = NGrams(ROWS, 3, V)
    one, other = model.log_probs([3, 0, 1, 0]), model.log_probs([3, 0, 1, 2])
    np.testing.assert_array_equal(one[:2], other[:2])


def test_without_smoothing_what_was_never_seen_is_impossible_and_no_error():
    log_probs = NGrams(ROWS, 2, V, strength=0).log_probs([3, 1])
    assert log_probs.tolist() == [-math.inf]
    assert perplexity(-log_probs.mean()) == math.inf


def test_nothing_counted_gives_equal_shares_and_a_text_of_one_token_nothing():
    model = NGrams([], 3, V)
    np.testing.assert_allclose(model.distribution([0, 1]), [1 / 4] * 4)
    assert model.log_probs([3]).shape == (0,)
    assert model.distributions([3]).shape == (0, V)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n": 0}, "n is 0"),
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"strength": -1}, "strength is -1"),
        ({"strength": math.nan}, "strength is nan"),
        ({"strength": math.inf}, "strength is inf"),
        ({"rows": [[0, 4]]}, "an id is 4"),
        ({"rows": [[-1]]}, "an id is -1"),
    ],
)
def test_bad_input_is_refused_by_name(options, named):
    with pytest.raises(ValueError, match=named):
        NGrams(**{"rows": ROWS, "n": 2, "vocab_size": V, **options})


@pytest.mark.parametrize("n", [0, 3])
def test_a_length_that_was_not_counted_is_refused(n):
    with pytest.raises(ValueError, match="from 1 to 2"):
        NGrams(ROWS, 2, V).up_to(n)
