"""Supervised fine-tuning: the loss on answers alone, and a corpus of examples that gptlab.train learns from."""

import math

import pytest
import torch

import gptlab
from gptlab.corpus import IGNORE, Corpus
from gptlab.finetuning import AnswerCorpus, Example, sft_loss
from tests.references import finetuned


@pytest.fixture(scope="module")
def tok():
    return gptlab.Tokenizer.small_world()


def colours(rng):
    colour = rng.choice(["red", "blue", "green"])
    return Example(f"The {colour} ball. What colour?", f" It was {colour}.")


def small(tok):
    torch.manual_seed(0)
    return gptlab.GPT(gptlab.GPTConfig(tok.vocab_size, 32, n_layers=2, n_heads=2, d_model=32))


def test_the_loss_is_the_mean_over_answer_tokens():
    torch.manual_seed(0)
    logits = torch.randn(2, 4, 5, dtype=torch.float64)
    ids, targets = [[0, 1, 2, 3], [1, 4, 0, 0]], torch.tensor([[IGNORE, IGNORE, 3, 4], [IGNORE, 0, IGNORE, IGNORE]])
    rows = [(logits[0].tolist(), ids[0][:3], [3, 4]), (logits[1].tolist(), ids[1][:2], [0])]
    assert sft_loss(logits, targets).item() == pytest.approx(finetuned.answer_loss(rows))


def test_the_loss_of_equal_logits_is_ln_v_by_hand():
    targets = torch.tensor([[IGNORE, 2, 7]])
    assert sft_loss(torch.zeros(1, 3, 10), targets).item() == pytest.approx(math.log(10))


def test_the_prompt_has_no_gradient():
    logits = torch.randn(1, 4, 5, requires_grad=True)
    sft_loss(logits, torch.tensor([[IGNORE, IGNORE, 3, IGNORE]])).backward()
    assert logits.grad.abs().sum(-1).gt(0).tolist() == [[False, False, True, False]]


def test_case_101_a_batch_without_an_answer_token_is_refused():
    with pytest.raises(ValueError, match="some answer token counts"):
        sft_loss(torch.zeros(2, 3, 5), torch.full((2, 3), IGNORE))


def test_a_batch_is_a_function_of_seed_and_step(tok):
    one, same, other = (AnswerCorpus(colours, tok, batch_size=8, seed=seed) for seed in (1, 1, 2))
    for step in (3, 0, 3):
        assert one.batch(step).inputs.equal(same.batch(step).inputs)
    batches = [one.batch(step).inputs for step in range(4)] + [other.batch(0).inputs]
    assert len({str(inputs.tolist()) for inputs in batches}) == 5
    assert isinstance(one, Corpus) and one.settings == same.settings != other.settings


def test_held_out_examples_are_others_and_whole(tok):
    corpus = AnswerCorpus(colours, tok, batch_size=8, held_out_examples=20)
    assert [len(batch.inputs) for batch in corpus.held_out.batches] == [8, 8, 4]
    assert corpus.held_out.floor is None
    assert AnswerCorpus(colours, tok, held_out_examples=0).held_out is None


def test_it_learns_to_answer_and_stops_and_resumes_bit_for_bit(tok, tmp_path):
    corpus, options = AnswerCorpus(colours, tok, batch_size=8, held_out_examples=16), {"learning_rate": 1e-2}
    whole = small(tok)
    losses = [step.loss for step in gptlab.train(whole, corpus, 60, **options)]
    assert losses[-1] < 0.5 < losses[0]
    broken, path = small(tok), tmp_path / "run.safetensors"
    run = gptlab.train(broken, corpus, 60, checkpoint=path, **options)
    first = [next(run).loss for _ in range(11)]
    run.close()
    resumed = small(tok)
    rest = [step.loss for step in gptlab.train(resumed, corpus, 60, checkpoint=path, resume=True, **options)]
    assert first + rest == losses
    assert all(a.equal(b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))


def test_a_checkpoint_of_another_task_is_refused(tok, tmp_path):
    path = tmp_path / "run.safetensors"
    run = gptlab.train(small(tok), AnswerCorpus(colours, tok, batch_size=2), 5, checkpoint=path)
    next(run)
    run.close()
    other = AnswerCorpus(lambda rng: colours(rng)._replace(answer=" It was."), tok, batch_size=2)
    with pytest.raises(ValueError, match="data is"):
        gptlab.train(small(tok), other, 5, checkpoint=path, resume=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"batch_size": 0}, "batch_size is 0"), ({"held_out_examples": -1}, "held_out_examples is -1")],
)
def test_sizes_out_of_range_are_refused(tok, options, said):
    with pytest.raises(ValueError, match=said):
        AnswerCorpus(colours, tok, **options)


def test_case_101_a_prompt_that_fills_the_context_is_refused(tok):
    with pytest.raises(ValueError, match="a prompt with its answer is 12"):
        AnswerCorpus(colours, tok, context_length=6).batch(0)
