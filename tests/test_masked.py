"""Hidden words: which are hidden and how, batches without padding, and the truth about a gap."""

import math

import pytest
import torch

import gptlab
from gptlab import world
from gptlab.corpus import IGNORE
from gptlab.relatives.masked import MaskedTexts, gap_distribution, gap_token, mask_tokens
from gptlab.tokenizer import Tokenizer
from gptlab.world import ImpossiblePrefix

TOK = Tokenizer.small_world()
WORLD = world.ENGLISH_WORLD


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_gap_is_a_token_that_no_story_has():
    ids = TOK.encode("named_ Hall")
    assert len(ids) == 3 and ids[1] == gap_token(TOK)
    assert "_" not in "".join(world.sample(seed) for seed in range(50))


def test_hidden_tokens_alone_are_targets_and_meet_three_fates():
    ids = torch.randint(1_000, (400, 50), generator=generator(1))
    inputs, targets = mask_tokens(ids, 1_000, 1_000, share=0.2, generator=generator())
    chosen = targets != IGNORE
    assert torch.equal(targets[chosen], ids[chosen]) and torch.equal(inputs[~chosen], ids[~chosen])
    n = int(chosen.sum())
    assert n / ids.numel() == pytest.approx(0.2, abs=0.02)
    masked, kept = inputs[chosen] == 1_000, inputs[chosen] == ids[chosen]
    assert masked.float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert kept.float().mean().item() == pytest.approx(0.1, abs=0.03)
    anything = inputs[chosen][~masked & ~kept]
    assert len(anything) / n == pytest.approx(0.1, abs=0.03) and len(anything.unique()) > 100


def test_the_same_generator_hides_the_same():
    ids = torch.arange(60).view(3, 20)
    one, other = (mask_tokens(ids, 99, 60, generator=generator(5)) for _ in range(2))
    assert torch.equal(one.inputs, other.inputs) and torch.equal(one.targets, other.targets)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan")])
def test_a_share_that_hides_nothing_or_more_than_all_is_refused(share):
    with pytest.raises(ValueError, match="share is"):
        mask_tokens(torch.zeros(1, 4, dtype=torch.long), 9, 9, share=share, generator=generator())


def texts(n=40, length=30):
    return torch.randint(90, (n, length), generator=generator(2)).tolist()


def data(**options):
    settings = {"mask": 95, "vocab_size": 90, "longest": 20, "tokens_per_batch": 100, "held_out_texts": 10}
    return MaskedTexts(texts(), **settings | options)


def test_rows_of_a_batch_are_beginnings_of_texts_of_one_length():
    corpus, beginnings = data(), texts()[:30]
    for step in range(20):
        batch = corpus.batch(step)
        rows, length = batch.inputs.shape
        assert 8 <= length <= 20 and rows == 100 // length
        whole = torch.where(batch.targets == IGNORE, batch.inputs, batch.targets)
        assert all(row in [text[:length] for text in beginnings] for row in whole.tolist())
        again = data().batch(step)
        assert torch.equal(batch.inputs, again.inputs) and torch.equal(batch.targets, again.targets)
    assert len({corpus.batch(step).inputs.shape for step in range(20)}) > 5


def test_what_is_held_out_is_never_trained_on():
    held_out = data().held_out
    assert held_out.floor is None
    whole = [torch.where(b.targets == IGNORE, b.inputs, b.targets) for b in held_out.batches]
    assert torch.cat(whole).tolist() == [text[:20] for text in texts()[30:]]
    assert data(held_out_texts=0).held_out is None


def test_settings_tell_one_corpus_from_another():
    assert data().settings == data().settings
    others = [{"seed": 1}, {"share": 0.5}, {"longest": 19}, {"tokens_per_batch": 99}, {"held_out_texts": 9}]
    assert all(data(**other).settings != data().settings for other in others)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"longest": 31}, "the number of texts of 31 tokens and more is 0, but must be more than the 10"),
        ({"held_out_texts": 40}, "the number of texts of 20 tokens and more is 40"),
        ({"shortest": 21}, "shortest is 21, but must be from 1 to longest, 20"),
        ({"shortest": 0}, "shortest is 0"),
    ],
)
def test_texts_that_do_not_do_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        data(**options)


def test_an_encoder_learns_hidden_tokens_by_gptlabs_own_training():
    rows = [[i + 1] * 20 for i in range(7)] * 10  # each row is one word: any that is seen tells the hidden ones
    corpus = MaskedTexts(rows, mask=0, vocab_size=8, longest=20, tokens_per_batch=200, held_out_texts=10)
    model = gptlab.GPT(gptlab.GPTConfig(8, 20, 1, 2, 32, causal=False))
    steps = list(gptlab.train(model, corpus, 60, learning_rate=1e-2))
    assert steps[0].loss > math.log(5) and steps[-1].val_loss < 0.5


# The truth about a gap ----------------------------------------------------------------------------------------------

BEFORE = "Leo Hall lived in the quiet hotel."


def test_with_nothing_behind_it_a_gap_is_the_next_word():
    assert gap_distribution(WORLD, BEFORE, "") == pytest.approx(world.next_word_distribution(BEFORE))


def test_a_gap_is_what_bayes_rule_says():
    """By hand: " was" follows " He" with the mood, and " There" always."""
    p = world.next_word_distribution(BEFORE)
    weights = {word: p[word] * world.next_word_distribution(BEFORE + word).get(" was", 0.0) for word in p}
    expected = {word: weight / sum(weights.values()) for word, weight in weights.items() if weight}
    assert gap_distribution(WORLD, BEFORE, " was") == pytest.approx(expected)
    assert set(expected) == {" He", " There"}


def test_what_stands_behind_settles_it():
    assert gap_distribution(WORLD, BEFORE, " was calm") == {" He": 1.0}
    assert gap_distribution(WORLD, "There was once", " engineer named") == {" an": 1.0}
    names = gap_distribution(WORLD, "There was once a guard named", " Hall. Her")
    assert {word.strip() for word in names} == set(world.ENGLISH.female_name)
    assert sum(names.values()) == pytest.approx(1)


def test_a_gap_that_no_word_fills_is_refused():
    with pytest.raises(ValueError, match="after is ' dragon'"):
        gap_distribution(WORLD, BEFORE, " dragon")
    with pytest.raises(ImpossiblePrefix):
        gap_distribution(WORLD, "The dragon", "")
