"""Batches: whole stories, the right targets, the floor over the same targets, windows of a text."""

import math
import time

import pytest
import torch

from gptlab import Tokenizer
from gptlab.corpus import IGNORE, Corpus, StoryCorpus, TextCorpus
from gptlab.world import ENGLISH_WORLD, Plan, World
from tests.references.coin_world import FLOOR, WORDS, CoinTokenizer, CoinWorld
from tests.unchecked import unchecked

TOK = CoinTokenizer()


class OneIdAWord:
    """A tokenizer for texts of numbers: "7 8 9" is [7, 8, 9]."""

    end_of_text, vocab_size = 0, 1000

    def encode(self, text):
        return [int(word) for word in text.split()]


def numbers(n):
    return " ".join(str(i % 1000) for i in range(n))


def text_corpus(n, context, share=0, **options):
    return TextCorpus(numbers(n), OneIdAWord(), context_length=context, held_out_share=share, **options)


def stories(**options):
    return StoryCorpus(CoinWorld(), TOK, **{"tokens_per_batch": 200, "held_out_stories": 50} | options)


def rows(batch):
    """The ids of each row, the first input and all the targets that count; inputs must agree with them."""
    found = []
    for inputs, targets in zip(batch.inputs, batch.targets, strict=True):
        n = int((targets != IGNORE).sum())
        assert torch.equal(targets[: n - 1], inputs[1:n])
        assert (targets[n:] == IGNORE).all(), "a target is left out in the middle"
        found.append([int(inputs[0]), *targets[:n].tolist()])
    return found


def test_a_row_is_a_whole_story_between_two_marks():
    data = stories()
    for step in range(70):
        for row in rows(data.batch(step)):
            assert row[0] == row[-1] == TOK.end_of_text
            assert set(row[1:-1]) <= set(range(len(WORDS)))


def test_each_batch_is_a_function_of_seed_and_step_alone():
    forward, backward = stories(), stories()
    steps = [0, 1, 31, 32, 33, 100]
    there = {step: forward.batch(step) for step in steps}
    back = {step: backward.batch(step) for step in reversed(steps)}
    for step in steps:
        assert torch.equal(there[step].inputs, back[step].inputs)
        assert torch.equal(there[step].targets, back[step].targets)
    assert rows(stories(seed=1).batch(0)) != rows(there[0])


def test_no_pool_repeats_another_and_no_held_out_story_is_trained_on():
    data = StoryCorpus(ENGLISH_WORLD, Tokenizer.small_world(), tokens_per_batch=300, held_out_stories=50)
    with unchecked():
        seen = [tuple(row) for step in range(96) for row in rows(data.batch(step))]
    held_out = [tuple(row) for batch in data.held_out.batches for row in rows(batch)]
    assert len(set(seen)) > 0.99 * len(seen)
    assert not set(seen) & set(held_out)


def test_batches_are_of_the_size_that_was_asked_for_and_nearly_full():
    data = StoryCorpus(ENGLISH_WORLD, Tokenizer.small_world(), tokens_per_batch=2000, held_out_stories=0)
    with unchecked():
        batches = [data.batch(step) for step in range(64)]
    counts = [batch.n_targets for batch in batches]
    assert sum(counts) / len(counts) == pytest.approx(2000, rel=0.05)
    assert all(1500 < count < 2500 for count in counts)
    assert sum(counts) > 0.9 * sum(batch.targets.numel() for batch in batches)
    assert len({batch.inputs.shape for batch in batches}) < 56, "shapes do not come again"


def test_the_stories_of_a_pool_are_those_of_the_world():
    """Sorting and cutting into batches neither loses stories of some length nor repeats them."""
    data = stories(tokens_per_batch=2000)
    lengths = [len(row) - 2 for step in range(32) for row in rows(data.batch(step))]
    share_of_one = sum(length == 1 for length in lengths) / len(lengths)
    assert len(lengths) > 4000
    assert sum(lengths) / len(lengths) == pytest.approx(10, abs=0.6)  # four standard errors
    assert share_of_one == pytest.approx(0.1, abs=0.02)


def test_a_batch_smaller_than_a_story_holds_one_story():
    data = stories(tokens_per_batch=1)
    assert all(len(rows(data.batch(step))) == 1 for step in range(64))


def test_the_floor_is_the_truths_mean_loss_over_the_very_targets():
    data = stories(held_out_stories=40)
    total = count = 0
    for batch in data.held_out.batches:
        for row in rows(batch):
            log_probs = CoinWorld().log_probs("".join(WORDS[i] for i in row[1:-1]))
            assert len(log_probs) == len(row) - 1
            total -= sum(log_probs)
            count += len(row) - 1
    assert count == sum(batch.n_targets for batch in data.held_out.batches)
    assert data.held_out.floor == pytest.approx(total / count, abs=1e-12)


def test_the_floor_comes_near_the_entropy():
    assert stories(held_out_stories=4000).held_out.floor == pytest.approx(FLOOR, abs=0.02)


def test_the_floor_of_the_small_world_is_its_log_probability():
    tok = Tokenizer.small_world()
    data = StoryCorpus(ENGLISH_WORLD, tok, held_out_stories=20)
    texts = [tok.decode(row[1:-1]) for batch in data.held_out.batches for row in rows(batch)]
    assert len(texts) == 20
    n_targets = sum(batch.n_targets for batch in data.held_out.batches)
    assert data.held_out.floor == pytest.approx(-sum(map(ENGLISH_WORLD.log_prob, texts)) / n_targets, abs=1e-9)


def test_without_held_out_stories_there_is_no_validation():
    assert stories(held_out_stories=0).held_out is None
    assert text_corpus(100, 8).held_out is None


def test_a_story_that_the_context_cannot_hold_is_refused():
    data = stories(context_length=8)
    with pytest.raises(ValueError, match=r"context_length is 8, but must be at least \d+, which a story"):
        data.batch(0)
    longest = max(data.inputs.shape[1] for data in map(stories().batch, range(64)))
    fitting = stories(context_length=longest)
    assert max(fitting.batch(step).inputs.shape[1] for step in range(64)) <= longest


def test_rounding_up_never_goes_beyond_the_context():
    free = stories(tokens_per_batch=60)
    longest = max(len(row) - 1 for step in range(32) for row in rows(free.batch(step)))
    for context in range(longest, longest + 6):
        data = stories(context_length=context, tokens_per_batch=60)
        assert max(data.batch(step).inputs.shape[1] for step in range(32)) <= context


def test_a_tokenizer_that_cuts_words_is_refused():
    class Letters(CoinTokenizer):
        def encode(self, text):
            return [0] * len(text)

    with pytest.raises(ValueError, match="one token for each word"):
        StoryCorpus(CoinWorld(), Letters()).batch(0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"tokens_per_batch": 0}, "tokens_per_batch is 0"),
        ({"held_out_stories": -1}, "held_out_stories is -1"),
        ({"context_length": 0}, "context_length is 0"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        stories(**options)


@pytest.mark.parametrize("tokens", [1, 64])
def test_case_91_a_text_without_a_window_is_refused_naming_its_length_and_the_context(tokens):
    with pytest.raises(ValueError, match=rf"of {tokens} in the text.*at least 65, the context_length of 64"):
        text_corpus(tokens, 64)


def test_case_91_an_empty_text_is_refused():
    with pytest.raises(ValueError, match="of 0 in the text"):
        text_corpus(0, 64)


@pytest.mark.parametrize(("tokens", "windows"), [(65, 1), (66, 2)])
def test_case_91_every_window_is_used_to_its_last_token(tokens, windows):
    data = text_corpus(tokens, 64, batch_size=8)
    assert data.n_windows == windows
    found = {tuple(row) for step in range(4) for row in rows(data.batch(step))}
    assert found == {tuple(range(i, i + 65)) for i in range(windows)}


def test_case_92_too_little_for_validation_is_said_before_training():
    with pytest.raises(ValueError, match=r"held_out_share=0.1 \(of 320 .* is 32, but .* 65.*held_out_share=0 "):
        text_corpus(5 * 64, 64, share=0.1)
    with pytest.raises(ValueError, match="to train on"):
        text_corpus(5 * 64, 64, share=0.9)
    assert text_corpus(5 * 64, 64, share=0.25).held_out.batches[0].inputs.shape == (1, 64)


def test_a_text_is_held_out_in_windows_that_training_never_sees():
    data = text_corpus(1000, 16, share=0.2, batch_size=4)
    trained = {i for step in range(300) for row in rows(data.batch(step)) for i in row}
    held_out = [i for batch in data.held_out.batches for row in rows(batch) for i in row[1:]]
    assert trained == set(range(800))
    assert held_out == list(range(801, 801 + len(held_out))) and len(held_out) == 199 // 16 * 16
    assert data.held_out.floor is None


def test_a_batch_larger_than_the_corpus_repeats_windows():
    batch = text_corpus(20, 16, batch_size=50).batch(0)
    assert batch.inputs.shape == (50, 16)
    assert {row[0] for row in rows(batch)} == {0, 1, 2, 3}


def test_windows_are_a_function_of_seed_and_step_alone():
    one, other = text_corpus(500, 8), text_corpus(500, 8)
    assert torch.equal(one.batch(7).inputs, other.batch(7).inputs)
    assert not torch.equal(one.batch(7).inputs, one.batch(8).inputs)
    assert not torch.equal(one.batch(7).inputs, text_corpus(500, 8, seed=1).batch(7).inputs)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"context": 0}, "context_length is 0"), ({"batch_size": 0}, "batch_size is 0"), ({"share": 1}, "share is 1")],
)
def test_options_of_a_text_that_make_no_sense_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        text_corpus(**{"n": 100, "context": 8} | options)


def test_corpora_are_told_apart_by_their_settings():
    different = [stories(), stories(seed=1), stories(tokens_per_batch=100), text_corpus(99, 8), text_corpus(98, 8)]
    different += [text_corpus(99, 9), text_corpus(99, 8, batch_size=3), text_corpus(99, 8, seed=2)]
    assert all(isinstance(data, Corpus) for data in different)
    settings = [data.settings for data in different]
    assert all(one not in settings[:i] for i, one in enumerate(settings))
    assert stories().settings == stories().settings
    other_world = StoryCorpus(World(plan=Plan(mood=0.0)), Tokenizer.small_world())
    assert other_world.settings != StoryCorpus(ENGLISH_WORLD, Tokenizer.small_world()).settings


def test_stories_come_faster_than_a_model_reads_them():
    data = StoryCorpus(ENGLISH_WORLD, Tokenizer.small_world(), tokens_per_batch=500, held_out_stories=0)
    with unchecked():
        data.batch(0)
        began = time.process_time()
        tokens = sum(data.batch(step).n_targets for step in range(32, 64))
        seconds = time.process_time() - began
    assert tokens / seconds > 10_000  # 100,000 are promised


def test_the_floor_in_closed_form_is_right():
    """Of the world of the tests itself, by weighing all its stories of up to nine words."""
    total = missing = 0.0
    lines = [[word] for word in WORDS]
    for n in range(1, 10):
        for words in lines:
            log_prob = math.fsum(CoinWorld().log_probs("".join(words)))
            total += math.exp(log_prob)
        missing = 0.9**n
        lines = [[*words, word] for words in lines for word in WORDS]
    assert total + missing == pytest.approx(1, abs=1e-12)
