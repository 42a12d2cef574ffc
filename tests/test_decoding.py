"""Tokens drawn one after another: with and without cache, past the context, in batches, as text."""

import logging

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch.testing import assert_close

from gptlab import GPT, GPTConfig, Tokenizer, greedy, next_token_probabilities, sample, stream
from gptlab.cache import Cache
from gptlab.decoding import prompt_ids
from gptlab.probabilities import drawn

CONTEXT = 16
TOK = Tokenizer.train("so so many many words and so on and on", 270)


def tiny_model(seed=0, vocab_size=TOK.vocab_size, scale=8, **settings):
    """A model with weights so large that its choices are far apart and depend on all it reads."""
    torch.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size, CONTEXT, n_layers=2, n_heads=2, d_model=16, **settings))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(scale)
    return model.eval()


MODEL = tiny_model()


def some_ids(batch, tokens, seed=0):
    return torch.randint(0, 256, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def constant(logits):
    """A model that is a plain function: the same logits after any token."""
    return lambda ids: torch.as_tensor(logits, dtype=torch.float32).expand(*ids.shape, -1)


def script(*rows):
    """A model that is a plain function: row r surely says rows[r][n] as its n-th token after a prompt of one."""
    told = torch.tensor(rows)
    return lambda ids: torch.nn.functional.one_hot(told[:, : ids.shape[1]], 10).float()


def greedy_by_hand(model, ids, n, context=CONTEXT):
    """Whole windows through the whole model, one row at a time."""
    rows = []
    for row in ids.tolist():
        start = max(0, len(row) - context)
        for _ in range(n):
            if len(row) - start > context:
                start += context // 4
            with torch.no_grad():
                logits = model(torch.tensor([row[start:]]))[0, -1].tolist()
            row.append(logits.index(max(logits)))
        rows.append(row)
    return torch.tensor(rows)


def test_case_29_temperature_0_is_greedy_and_draws_nothing():
    generator = torch.Generator().manual_seed(3)
    before = generator.get_state()
    got = sample(MODEL, some_ids(3, 4), 8, temperature=0, generator=generator)
    assert torch.equal(got, greedy(MODEL, some_ids(3, 4), 8))
    assert torch.equal(generator.get_state(), before)


@pytest.mark.parametrize(
    "bad", [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": 0}, {"top_k": True}, {"top_p": 0.0}]
)
@pytest.mark.parametrize("n", [0, 3])
def test_case_35_bad_options_are_refused_before_the_first_token(bad, n):
    with pytest.raises(ValueError, match=f"^{next(iter(bad))} is"):
        sample(MODEL, some_ids(1, 3), n, **bad)
    with pytest.raises(ValueError, match=f"^{next(iter(bad))} is"):
        stream(MODEL, TOK, "so", n, **bad)


def test_case_33_a_tie_goes_to_the_lowest_id_everywhere():
    tied = constant([0.0, 2.0, 2.0, 1.0])
    one = torch.zeros(1, 1, dtype=torch.int64)
    assert greedy(tied, one, 2).tolist() == [[0, 1, 1]]
    assert sample(tied, one, 2, temperature=0).tolist() == [[0, 1, 1]]
    assert sample(tied, one, 2, top_k=1).tolist() == [[0, 1, 1]]
    assert next_token_probabilities(tied(one)[0, -1], 0).tolist() == [0, 1, 0, 0]


def test_case_40_nothing_of_probability_0_is_ever_drawn():
    logits = torch.randn(200, generator=torch.Generator().manual_seed(0))
    support = set(logits.topk(40).indices.tolist())
    drawn = sample(constant(logits), torch.zeros(10_000, 1, dtype=torch.int64), 10, top_k=40, generator=0)[:, 1:]
    assert set(drawn.flatten().tolist()) == support
    only = sample(constant(logits), torch.zeros(10_000, 1, dtype=torch.int64), 1, top_k=1, generator=0)[:, 1:]
    assert (only == logits.argmax()).all()


def test_what_is_drawn_has_the_probabilities_asked_for():
    logits = torch.tensor([1.0, 2.0, 3.0, 0.0])
    drawn = sample(constant(logits), torch.zeros(50_000, 1, dtype=torch.int64), 1, 2.0, 3, 0.99, generator=0)[:, 1]
    p = next_token_probabilities(logits, 2.0, 3, 0.99)
    assert_close(drawn.bincount(minlength=4) / 50_000, p, atol=0.01, rtol=0)


def test_case_44_a_seed_belongs_to_the_call():
    first, again = (sample(MODEL, some_ids(2, 3), 10, generator=7) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, sample(MODEL, some_ids(2, 3), 10, generator=8))
    unseeded = [sample(MODEL, some_ids(2, 3), 10) for _ in range(2)]
    assert not torch.equal(*unseeded)


def test_case_44_a_generator_goes_on_where_it_stands():
    generator = torch.Generator().manual_seed(7)
    first = sample(MODEL, some_ids(2, 3), 10, generator=generator)
    assert torch.equal(first, sample(MODEL, some_ids(2, 3), 10, generator=7))
    assert not torch.equal(first, sample(MODEL, some_ids(2, 3), 10, generator=generator))


@pytest.mark.parametrize("generator", [1.5, True, "7"])
def test_what_is_no_generator_is_refused(generator):
    with pytest.raises((ValueError, TypeError), match="generator"):
        sample(MODEL, some_ids(1, 3), 1, generator=generator)


def test_case_45_an_empty_prompt_starts_from_end_of_text():
    begun = greedy(MODEL, torch.tensor([[TOK.end_of_text]]), 5)[0, 1:]
    assert "".join(stream(MODEL, TOK, "", 5, temperature=0, stop=False)) == TOK.decode(begun.tolist())
    assert prompt_ids(TOK, "so on").tolist() == [[TOK.end_of_text, *TOK.encode("so on")]]


@pytest.mark.parametrize("shape", [(1, 0), (0, 3), (3,), ()])
def test_case_45_no_token_to_start_from_is_refused(shape):
    for generate in (greedy, sample):
        with pytest.raises(ValueError, match="ids' shape is .*end-of-text"):
            generate(MODEL, torch.zeros(shape, dtype=torch.int64), 5)


def test_case_46_max_new_tokens_counts_the_new_ones():
    ids = some_ids(2, 10)
    for generate in (greedy, sample):
        assert generate(MODEL, ids, 5).shape == (2, 15)
        assert torch.equal(generate(MODEL, ids, 5)[:, :10], ids)
        assert torch.equal(generate(MODEL, ids, 0), ids)
        for bad in (-1, 2.5, True):
            with pytest.raises((ValueError, TypeError), match="max_new_tokens"):
                generate(MODEL, ids, bad)
    assert list(stream(MODEL, TOK, "so", 0)) == []


@pytest.mark.parametrize("tokens", [1, CONTEXT - 1, CONTEXT, CONTEXT + 1, 3 * CONTEXT])
@pytest.mark.parametrize("cache", [True, False])
def test_case_47_a_prompt_of_any_length_is_read_from_its_last_tokens(tokens, cache):
    ids = some_ids(2, tokens)
    got = greedy(MODEL, ids, 6, cache=cache, on_slide=lambda said: None)
    assert torch.equal(got[:, tokens], MODEL(ids[:, -CONTEXT:])[:, -1].argmax(-1))
    assert torch.equal(got, greedy_by_hand(MODEL, ids, 6))


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("tokens", [1, 2, CONTEXT - 1])
@pytest.mark.parametrize("variant", [{}, {"norm": "post", "positions": "sinusoidal", "tie_weights": False}])
def test_case_48_the_cache_gives_the_logits_of_the_whole_pass_at_every_step(batch, tokens, variant):
    model, ids = tiny_model(scale=1, **variant), some_ids(batch, CONTEXT)
    cache = Cache(model.config.n_layers, CONTEXT)
    with torch.no_grad():
        whole = model(ids)
        got = [model(ids[:, :tokens], cache)] + [model(ids[:, i : i + 1], cache) for i in range(tokens, CONTEXT)]
    assert_close(torch.cat(got, dim=1), whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize("variant", [{}, {"norm": "post", "positions": "sinusoidal", "tie_weights": False}])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("tokens", [1, 2, CONTEXT - 1])
def test_case_48_greedy_and_sampled_tokens_are_the_same_with_and_without_cache(variant, batch, tokens):
    model, ids = tiny_model(**variant), some_ids(batch, tokens)
    quiet = {"on_slide": lambda said: None}
    cached, uncached = (greedy(model, ids, 40, cache=cache, **quiet) for cache in (True, False))
    assert torch.equal(cached, uncached)
    assert torch.equal(cached, greedy_by_hand(model, ids, 40))
    cached, uncached = (
        sample(model, ids, 40, 1.5, 20, 0.95, generator=5, cache=cache, **quiet) for cache in (True, False)
    )
    assert torch.equal(cached, uncached)


def test_case_52_each_row_ends_for_itself():
    model = script([3, 9, 4, 5, 6], [1, 2, 3, 9, 9], [1, 1, 1, 1, 1])
    ids = torch.zeros(3, 1, dtype=torch.int64)
    ended = [[0, 3, 9, 9, 9, 9], [0, 1, 2, 3, 9, 9], [0, 1, 1, 1, 1, 1]]
    assert greedy(model, ids, 5, stop_token=9).tolist() == ended
    assert sample(model, ids, 5, 0, stop_token=9).tolist() == ended
    assert greedy(model, ids, 5).tolist()[0] == [0, 3, 9, 4, 5, 6], "going on is what None means"
    assert greedy(model, ids, 5, stop_token=8).tolist()[0] == [0, 3, 9, 4, 5, 6]


def test_case_52_when_all_have_ended_the_model_is_not_asked_again():
    asked = []
    model = script([3, 9, 4, 5], [9, 4, 4, 4])

    def counted(ids):
        asked.append(ids.shape[1])
        return model(ids)

    ids = torch.zeros(2, 1, dtype=torch.int64)
    assert greedy(counted, ids, 4, stop_token=9).tolist() == [[0, 3, 9, 9, 9], [0, 9, 9, 9, 9]]
    assert asked == [1, 2]


def test_case_52_a_stop_token_in_the_prompt_ends_nothing():
    ids = torch.full((1, 1), 9)
    assert greedy(script([3, 4, 9]), ids, 2, stop_token=9).tolist() == [[9, 3, 4]]


@pytest.mark.parametrize("stop_token", [-1, True])
def test_a_stop_token_that_is_no_id_is_refused(stop_token):
    with pytest.raises(ValueError, match="stop_token"):
        greedy(MODEL, some_ids(1, 2), 0, stop_token=stop_token)


def test_case_57_dropout_is_off_while_generating():
    model = tiny_model(dropout=0.5)
    expected = greedy(model.eval(), some_ids(2, 4), 8)
    model.train()
    assert torch.equal(greedy(model, some_ids(2, 4), 8), expected)
    assert torch.equal(greedy(model, some_ids(2, 4), 8, cache=False), expected)
    text = "".join(stream(model, TOK, "so", 8, generator=1))
    assert text == "".join(stream(model.eval(), TOK, "so", 8, generator=1))


@pytest.mark.parametrize("training", [True, False])
def test_case_58_the_mode_found_is_the_mode_left(training):
    model = tiny_model(dropout=0.5).train(training)
    model.blocks[0].eval()  # one block frozen, say
    modes = [module.training for module in model.modules()]
    greedy(model, some_ids(1, 3), 3)
    sample(model, some_ids(1, 3), 3)
    for _ in stream(model, TOK, "so", 3, stop=False):
        assert [module.training for module in model.modules()] == modes, "also between two pieces"
    with pytest.raises(ValueError, match="ids"):
        greedy(model, torch.tensor([[10_000]]), 3)
    with pytest.raises(ValueError, match="nan"):
        with torch.no_grad():
            model.token_embedding.weight[5] = float("nan")
        greedy(model, torch.tensor([[5]]), 3)
    assert [module.training for module in model.modules()] == modes


def test_case_58_the_mode_is_set_back_when_generation_is_interrupted():
    model = tiny_model().train()

    def interrupt(said):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        greedy(model, some_ids(1, 3), 3 * CONTEXT, on_slide=interrupt)
    assert all(module.training for module in model.modules())
    pieces = stream(model, TOK, "so", 9, stop=False)
    next(pieces)
    pieces.close()
    assert all(module.training for module in model.modules())


def test_item_10_no_gradient_is_kept_and_the_ids_can_be_trained_on():
    model = tiny_model()
    ids = sample(model, some_ids(2, 3), 4, generator=0)
    model(ids).logsumexp(-1).sum().backward()
    assert model.token_embedding.weight.grad is not None


def test_item_11_the_global_random_state_is_neither_read_nor_changed():
    before = torch.get_rng_state()
    drawn = sample(MODEL, some_ids(2, 3), 10, generator=7)
    sample(MODEL, some_ids(2, 3), 2)
    list(stream(MODEL, TOK, "so", 5, generator=7))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    assert torch.equal(sample(MODEL, some_ids(2, 3), 10, generator=7), drawn)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("tokens", [3, CONTEXT + 5])
def test_item_14_sliding_past_the_context_is_said_once(cache, tokens):
    said = []
    greedy(MODEL, some_ids(1, tokens), 5 * CONTEXT, cache=cache, on_slide=said.append)
    assert len(said) == 1
    assert f"context of {CONTEXT} tokens" in said[0]


def test_item_14_by_default_sliding_is_logged_as_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "gptlab"):
        greedy(MODEL, some_ids(1, 3), CONTEXT - 2)
        assert caplog.messages == [], "the last token is written, never read"
        greedy(MODEL, some_ids(1, 3), 5 * CONTEXT)
    assert len(caplog.messages) == 1


def test_item_14_the_oldest_quarter_goes_and_the_cache_saves_most_of_the_reading():
    read = []

    class Watched:
        config, unembed, __call__ = MODEL.config, MODEL.unembed, MODEL.forward

        def hidden(self, ids, cache):
            read.append(ids.shape[1])
            return MODEL.hidden(ids, cache)

    got = greedy(Watched(), some_ids(1, CONTEXT), 11, on_slide=lambda said: None)
    assert read == [16, 13, 1, 1, 1, 13, 1, 1, 1, 13, 1]
    assert torch.equal(got, greedy_by_hand(MODEL, some_ids(1, CONTEXT), 11))


def test_a_context_of_one_token_still_generates():
    torch.manual_seed(0)
    model = GPT(GPTConfig(20, 1, 1, 1, 4))
    got = [greedy(model, torch.tensor([[3, 5]]), 4, cache=cache, on_slide=lambda said: None) for cache in (True, False)]
    assert torch.equal(*got)


def spell(text):
    """A model that surely says the tokens of `text` and end-of-text, whatever came before the new ones."""
    before = len(prompt_ids(TOK, "so")[0]) - 1
    told = torch.tensor([[0] * before + TOK.encode(text) + [TOK.end_of_text]])
    return lambda ids: torch.nn.functional.one_hot(told[:, : ids.shape[1]], TOK.vocab_size) * 99.0


def test_item_05_no_half_character_is_ever_shown():
    text = "I 👍🏽 it, 中文 é"
    pieces = list(stream(spell(text), TOK, "so"))
    assert "".join(pieces) == text
    assert all(pieces) and "\ufffd" not in "".join(pieces)
    assert len(pieces) > 5


def test_item_05_a_character_cut_off_at_the_end_is_shown_as_decode_shows_it():
    ids = TOK.encode("so 👍")[:-1]
    pieces = list(stream(spell("so 👍"), TOK, "so", len(ids)))
    assert "".join(pieces) == TOK.decode(ids) == "so \ufffd"


def test_a_stream_is_over_at_end_of_text_or_goes_on():
    assert "".join(stream(spell("so on"), TOK, "so", 50)) == "so on"
    n = len(TOK.encode("so on")) + 1
    assert "".join(stream(spell("so on"), TOK, "so", n, stop=False)) == "so on<|endoftext|>"


@settings(max_examples=25)
@given(prompt=st.text(max_size=12), seed=st.integers(0, 2**32), n=st.integers(0, 24), stop=st.booleans())
def test_a_stream_is_what_sample_draws_as_text(prompt, seed, n, stop):
    options = {"temperature": 1.3, "top_k": 60, "generator": seed, "on_slide": lambda said: None}
    ids = prompt_ids(TOK, prompt)
    drawn = sample(MODEL, ids, n, **options, stop_token=TOK.end_of_text if stop else None)[0, ids.shape[1] :].tolist()
    if stop and TOK.end_of_text in drawn:
        drawn = drawn[: drawn.index(TOK.end_of_text)]
    assert "".join(stream(MODEL, TOK, prompt, n, **options, stop=stop)) == TOK.decode(drawn)


@settings(max_examples=25)
@given(
    batch=st.integers(1, 3), tokens=st.integers(1, 20), n=st.integers(0, 30), seed=st.integers(0, 99),
    stop_token=st.none() | st.integers(0, 30),
)  # fmt: skip
def test_each_row_is_what_it_is_alone(batch, tokens, n, seed, stop_token):
    model, ids = tiny_model(seed=1, vocab_size=31), some_ids(batch, tokens, seed) % 31
    options = {"stop_token": stop_token, "on_slide": lambda said: None}
    together = greedy(model, ids, n, **options)
    alone = torch.cat([greedy(model, row[None], n, cache=False, **options) for row in ids])
    assert torch.equal(together, alone)


@pytest.mark.parametrize("options", [{}, {"temperature": 2.5, "top_k": 7}, {"top_p": 0.6}])
def test_each_token_is_the_first_whose_cumulative_probability_exceeds_a_uniform_number(options):
    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(1))
    ours, uniform = torch.Generator().manual_seed(2), torch.Generator().manual_seed(2)
    start, p = torch.zeros(3, 1, dtype=torch.int64), next_token_probabilities(logits, **options).double()
    text = sample(lambda ids: logits[:, None].expand(-1, ids.shape[1], -1), start, 20, **options, generator=ours)
    for tokens in text[:, 1:].T.tolist():
        numbers = torch.rand(3, 1, dtype=torch.float64, generator=uniform).flatten().tolist()
        for token, row, u in zip(tokens, p.tolist(), numbers, strict=True):
            assert row[token] > 0 and sum(row[:token]) - 1e-6 <= u < sum(row[: token + 1]) + 1e-6
    assert torch.equal(ours.get_state(), uniform.get_state())


def test_tokens_are_drawn_as_often_as_their_probabilities_say():
    p = next_token_probabilities(torch.randn(20, generator=torch.Generator().manual_seed(1)), temperature=2, top_k=15)
    start = torch.zeros(100_000, 1, dtype=torch.int64)
    counts = sample(constant(p.log()), start, 1, generator=0)[:, 1].bincount(minlength=20)
    possible = p > 0
    assert not counts[~possible].any()
    assert chisquare(counts[possible], p[possible].double() / p.double().sum() * len(start)).pvalue > 0.001


@pytest.mark.parametrize("u", [0.0, 0.5, 1 - 2**-53])
def test_a_token_without_probability_is_never_drawn_not_even_at_the_edges(u):
    rows = torch.tensor([[0, 0.5, 0, 0.5, 0], [0, 0.1, 0, 0.2, 0], [0, 1.0, 0, 1.2, 0]])
    numbers = torch.full((3, 1), u, dtype=torch.float64)
    assert drawn(rows, numbers).tolist() == ([1, 1, 1] if u == 0 else [3, 3, 3])
    assert drawn(rows.index_fill(1, torch.tensor(4), torch.nan), numbers) is None


def test_of_infinite_logits_the_same_tokens_are_drawn_shaped_or_not():
    logits = torch.tensor([0.0, torch.inf, 1.0, torch.inf])
    start = torch.zeros(40, 1, dtype=torch.int64)
    plain, shaped = (sample(constant(logits), start, 1, **options, generator=0) for options in ({}, {"top_k": 4}))
    assert plain.equal(shaped) and set(plain[:, 1].tolist()) == {1, 3}
    with pytest.raises(ValueError, match="logits"):
        sample(constant([0.0, torch.nan]), start, 1, generator=0)
