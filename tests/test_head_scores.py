"""Scores of heads: the places by hand, the means against plain loops, and what a known head must get."""

import pytest
import torch

from gptlab import world
from gptlab.config import GPTConfig
from gptlab.head_scores import FIRST, PREVIOUS, looking_places, mean_attention, score_heads
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import intervene, trace
from gptlab.world import ENGLISH_WORLD
from tests.references.heads import mean_look

TEXT = "Tom Baker lived in the old garden. There was a red ball in the market. His dogs near the gate were"
STORIES = [world.sample(seed) for seed in range(6)]


@pytest.fixture(scope="module")
def untrained():
    tok = Tokenizer.small_world()
    torch.manual_seed(0)
    model = GPT(GPTConfig(tok.vocab_size, 168, n_layers=2, n_heads=3, d_model=24))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)
    return model.eval(), tok


def test_the_token_before_a_word_predicts_it_and_looks_at_the_source():
    tokens = ["<|endoftext|>", *world.split_words(TEXT)]
    looks = [(tokens[query], tokens[query + 1], tokens[key]) for query, key in looking_places(TEXT)["agreement"]]
    assert looks == [(" gate", " were", " dogs")]


def test_the_two_habits_are_asked_of_each_token_but_the_first():
    places = looking_places("Tom Baker")
    assert places[PREVIOUS] == [(1, 0), (2, 1)]
    assert places[FIRST] == [(1, 0), (2, 0)]


def test_scores_are_means_over_the_links_of_all_texts(untrained):
    model, tok = untrained
    scored = score_heads(model, tok, STORIES)
    attention, links = [], []
    for text in STORIES:
        ids = torch.tensor([[tok.end_of_text, *tok.encode(text)]])
        attention.append(trace(model, ids).attention[:, 0].double())
        links.append(world.links(text))
    assert set(scored.kinds) == {PREVIOUS, FIRST} | {kind for story in links for _, _, kind in story}
    for kind in set(scored.kinds) - {PREVIOUS, FIRST}:
        n = [sum(one == kind for _, _, one in story) for story in links]
        assert scored.counts[scored.kinds.index(kind)] == sum(n)
        for layer in range(2):
            for head in range(3):
                means = [
                    count * mean_look(weights[layer, head].tolist(), story, kind)
                    for weights, story, count in zip(attention, links, n, strict=True)
                    if count
                ]
                assert scored[kind][layer, head].item() == pytest.approx(sum(means) / sum(n), abs=1e-6)


def test_a_head_that_looks_at_the_previous_token_gets_1_for_it_and_even_heads_the_base_rate(untrained):
    model, tok = untrained

    def made(layer: int, weights: torch.Tensor) -> torch.Tensor:
        n = weights.shape[-1]
        weights = torch.ones(n, n).tril().div(torch.arange(1, n + 1)[:, None]).expand_as(weights).clone()
        if layer == 1:
            weights[:, 2] = torch.zeros(n, n).index_put(
                (torch.arange(n), (torch.arange(n) - 1).clamp(min=0)), torch.tensor(1.0)
            )
        return weights

    with intervene(model, pattern=made):
        scored = score_heads(model, tok, STORIES)
    assert scored.best(PREVIOUS) == (1, 2) and scored[PREVIOUS][1, 2] == pytest.approx(1.0)
    for kind, base in zip(scored.kinds, scored.base.tolist(), strict=True):
        assert scored[kind][0, 0].item() == pytest.approx(base, abs=1e-6)


def test_the_table_names_the_best_head_of_each_kind(untrained):
    scored = score_heads(*untrained, STORIES)
    lines = repr(scored).splitlines()
    assert len(lines) == 1 + len(scored.kinds)
    layer, head = scored.best("state")
    assert f"{layer}.{head}" in next(line for line in lines if line.startswith("state"))


def test_the_mean_is_over_the_places():
    attention = torch.arange(8.0).view(1, 2, 2, 2)
    assert mean_attention(attention, [(1, 0), (1, 1)]).tolist() == [[2.5, 6.5]]


def test_what_cannot_be_scored_is_refused(untrained):
    model, tok = untrained
    with pytest.raises(ValueError, match="at least one text"):
        score_heads(model, tok, [])
    with pytest.raises(ValueError, match="one token for each word"):
        score_heads(model, Tokenizer.gpt2(), ["One morning Tom Baker walked to the meadow."])
    with pytest.raises(ValueError, match="cannot tell the word 'cat'"):
        score_heads(model, tok, ["cat cat"])
    with pytest.raises(ValueError, match="kind is 'rhyme', but must be one of previous, first"):
        score_heads(model, tok, STORIES[:1])["rhyme"]


def test_another_world_may_be_given(untrained):
    assert score_heads(*untrained, STORIES[:1], ENGLISH_WORLD).counts[0] == len(world.split_words(STORIES[0]))
