"""Beam search against tables worked out by hand, a naive search, the search through everything, and greedy."""

from math import exp, inf, log, nan
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from gptlab import GPT, GPTConfig, beam_search, greedy
from gptlab.beam import BeamTree
from tests.references import naive_beam

CONTEXT = 12
PROMPT = torch.tensor([[0]])


def tiny_model(seed=0, vocab_size=17):
    torch.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size, CONTEXT, n_layers=2, n_heads=2, d_model=16))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(6)
    return model.eval()


MODEL = tiny_model()


def told_by(table):
    """The model, a plain function, that says after a prompt of one token what the table says."""

    def model(ids):
        rows = [[table(tuple(row[1 : i + 1])) for i in range(len(row))] for row in ids.tolist()]
        return torch.tensor(rows, dtype=torch.float64).log()

    return model


def random_table(seed, vocab_size):
    """Probabilities that depend on all tokens before; some are 0, and no two texts are equally likely."""

    def table(tokens):
        draw = Random(f"{seed} {tokens}")
        weights = [draw.choice([0, 1, 1, 1]) * draw.uniform(0.1, 4) for _ in range(vocab_size)]
        weights[draw.randrange(vocab_size)] += draw.uniform(0.5, 1)
        return [weight / sum(weights) for weight in weights]

    return table


def spelled(hypotheses):
    return [(tuple(ids[1:].tolist()), log_prob) for ids, log_prob in hypotheses]


def log_prob_anew(model, ids, n_prompt):
    """The sum of ln p(token | all before) in one pass over the finished text."""
    with torch.no_grad():
        log_probs = model(ids[None])[0].double().log_softmax(-1)
    return sum(float(log_probs[i - 1, ids[i]]) for i in range(n_prompt, len(ids)))


A, B, OTHER = 1, 2, 3
TWO_STEPS = {(): [0, 0.6, 0.4, 0], (A,): [0.33, 0.34, 0.33, 0], (B,): [0, 0.05, 0.05, 0.9]}


def test_case_53_a_beam_finds_what_greedy_misses():
    model = told_by(TWO_STEPS.__getitem__)
    (best, best_log_prob), (second, second_log_prob) = beam_search(model, PROMPT, 2, 2)
    assert best.tolist() == [0, B, OTHER] and second.tolist() == [0, A, A]
    assert_close([best_log_prob, second_log_prob], [-1.021651, -1.589635], atol=1e-6, rtol=0)
    assert exp(best_log_prob) == pytest.approx(0.36)


def test_case_53_width_1_gives_greedys_ids():
    model = told_by(TWO_STEPS.__getitem__)
    [(only, log_prob)] = beam_search(model, PROMPT, 2, 1)
    assert only.tolist() == greedy(model, PROMPT, 2)[0].tolist() == [0, A, A]
    assert_close(log_prob, -1.589635, atol=1e-6, rtol=0)


END, WORD = 0, 1
ENDINGS = {(): [0.45, 0.55], (WORD,): [0.95, 0.05]}


def test_case_55_the_length_counts_the_end_mark():
    hypotheses = beam_search(told_by(ENDINGS.__getitem__), PROMPT, 2, 2, stop_token=END, length_penalty=1)
    assert [ids.tolist() for ids, _ in hypotheses] == [[0, WORD, END], [0, END]]
    ranked_by = [log_prob / (len(ids) - 1) for ids, log_prob in hypotheses]
    assert_close(ranked_by, [-0.324565, -0.798508], atol=1e-6, rtol=0)
    assert_close([log_prob for _, log_prob in hypotheses], [log(0.55 * 0.95), log(0.45)], atol=1e-6, rtol=0)


def test_case_55_a_length_penalty_can_turn_the_order():
    endings = {(): [0.55, 0.45], (WORD,): [0.95, 0.05]}
    model = told_by(endings.__getitem__)
    plain = beam_search(model, PROMPT, 2, 2, stop_token=END)
    assert [ids.tolist() for ids, _ in plain] == [[0, END], [0, WORD, END]]
    normalised = beam_search(model, PROMPT, 2, 2, stop_token=END, length_penalty=1.0)
    assert [ids.tolist() for ids, _ in normalised] == [[0, WORD, END], [0, END]]


@settings(max_examples=100)
@given(
    seed=st.integers(0, 10**6), vocab_size=st.integers(1, 4), n=st.integers(0, 4), width=st.integers(1, 6),
    end=st.none() | st.integers(0, 3), length_penalty=st.sampled_from([0, 0.5, 1.0, 2]),
)  # fmt: skip
def test_the_naive_search_agrees(seed, vocab_size, n, width, end, length_penalty):
    table = random_table(seed, vocab_size)
    got = spelled(beam_search(told_by(table), PROMPT, n, width, stop_token=end, length_penalty=length_penalty))
    right = naive_beam.beam(table, n, width, end, length_penalty)
    assert [tokens for tokens, _ in got] == [tokens for tokens, _ in right]
    assert [log_prob for _, log_prob in got] == pytest.approx([log_prob for _, log_prob in right])


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3), end=st.none() | st.integers(0, 2))
def test_item_12_a_width_above_all_texts_finds_the_best_of_all(seed, n, end):
    table = random_table(seed, 3)
    got = spelled(beam_search(told_by(table), PROMPT, n, 100, stop_token=end))
    right = naive_beam.everything(table, n, end)
    assert [tokens for tokens, _ in got] == [tokens for tokens, _ in right]
    assert [log_prob for _, log_prob in got] == pytest.approx([log_prob for _, log_prob in right])


@settings(max_examples=30)
@given(seed=st.integers(0, 50), tokens=st.integers(1, 20), n=st.integers(0, 20), end=st.none() | st.integers(0, 16))
def test_item_12_width_1_is_greedy(seed, tokens, n, end):
    model, ids = tiny_model(seed), torch.randint(0, 17, (1, tokens), generator=torch.Generator().manual_seed(seed))
    [(only, _)] = beam_search(model, ids, n, 1, stop_token=end, on_slide=lambda said: None)
    expected = greedy(model, ids, n, stop_token=end, on_slide=lambda said: None)[0]
    assert torch.equal(only, expected[: len(only)])
    assert len(only) == tokens + n or only[-1] == end


def test_case_33_width_1_breaks_ties_as_greedy_does():
    tied = told_by(lambda tokens: [0.1, 0.3, 0.3, 0.3])
    assert beam_search(tied, PROMPT, 3, 1)[0][0].tolist() == greedy(tied, PROMPT, 3)[0].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("width", [1, 3, 17, 40])
@pytest.mark.parametrize("stop_token", [None, 5])
@pytest.mark.parametrize("cache", [True, False])
def test_item_12_scores_are_the_sums_computed_anew_and_sorted(width, stop_token, cache):
    ids = torch.tensor([[3, 1, 4]])
    hypotheses = beam_search(MODEL, ids, 6, width, stop_token=stop_token, cache=cache)
    assert len(hypotheses) == width
    log_probs = [log_prob for _, log_prob in hypotheses]
    assert log_probs == sorted(log_probs, reverse=True)
    assert len({tuple(text.tolist()) for text, _ in hypotheses}) == width
    for text, log_prob in hypotheses:
        assert text[:3].tolist() == [3, 1, 4]
        assert log_prob == pytest.approx(log_prob_anew(MODEL, text, 3), abs=1e-4)
        if stop_token is None or stop_token not in text[3:]:
            assert len(text) == 9
        else:
            assert text[3:].tolist().index(stop_token) == len(text) - 4, "nothing follows the end"


@pytest.mark.parametrize("stop_token", [None, 5])
def test_the_cache_changes_no_hypothesis(stop_token):
    """Rows are reordered at each step, and the window slides twice."""
    options = {"stop_token": stop_token, "on_slide": lambda said: None}
    with_cache = beam_search(MODEL, torch.tensor([[3, 1, 4]]), 2 * CONTEXT, 4, **options)
    without = beam_search(MODEL, torch.tensor([[3, 1, 4]]), 2 * CONTEXT, 4, cache=False, **options)
    assert [ids.tolist() for ids, _ in with_cache] == [ids.tolist() for ids, _ in without]
    assert_close([score for _, score in with_cache], [score for _, score in without], atol=1e-4, rtol=0)


def test_item_14_a_beam_past_the_context_says_so_once():
    said = []
    beam_search(MODEL, torch.tensor([[3, 1, 4]]), 3 * CONTEXT, 3, on_slide=said.append)
    assert len(said) == 1


def test_an_ended_hypothesis_stays_comparable_with_what_goes_on():
    table = {(): [0.4, 0.6], (1,): [0.5, 0.5], (1, 1): [0.5, 0.5]}
    hypotheses = spelled(beam_search(told_by(table.__getitem__), PROMPT, 3, 3, stop_token=0))
    assert [tokens for tokens, _ in hypotheses] == [(0,), (1, 0), (1, 1, 0)]
    assert [exp(log_prob) for _, log_prob in hypotheses] == pytest.approx([0.4, 0.3, 0.15])


def test_the_search_is_over_when_nothing_open_can_come_in_any_more():
    asked = []

    def model(ids):
        asked.append(len(ids))
        return told_by(lambda tokens: [0.9, 0.06, 0.04])(ids)

    hypotheses = spelled(beam_search(model, PROMPT, 50, 2, stop_token=0))
    assert [tokens for tokens, _ in hypotheses] == [(0,), (1, 0)]
    assert asked == [1, 1]


def test_width_1_is_over_at_its_end():
    hypotheses = spelled(beam_search(told_by(lambda tokens: [0.9, 0.1]), PROMPT, 50, 1, stop_token=0))
    assert hypotheses == [((0,), pytest.approx(log(0.9)))]


def test_no_new_tokens_give_the_prompt_back():
    [(ids, log_prob)] = beam_search(MODEL, torch.tensor([[3, 1, 4]]), 0, 4, length_penalty=1.0)
    assert ids.tolist() == [3, 1, 4] and log_prob == 0


def test_what_has_probability_0_is_no_hypothesis():
    hypotheses = spelled(beam_search(told_by(lambda tokens: [0, 1.0, 0]), PROMPT, 2, 5))
    assert hypotheses == [((1, 1), 0.0)]


def test_the_tree_holds_what_was_kept_and_what_was_dropped():
    tree = BeamTree()
    hypotheses = beam_search(told_by(TWO_STEPS.__getitem__), PROMPT, 2, 2, on_step=tree.grow)
    shown = [(n.parent, n.depth, n.token, round(exp(n.log_prob), 6), n.kept, n.ended) for n in tree.nodes]
    assert shown == [
        (None, 1, A, 0.6, True, False),
        (None, 1, B, 0.4, True, False),
        (1, 2, OTHER, 0.36, True, False),
        (0, 2, A, 0.204, True, False),
        (0, 2, 0, 0.198, False, False),
        (1, 2, A, 0.02, False, False),
    ]
    assert spelled(hypotheses) == spelled(beam_search(told_by(TWO_STEPS.__getitem__), PROMPT, 2, 2))


@pytest.mark.parametrize("stop_token", [None, 5])
def test_the_trees_kept_leaves_spell_the_hypotheses(stop_token):
    tree, ids = BeamTree(), torch.tensor([[3, 1, 4]])
    hypotheses = beam_search(MODEL, ids, 5, 3, stop_token=stop_token, on_step=tree.grow)
    spelt = {}
    for node in tree.nodes:
        if node.kept and (node.ended or node.depth == 5):
            tokens, up = [], node
            while up is not None:
                tokens.append(up.token)
                up = None if up.parent is None else tree.nodes[up.parent]
            spelt[tuple(reversed(tokens))] = node.log_prob
    for text, log_prob in hypotheses:
        assert spelt[tuple(text[3:].tolist())] == log_prob
    for depth in range(1, 6):
        assert sum(node.kept for node in tree.nodes if node.depth == depth) == 3


def test_case_58_dropout_is_off_and_the_mode_is_set_back():
    model = tiny_model()
    expected = spelled(beam_search(model, PROMPT, 5, 3))
    model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    assert spelled(beam_search(model, PROMPT, 5, 3)) == expected
    assert all(module.training for module in model.modules())
    with pytest.raises(ValueError, match="ids"):
        beam_search(model, torch.tensor([[99]]), 5, 3)
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ({"width": 0}, "width is 0"),
        ({"width": True}, "width is True"),
        ({"width": 1.5}, "width is 1.5"),
        ({"length_penalty": -1}, "length_penalty is -1"),
        ({"length_penalty": nan}, "length_penalty is nan"),
        ({"length_penalty": inf}, "length_penalty is inf"),
        ({"stop_token": -1}, "stop_token is -1"),
        ({"max_new_tokens": -1}, "max_new_tokens is -1"),
        ({"ids": torch.zeros(2, 3, dtype=torch.int64)}, r"ids' shape is \(2, 3\)"),
        ({"ids": torch.zeros(1, 0, dtype=torch.int64)}, r"ids' shape is \(1, 0\)"),
        ({"ids": torch.zeros(3, dtype=torch.int64)}, r"ids' shape is \(3,\)"),
    ],
)
def test_bad_input_is_refused_by_name(bad, what):
    with pytest.raises(ValueError, match=what):
        beam_search(**{"model": MODEL, "ids": PROMPT, "max_new_tokens": 3, "width": 2} | bad)


def test_case_42_logits_of_nan_are_refused():
    with pytest.raises(ValueError, match=r"logits\[0, 1\] is nan"):
        beam_search(lambda ids: torch.tensor([0.0, nan]).expand(*ids.shape, 2), PROMPT, 3, 2)
