"""The cache by itself; that the model computes the same with it is in test_model.py."""

import pytest
import torch

from gptlab.cache import Cache
from gptlab.config import GPTConfig
from gptlab.model import GPT

L, B, H, CONTEXT, DK = 3, 2, 4, 10, 5


def arrivals(*sizes, batch=B):
    """Keys and values as they come: for each size a pass of that many new tokens, (L, 2, B, H, T, dk)."""
    torch.manual_seed(0)
    return [torch.randn(L, 2, batch, H, size, DK) for size in sizes]


def feed(cache, passes):
    return [[cache.update(layer, *pair[layer]) for layer in range(L)] for pair in passes]


def test_update_gives_back_all_tokens_so_far_layer_by_layer():
    passes = arrivals(4, 1, 3, 2)
    cache = Cache(L, CONTEXT)
    lengths = []
    for number in range(4):
        (pairs,) = feed(cache, passes[number : number + 1])
        lengths.append(cache.length)
        so_far = torch.cat(passes[: number + 1], dim=-2)
        for layer, (keys, values) in enumerate(pairs):
            assert torch.equal(keys, so_far[layer, 0])
            assert torch.equal(values, so_far[layer, 1])
    assert lengths == [4, 5, 8, 10]


def test_length_moves_on_when_the_last_layer_has_been_served():
    cache = Cache(L, CONTEXT)
    (one, again) = arrivals(4, 4)
    cache.update(0, *one[0])
    cache.update(1, *one[1])
    assert cache.length == 0
    feed(cache, [again])
    assert cache.length == 4
    assert torch.equal(cache.update(0, *one[0])[0], torch.cat([again[0, 0], one[0, 0]], dim=-2))


def test_memory_is_taken_once():
    cache = Cache(L, CONTEXT)
    addresses = {keys.data_ptr() for pairs in feed(cache, arrivals(1, 5, 4)) for keys, _ in pairs}
    assert len(addresses) == L
    keys, _ = feed(Cache(L, CONTEXT), arrivals(1))[0][0]
    assert keys.untyped_storage().nbytes() == 2 * L * B * H * CONTEXT * DK * 4


@pytest.mark.parametrize("rows", [[1, 0], [0, 0], [1], [1, 0, 1, 1]])
def test_select_reorders_doubles_and_drops_rows(rows):
    first, second = arrivals(4)[0], arrivals(3, batch=len(rows))[0]
    cache = Cache(L, CONTEXT)
    feed(cache, [first])
    cache.select(torch.tensor(rows))
    assert cache.length == 4
    for layer, (keys, values) in enumerate(feed(cache, [second])[0]):
        assert torch.equal(keys, torch.cat([first[layer, 0][rows], second[layer, 0]], dim=-2))
        assert torch.equal(values, torch.cat([first[layer, 1][rows], second[layer, 1]], dim=-2))


def test_reset_forgets_the_tokens_and_takes_another_batch():
    cache = Cache(L, CONTEXT)
    feed(cache, arrivals(4))
    cache.reset()
    assert cache.length == 0
    one = arrivals(10, batch=3)[0]
    for layer, (keys, values) in enumerate(feed(cache, [one])[0]):
        assert torch.equal(keys, one[layer, 0])
        assert torch.equal(values, one[layer, 1])


def test_more_tokens_than_there_is_room_are_refused():
    cache = Cache(L, CONTEXT)
    feed(cache, arrivals(8))
    with pytest.raises(ValueError, match="number of cached tokens is 11, but must be at most the context_length of 10"):
        feed(cache, arrivals(3))
    assert cache.length == 8


def test_another_batch_behind_cached_tokens_is_refused():
    cache = Cache(L, CONTEXT)
    feed(cache, arrivals(4))
    with pytest.raises(ValueError, match="batch size is 3, but must be 2"):
        feed(cache, arrivals(1, batch=3))


def test_the_cache_takes_the_models_number_type_and_records_no_gradient():
    model = GPT(GPTConfig(11, CONTEXT, L, 2, 8)).bfloat16()
    cache = Cache(L, CONTEXT)
    for tokens in (4, 1):
        model(torch.zeros(1, tokens, dtype=torch.int64), cache)
    keys, values = cache.update(0, *torch.randn(2, 1, 2, 1, 4, dtype=torch.bfloat16, requires_grad=True))
    assert keys.dtype == values.dtype == torch.bfloat16
    assert not keys.requires_grad
    assert not values.requires_grad


def test_it_says_what_memory_it_takes():
    cache = Cache(L, CONTEXT)
    assert cache.nbytes == 0
    feed(cache, arrivals(4))
    assert cache.nbytes == 2 * L * B * H * CONTEXT * DK * 4
    for rows in ([1, 1, 0], [2, 1, 0], [0, 0, 0]):
        cache.select(torch.tensor(rows))
    assert cache.nbytes == 2 * (2 * L * 3 * H * CONTEXT * DK * 4), "select goes to and fro between two pieces"


def test_the_room_for_one_more_token_is_where_update_would_put_it():
    first, second = arrivals(4, 1)
    by_hand, cache = Cache(L, CONTEXT), Cache(L, CONTEXT)
    feed(cache, [first, second])
    feed(by_hand, [first])
    rooms = by_hand.room_for_one()
    for (place, *_), (k, v) in zip(rooms, second, strict=True):
        place.copy_(torch.cat([k, v], dim=1))
    by_hand.length += 1
    third = arrivals(1)[0]
    for ours, theirs in zip(feed(by_hand, [third])[0], feed(cache, [third])[0], strict=True):
        assert all(map(torch.equal, ours, theirs))
    for layer, (_, keys, values) in enumerate(rooms):
        assert torch.equal(keys, torch.cat([first[layer, 0], second[layer, 0]], dim=-2))
        assert torch.equal(values, torch.cat([first[layer, 1], second[layer, 1]], dim=-2))


def test_no_room_for_one_more_is_refused():
    cache = Cache(L, CONTEXT)
    feed(cache, arrivals(CONTEXT))
    with pytest.raises(ValueError, match="number of cached tokens is 11"):
        cache.room_for_one()
