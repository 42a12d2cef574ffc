"""The short way to one more token: that it gives what the model gives, and is not taken where it would not."""

from dataclasses import replace
from itertools import count, product

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.testing import assert_close

from gptlab import fast_decoding
from gptlab.beam import beam_search
from gptlab.cache import Cache
from gptlab.config import GPTConfig
from gptlab.decoding import greedy, sample, stream
from gptlab.fast_decoding import OneMore, suitable_threads
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import intervene

CONTEXT = 16
CONFIG = GPTConfig(vocab_size=261, context_length=CONTEXT, n_layers=2, n_heads=2, d_model=16)
VARIANTS = {
    "as GPT-2": {"activation": "gelu_tanh"},
    "as GPT-1": {"norm": "post"},
    "untied": {"tie_weights": False, "activation": "relu"},
    "no bias": {"bias": False, "positions": "sinusoidal", "d_ff": 20},
}
WAYS = ["_as_it_is", "_shared_out", "_packed", "_halved"]
ONE_ROW = ("_shared_out", 4)  # which is for a single row alone


def lively(seed=0, deviation=0.3, **changed):
    torch.manual_seed(seed)
    model = GPT(replace(CONFIG, **changed))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=deviation)
    return model.eval()


def some_ids(rows, tokens):
    return torch.randint(0, 256, (rows, tokens), generator=torch.Generator().manual_seed(0))


def told_apart(monkeypatch):
    """How often the short way was taken."""
    taken, call = [], OneMore.__call__
    monkeypatch.setattr(OneMore, "__call__", lambda self, tokens: taken.append(1) or call(self, tokens))
    return taken


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rows", [1, 3])
def test_the_logits_are_those_of_the_model(variant, rows):
    model, ids = lively(**VARIANTS[variant]), some_ids(rows, CONTEXT)
    with torch.no_grad():
        whole = model(ids)
        cache = Cache(CONFIG.n_layers, CONTEXT)
        model(ids[:, :3], cache)
        step = OneMore(model, cache, rows, CONTEXT - 3, halve=False)
        got = torch.stack([step(ids[:, place]) for place in range(3, CONTEXT)], dim=1)
    assert_close(got, whole[:, 3:], atol=1e-5, rtol=1e-5)
    assert cache.length == CONTEXT


def test_model_and_short_way_take_turns_on_one_cache():
    model, ids, cache = lively(), some_ids(2, CONTEXT), Cache(CONFIG.n_layers, CONTEXT)
    step = OneMore(model, cache, 2, CONTEXT, halve=False)
    with torch.no_grad():
        model(ids[:, :2], cache)
        got = [step(ids[:, t]) if t % 2 else model(ids[:, t : t + 1], cache)[:, 0] for t in range(2, CONTEXT)]
        assert_close(torch.stack(got, dim=1), model(ids)[:, 2:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_way_of_multiplying_gives_the_same_texts(way, variant, monkeypatch):
    monkeypatch.setattr(fast_decoding, "_ways", lambda *_: [getattr(fast_decoding, way)])
    model, quiet = lively(**VARIANTS[variant]), {"on_slide": lambda said: None}
    for rows in (1, 3) if (way, 4) != ONE_ROW else (1,):
        taken = told_apart(monkeypatch)
        ids = some_ids(rows, 4)
        assert torch.equal(greedy(model, ids, 30, **quiet), greedy(model, ids, 30, cache=False, **quiet))
        assert len(taken) > 15


@pytest.mark.parametrize(("way", "rows"), [(way, rows) for way in WAYS for rows in (1, 4) if (way, rows) != ONE_ROW])
@pytest.mark.parametrize(("outputs", "bias"), list(product([24, 37, 1], [True, False])))
def test_every_way_gives_the_product(way, rows, outputs, bias):
    linear, x = nn.Linear(20, outputs, bias=bias), torch.randn(rows, 20)
    with torch.inference_mode():
        got = getattr(fast_decoding, way)(linear.weight, linear.bias)(x)
        tolerance = 0.02 if way == "_halved" else 1e-5
        assert_close(got, linear(x), atol=tolerance, rtol=0)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_a_product_shared_out_among_threads_is_the_same(n_threads):
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        for outputs in (24, 7 * 5, 61, 127):  # the last has no number of equal parts that would do
            linear, x = nn.Linear(20, outputs), torch.randn(1, 20)
            with torch.inference_mode():
                assert_close(fast_decoding._shared_out(linear.weight, linear.bias)(x), linear(x))
    finally:
        torch.set_num_threads(before)


def test_the_quickest_way_for_each_shape_is_found_by_one_trial(monkeypatch):
    made, clock = [], count()

    def slow_if(wide, name):
        def way(weight, bias):
            made.append(name)
            return lambda x: next(clock) if (len(weight) > 3) == wide else name

        return way

    monkeypatch.setattr(fast_decoding, "_fastest", {})
    monkeypatch.setattr(fast_decoding, "perf_counter", lambda: next(clock))
    ways = [slow_if(True, "for the narrow"), slow_if(False, "for the wide")]
    for _ in range(2):
        products = fast_decoding._products([(torch.zeros(n, 2), None) for n in (3, 9, 3)], 1, ways)
        assert [product(None) for product in products] == ["for the narrow", "for the wide", "for the narrow"]
    assert len(made) == 2 * 3 + 2 * 3, "both ways of all three matrices in the trial, then those that won"


def test_a_way_that_the_machine_cannot_go_is_left_out(monkeypatch):
    def lacks_the_operation(weight, bias):
        return torch.ops.mkldnn.no_such_operation(weight)

    def fails(weight, bias):
        return lambda x: x @ torch.zeros(1, 1)

    monkeypatch.setattr(fast_decoding, "_fastest", {})
    weight, x = torch.randn(3, 2), torch.randn(1, 2)
    ways = [lacks_the_operation, fails, fast_decoding._as_it_is]
    [product] = fast_decoding._products([(weight, None)], 1, ways)
    assert_close(product(x), x @ weight.T)


def test_the_ways_that_come_into_question(monkeypatch):
    def ways(config, rows=1, n_steps=100, halve=False):
        with torch.device("meta"):
            return [way.__name__ for way in fast_decoding._ways(GPT(config), rows, n_steps, halve)]

    small, gpt2 = GPTConfig(1_024, 256, 6, 6, 384), GPTConfig.preset("gpt2")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert ways(CONFIG, halve=True) == ["_as_it_is"], "a tiny model"
    assert ways(small) == ["_as_it_is", "_shared_out"]
    assert ways(small, rows=5) == ["_as_it_is", "_packed"]
    assert ways(small, rows=5, n_steps=5, halve=True) == ["_as_it_is"], "too few tokens to copy for"
    assert ways(gpt2, rows=5) == ["_as_it_is"], "a copy would be half a gigabyte"
    assert ways(small, halve=True) == ways(gpt2, halve=True) == ["_as_it_is", "_shared_out", "_halved"]
    assert "_halved" not in ways(GPTConfig.preset("gpt2-medium"), halve=True)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert ways(small) == ["_as_it_is"]


def test_half_precision_stays_near_float32(monkeypatch):
    """Rounding a weight to 8 bits errs by at most 1/256; the logits err by less than 2 % of their spread."""
    monkeypatch.setattr(fast_decoding, "_ways", lambda *_: [fast_decoding._halved])
    for variant in VARIANTS.values():
        model, ids = lively(**variant), some_ids(2, CONTEXT)
        with torch.no_grad():
            cache = Cache(CONFIG.n_layers, CONTEXT)
            model(ids[:, :-1], cache)
            got, exact = OneMore(model, cache, 2, 1, halve=True)(ids[:, -1]), model(ids)[:, -1]
        assert not torch.equal(got, exact)
        assert (got - exact).abs().max() < 0.02 * (exact.max() - exact.min())


def test_a_precision_that_is_none_is_refused_and_half_is_taken():
    model, ids = lively(), some_ids(1, 3)
    for generate in (greedy, sample, lambda *rest, **options: beam_search(*rest, 2, **options)):
        with pytest.raises(ValueError, match="precision is 'float64', but must be 'float32' or 'bfloat16'"):
            generate(model, ids, 3, precision="float64")
        generate(model, ids, 3, precision="bfloat16")
    tok = Tokenizer.train("so many words", CONFIG.vocab_size)
    with pytest.raises(ValueError, match="precision"):
        stream(model, tok, "so", precision="half")


# Where the model itself has to be called


def exchanged(model):
    model.blocks[1].mlp.up = nn.Sequential(model.blocks[1].mlp.up)


def replaced_in_place(model):
    model.blocks[0].mlp.forward = lambda x: 2 * x


def parametrised(model):
    nn.utils.parametrize.register_parametrization(model.blocks[0].mlp.up, "weight", nn.Tanh())


@pytest.mark.parametrize(
    "change", [exchanged, replaced_in_place, parametrised, lambda model: model.double(), lambda model: model.bfloat16()]
)
def test_a_changed_model_is_called_itself(change, monkeypatch):
    model, taken = lively(), told_apart(monkeypatch)
    assert OneMore.takes(model)
    change(model)
    assert not OneMore.takes(model)
    assert torch.equal(greedy(model, some_ids(2, 3), 8), greedy(model, some_ids(2, 3), 8, cache=False))
    assert not taken


def test_a_model_of_another_kind_is_called_itself():
    class Louder(GPT):
        def unembed(self, hidden):
            return -super().unembed(hidden)

    torch.manual_seed(0)
    model = Louder(CONFIG)
    assert not OneMore.takes(model)
    assert not OneMore.takes(lambda ids: ids)
    assert torch.equal(greedy(model, some_ids(1, 3), 8), greedy(model, some_ids(1, 3), 8, cache=False))


def test_hooks_are_called_at_every_token(monkeypatch):
    model, seen, taken = lively(), [], told_apart(monkeypatch)
    for module in (model.blocks[1].mlp, model.blocks[0].attention.qkv, model):
        module.register_forward_pre_hook(lambda module, args: seen.append(module))
    greedy(model, some_ids(1, 3), 5)
    assert [seen.count(module) for module in (model.blocks[1].mlp, model.blocks[0].attention.qkv)] == [5, 5]
    assert not taken


def test_hooks_on_all_modules_are_called_at_every_token():
    model, seen = lively(), []
    handle = register_module_forward_hook(lambda module, args, output: seen.append(module))
    try:
        greedy(model, some_ids(1, 3), 5)
    finally:
        handle.remove()
    assert seen.count(model.blocks[0].mlp) == 5


@pytest.mark.parametrize("what", [{"heads": [(0, 1)]}, {"pattern": lambda layer, weights: weights.flip(-1)}])
def test_interventions_hold_while_a_text_is_written(what, monkeypatch):
    model, ids, taken = lively(), some_ids(2, 4), told_apart(monkeypatch)
    without = greedy(model, ids, 10)
    assert len(taken) == 9
    with intervene(model, **what):
        changed = greedy(model, ids, 10)
        if "heads" in what:  # an edited pattern depends on how many queries it sees
            assert torch.equal(changed, greedy(model, ids, 10, cache=False))
    assert len(taken) == 9
    assert not torch.equal(changed, without)


def test_an_intervention_that_begins_between_two_pieces_holds_from_there(monkeypatch):
    """The cache is shared: what was read before it stays as it was."""
    tok = Tokenizer.train("so many words", CONFIG.vocab_size)
    model, taken = lively(), told_apart(monkeypatch)
    pieces = stream(model, tok, "so", 9, temperature=0, stop=False)
    next(pieces)
    before = len(taken)
    with intervene(model, heads=[(0, 0)]):
        next(pieces)
        assert len(taken) == before
    list(pieces)
    assert len(taken) > before


# What it leaves behind: nothing


def test_weights_that_changed_since_are_read_anew(monkeypatch):
    monkeypatch.setattr(fast_decoding, "_ways", lambda *_: [fast_decoding._packed])
    model, ids = lively(), some_ids(1, 4)
    first = greedy(model, ids, 10)
    for parameter in model.parameters():
        parameter.data = parameter.data.flip(0)
    again = greedy(model, ids, 10)
    assert torch.equal(again, greedy(model, ids, 10, cache=False))
    assert not torch.equal(first, again)


def test_what_comes_out_is_an_ordinary_tensor_and_the_model_can_be_trained_on():
    model, ids = lively(), some_ids(2, 4)
    told = greedy(model, ids, 5)
    assert not told.is_inference()
    model(told).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    [(text, _), *_] = beam_search(model, ids[:1], 5, 3)
    assert not text.is_inference()


def test_a_tiny_model_has_one_thread_and_the_number_is_set_back():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with suitable_threads(lively()):
            assert torch.get_num_threads() == 1
        with torch.device("meta"):
            large = GPT(GPTConfig(50_000, 64, 1, 4, 128))
        for other in (large, lambda ids: ids):
            with suitable_threads(other):
                assert torch.get_num_threads() == 3
        with pytest.raises(KeyboardInterrupt), suitable_threads(lively()):
            raise KeyboardInterrupt
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
