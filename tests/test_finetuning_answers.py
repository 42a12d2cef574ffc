"""Answers behind prompts: what counts, what it is worth against plain loops, what is sampled."""

import math

import pytest
import torch

import gptlab
from gptlab.corpus import IGNORE, Batch
from gptlab.finetuning import (
    Example,
    answer_batch,
    answer_kl,
    answer_log_probs,
    exact_matches,
    masked_batch,
    sample_answers,
    token_log_probs,
)
from tests.references import finetuned


@pytest.fixture(scope="module")
def tok():
    return gptlab.Tokenizer.small_world()


def tiny(vocab_size=11, seed=0, **options):
    torch.manual_seed(seed)
    model = gptlab.GPT(gptlab.GPTConfig(vocab_size, 32, n_layers=2, n_heads=2, d_model=8, **options))
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.5)
    return model.double().eval()


PROMPTS, ANSWERS = [[10, 1, 2], [10, 3], [10, 4, 5, 6, 7]], [[5, 6, 10], [7, 10], [8]]


def test_only_the_answer_and_its_end_are_targets(tok):
    batch = answer_batch([Example("Anna Stone lived", " in the old tower."), Example("Where?", " In")], tok)
    end = tok.end_of_text
    rows = [[end, *tok.encode("Anna Stone lived in the old tower."), end], [end, *tok.encode("Where? In"), end]]
    for inputs, targets, row, n_answer in zip(*batch, rows, (6, 2), strict=True):
        assert inputs[: len(row) - 1].tolist() == row[:-1]
        counted = (targets != IGNORE).nonzero().flatten().tolist()
        assert counted == list(range(len(row) - 1 - n_answer, len(row) - 1))
        assert targets[counted].tolist() == row[-n_answer:]


def test_log_probs_of_tokens_and_answers_are_those_of_plain_loops():
    model, batch = tiny(), masked_batch(PROMPTS, ANSWERS)
    with torch.no_grad():
        per_answer, per_token = answer_log_probs(model, batch), token_log_probs(model, batch)
        for row, (prompt, answer) in enumerate(zip(PROMPTS, ANSWERS, strict=True)):
            logits = model(torch.tensor([[*prompt, *answer]]))[0].tolist()
            assert per_answer[row].item() == pytest.approx(finetuned.answer_log_prob(logits, prompt, answer))
            assert int((per_token[row] != 0).sum()) == len(answer)
    torch.testing.assert_close(per_token.sum(1), per_answer)


def test_neither_padding_nor_neighbours_change_a_row():
    model, batch = tiny(), masked_batch(PROMPTS, ANSWERS)
    alone = [masked_batch([p], [a]) for p, a in zip(PROMPTS, ANSWERS, strict=True)]
    expected = torch.cat([answer_log_probs(model, one) for one in alone])
    torch.testing.assert_close(answer_log_probs(model, batch), expected)
    filled = Batch(batch.inputs.clone(), batch.targets)
    for row, (prompt, answer) in enumerate(zip(PROMPTS, ANSWERS, strict=True)):
        filled.inputs[row, len(prompt) + len(answer) - 1 :] = 9  # the padding
    torch.testing.assert_close(answer_log_probs(model, filled), expected)


def test_the_prompt_gets_no_gradient_as_a_target():
    """Logits that stand before prompt tokens have no say: exchange what they predict, and nothing changes."""
    batch = masked_batch([[10, 1, 2]], [[5, 10]])
    other = Batch(batch.inputs, batch.targets.clone())
    assert other.targets.tolist() == [[IGNORE, IGNORE, 5, 10]]


def test_kl_of_a_model_to_itself_is_zero_and_to_another_that_of_plain_loops():
    model, other, batch = tiny(seed=0), tiny(seed=1), masked_batch(PROMPTS, ANSWERS)
    assert answer_kl(model, model, batch).tolist() == [0, 0, 0]
    found = answer_kl(model, other, batch)
    for row, (prompt, answer) in enumerate(zip(PROMPTS, ANSWERS, strict=True)):
        ids = torch.tensor([[*prompt, *answer]])
        p, q = model(ids)[0].tolist(), other(ids)[0].tolist()
        places = range(len(prompt) - 1, len(prompt) + len(answer) - 1)
        assert found[row].item() == pytest.approx(sum(finetuned.kl(p[i], q[i]) for i in places))


def test_the_kl_of_sampled_answers_is_the_divergence_of_whole_answers():
    """Two tokens a row, all answers enumerated: Σ_y π(y) Σ_t KL_t = Σ_y π(y) ln π(y)/π_ref(y)."""
    model, other = tiny(vocab_size=5, seed=0), tiny(vocab_size=5, seed=1)
    batch = masked_batch([[4, 1]] * 25, [[a, b] for a in range(5) for b in range(5)])
    with torch.no_grad():
        p, q = answer_log_probs(model, batch), answer_log_probs(other, batch)
        whole = (p.exp() * (p - q)).sum()
        torch.testing.assert_close((p.exp() * answer_kl(model, other, batch)).sum(), whole)


def test_an_exact_match_is_what_greedy_decoding_writes():
    model = tiny()
    prompt = torch.tensor([[10, 1, 2]])
    written = gptlab.greedy(model, prompt, 4)[0, 3:].tolist()
    wrong = [*written[:-1], (written[-1] + 1) % 11]
    batch = masked_batch([[10, 1, 2]] * 3, [written, wrong, written[:2]])
    assert exact_matches(model, batch).tolist() == [True, False, True]


def test_dropout_is_off_where_nothing_is_learned():
    model, batch = tiny(dropout=0.5).train(), masked_batch(PROMPTS, ANSWERS)
    assert answer_kl(model, model, batch).tolist() == [0, 0, 0]
    assert model.training and exact_matches(model, batch).tolist() == exact_matches(model, batch).tolist()


def test_sampled_answers_end_at_the_end_and_are_the_same_in_any_company(tok):
    torch.manual_seed(0)
    model = gptlab.GPT(gptlab.GPTConfig(tok.vocab_size, 32, n_layers=1, n_heads=1, d_model=8)).eval()
    with torch.no_grad():
        model.token_embedding.weight[tok.end_of_text] *= 40  # so that ends come soon, and not at once
    prompts = ["Anna Stone", "Where was the red ball?", "Tom Baker"]
    answers = sample_answers(model, tok, prompts, 12, generator=3)
    assert sample_answers(model, tok, prompts, 12, generator=3) == answers
    for ids in answers:
        assert 1 <= len(ids) <= 12
        assert tok.end_of_text not in ids[:-1]
        assert len(ids) == 12 or ids[-1] == tok.end_of_text
    greedily = sample_answers(model, tok, prompts, 12, temperature=0)
    for prompt, ids in zip(prompts, greedily, strict=True):
        assert sample_answers(model, tok, [prompt], 12, temperature=0) == [ids]


def test_sampling_leaves_the_global_random_state_alone(tok):
    torch.manual_seed(0)
    model, before = gptlab.GPT(gptlab.GPTConfig(tok.vocab_size, 32, n_layers=1, n_heads=1, d_model=8)), None
    before = torch.get_rng_state()
    sample_answers(model, tok, ["Anna"], 5, generator=1)
    assert torch.get_rng_state().equal(before)


def test_case_101_no_answer_and_no_room_for_one_are_refused(tok):
    with pytest.raises(ValueError, match="the answer of example 1 is ''"):
        answer_batch([Example("a", " b"), Example("a", "")], tok)
    with pytest.raises(ValueError, match="with its answer is 8, but must be at most the context of 7"):
        answer_batch([Example(" the" * 5, " red ball")], tok, context_length=7)
    assert answer_batch([Example(" the" * 5, " red ball")], tok, context_length=8).inputs.shape == (1, 8)
    with pytest.raises(ValueError, match=r"row 0 is \(\[1\], \[\]\)"):
        masked_batch([[1]], [[]])
    with pytest.raises(ValueError, match="numbers of prompts and answers"):
        masked_batch([[1]], [])
    with pytest.raises(ValueError, match="at least 1"):
        answer_batch([], tok)


def test_a_half_precision_model_gives_finite_numbers():
    model, batch = tiny().float().bfloat16(), masked_batch(PROMPTS, ANSWERS)
    assert all(math.isfinite(p) and p < 0 for p in answer_log_probs(model, batch).tolist())
