"""Attention rollout against the plain matrix product."""

import pytest
import torch

from gptlab.rollout import attention_rollout
from tests.references.heads import rollout


def patterns(*shape: int) -> torch.Tensor:
    scores = torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return scores.masked_fill(torch.ones(shape[-2:]).triu(1).bool(), float("-inf")).softmax(-1)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 3, 4, 4), (4, 2, 7, 7)])
def test_it_is_the_matrix_product(shape, residual):
    attention = patterns(*shape)
    expected = torch.tensor(rollout(attention.tolist(), residual), dtype=torch.float64)
    torch.testing.assert_close(attention_rollout(attention, residual=residual), expected)


def test_rows_sum_to_1_and_nothing_comes_from_later_tokens():
    rolled = attention_rollout(patterns(5, 3, 9, 9))
    torch.testing.assert_close(rolled.sum(-1), torch.ones(5, 9, dtype=torch.float64))
    assert not rolled.triu(1).any()


def test_two_layers_that_look_one_back_look_two_back():
    back = torch.zeros(2, 1, 4, 4)
    for query in range(4):
        back[:, 0, query, max(query - 1, 0)] = 1
    last = attention_rollout(back)[-1, -1]
    assert last.tolist() == [0, 0.25, 0.5, 0.25]  # twice back, once back and once kept, twice kept
    assert attention_rollout(back, residual=False)[-1, -1].tolist() == [0, 1, 0, 0]
