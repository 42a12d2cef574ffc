"""Preferences: both losses against numbers worked out by hand, a reward model and DPO that learn what is liked."""

import copy
import math

import pytest
import torch

import gptlab
from gptlab.corpus import Batch
from gptlab.finetuning import (
    Preference,
    RewardModel,
    answer_log_probs,
    bradley_terry_loss,
    dpo_loss,
    preference_batches,
    train_dpo,
    train_reward_model,
)
from tests.references import finetuned

ZERO = torch.zeros(1)


@pytest.fixture(scope="module")
def tok():
    return gptlab.Tokenizer.small_world()


def small(tok, dropout=0.0):
    torch.manual_seed(0)
    config = gptlab.GPTConfig(tok.vocab_size, 32, n_layers=2, n_heads=2, d_model=16, dropout=dropout)
    return gptlab.GPT(config)


def liking_red(rng):
    """Red is liked better than blue, always, whatever the prompt."""
    return Preference(rng.choice(["The ball.", "The old book."]), " It was red.", " It was blue.")


def at_margin(margin, beta):
    return dpo_loss(torch.tensor([float(margin)]), ZERO, ZERO, ZERO, beta)


def test_case_103_dpo_at_the_reference_is_ln_2_and_its_gradient_is_not_0(tok):
    model = small(tok)
    chosen, rejected = preference_batches([Preference("The ball.", " It was red.", " Blue.")], tok)
    with torch.no_grad():
        fixed = [answer_log_probs(model, batch) for batch in (chosen, rejected)]
    loss = dpo_loss(answer_log_probs(model, chosen), answer_log_probs(model, rejected), *fixed, beta=0.1)
    assert loss.item() == pytest.approx(math.log(2), abs=1e-6)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    assert sum(g.abs().sum().item() for g in gradients) > 1e-3


@pytest.mark.parametrize(
    ("margin", "beta", "loss"), [(2, 0.1, 0.598139), (-2, 0.1, 0.798139), (2, 1, 0.126928), (0, 0.5, 0.693147)]
)
def test_case_103_dpo_has_the_values_that_were_worked_out(margin, beta, loss):
    assert at_margin(margin, beta).item() == pytest.approx(loss, abs=1e-6)


def test_case_105_far_off_pairs_stay_finite():
    margin = torch.tensor([-1000.0], requires_grad=True)
    loss = dpo_loss(margin, ZERO, ZERO, ZERO, beta=1)
    loss.backward()
    assert loss.item() == 1000 and margin.grad.item() == -1
    assert at_margin(1000, 1).item() == 0
    assert bradley_terry_loss(torch.tensor([-1000.0]), ZERO).item() == 1000


def test_losses_are_those_of_plain_loops():
    g = torch.Generator().manual_seed(0)
    terms = [torch.randn(7, generator=g, dtype=torch.float64) * 5 for _ in range(4)]
    listed = [term.tolist() for term in terms]
    assert dpo_loss(*terms, beta=0.3).item() == pytest.approx(finetuned.dpo(*listed, 0.3))
    assert bradley_terry_loss(*terms[:2]).item() == pytest.approx(finetuned.bradley_terry(*listed[:2]))


def test_bradley_terry_by_hand():
    assert bradley_terry_loss(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 0.0])).item() == pytest.approx(
        (math.log(1 + math.exp(-1)) + math.log(2)) / 2
    )


def test_the_gradient_at_the_reference_is_half_of_beta_and_goes_to_0_with_it():
    for beta in (1.0, 0.1, 0.001):
        margin = torch.zeros(1, requires_grad=True)
        dpo_loss(margin, ZERO, ZERO, ZERO, beta).backward()
        assert margin.grad.item() == pytest.approx(-beta / 2)


def test_the_smaller_beta_the_further_from_the_reference_lies_the_optimum():
    """For one pair that is preferred with probability p the loss is least at margin ln(p / (1 − p)) / β."""
    p = 0.8
    for beta in (1.0, 0.1, 0.01):
        margin = torch.full((1,), math.log(p / (1 - p)) / beta, requires_grad=True)
        loss = p * dpo_loss(margin, ZERO, ZERO, ZERO, beta) + (1 - p) * dpo_loss(ZERO, margin, ZERO, ZERO, beta)
        loss.backward()
        assert margin.grad.item() == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("beta", [0, -0.1, math.inf, math.nan])
def test_a_beta_out_of_range_is_refused_before_the_first_step(tok, beta):
    with pytest.raises(ValueError, match="beta is"):
        dpo_loss(ZERO, ZERO, ZERO, ZERO, beta)
    with pytest.raises(ValueError, match="beta is"):
        train_dpo(small(tok), tok, liking_red, 3, beta=beta)


def test_a_reward_is_0_at_first_and_read_at_the_answers_last_token(tok):
    model = RewardModel(small(tok)).eval()
    chosen, _ = preference_batches([Preference("The ball.", " It was red.", " Blue.")] * 2, tok)
    assert model(chosen).tolist() == [0, 0]
    torch.nn.init.normal_(model.head.weight)
    wider = Batch(*(torch.nn.functional.pad(part, (0, 3), value=fill) for part, fill in zip(chosen, (7, -100))))  # noqa: B905
    torch.testing.assert_close(model(wider), model(chosen))  # padding is not read
    by_hand = model.body.hidden(chosen.inputs)[:, -1] @ model.head.weight[0]
    torch.testing.assert_close(model(chosen), by_hand)


def test_a_reward_model_leaves_the_model_it_was_made_of_alone(tok):
    model = small(tok)
    before = copy.deepcopy(model.state_dict())
    list(train_reward_model(RewardModel(model), tok, liking_red, 2))
    assert all(weight.equal(before[name]) for name, weight in model.state_dict().items())


def test_a_reward_model_starts_at_ln_2_and_learns_what_is_liked(tok):
    steps = list(train_reward_model(RewardModel(small(tok)), tok, liking_red, 25, batch_size=4, learning_rate=1e-2))
    assert steps[0].loss == pytest.approx(math.log(2)) and steps[0].accuracy == 0.5
    assert steps[-1].loss < 0.1 and steps[-1].accuracy == 1 and steps[-1].margin > 2


def test_dpo_starts_at_ln_2_makes_the_liked_likelier_and_leaves_the_mode_alone(tok):
    model = small(tok, dropout=0.5).train()
    chosen, rejected = preference_batches([Preference("The ball.", " It was red.", " It was blue.")], tok)
    model.eval()
    before = (answer_log_probs(model, chosen) - answer_log_probs(model, rejected)).item()
    model.train()
    steps = list(train_dpo(model, tok, liking_red, 15, beta=0.1, batch_size=4, learning_rate=3e-3))
    assert model.training
    assert steps[0].loss == pytest.approx(math.log(2)) and steps[0].margin == pytest.approx(0, abs=1e-5)
    model.eval()
    after = (answer_log_probs(model, chosen) - answer_log_probs(model, rejected)).item()
    assert after > before + 1 and steps[-1].accuracy == 1
    assert [step.number for step in steps] == list(range(1, 16))


@pytest.mark.parametrize("kind", ["reward", "dpo"])
def test_a_run_stops_and_resumes_bit_for_bit(tok, tmp_path, kind):
    def start(**options):
        model = RewardModel(small(tok)) if kind == "reward" else small(tok)
        train = train_reward_model if kind == "reward" else train_dpo
        return model, train(model, tok, liking_red, 6, batch_size=2, learning_rate=1e-2, **options)

    whole, run = start()
    unbroken = [step.loss for step in run]
    path = tmp_path / "run.safetensors"
    _, run = start(checkpoint=path)
    first = [next(run).loss for _ in range(2)]
    run.close()
    resumed, run = start(checkpoint=path, resume=True)
    assert first + [step.loss for step in run] == unbroken
    assert all(a.equal(b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))
    assert list(start(checkpoint=path, resume=True)[1]) == []  # it is done


def test_an_interrupt_leaves_a_checkpoint_and_an_option_changed_is_refused(tok, tmp_path):
    path = tmp_path / "run.safetensors"
    run = train_dpo(small(tok), tok, liking_red, 4, batch_size=2, checkpoint=path)
    next(run)
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt)
    assert path.exists()
    with pytest.raises(ValueError, match="beta is 0.5"):
        train_dpo(small(tok), tok, liking_red, 4, batch_size=2, beta=0.5, checkpoint=path, resume=True)


def test_options_that_contradict_one_another_are_refused(tok):
    for options in ({"resume": True}, {"checkpoint_every": 2}):
        with pytest.raises(ValueError, match="checkpoint is None"):
            train_dpo(small(tok), tok, liking_red, 3, **options)
    for options, said in (({"batch_size": 0}, "batch_size"), ({"learning_rate": -1}, "learning_rate")):
        with pytest.raises(ValueError, match=said):
            train_dpo(small(tok), tok, liking_red, 3, **options)


def test_a_loss_that_is_not_finite_stops_with_the_weights_as_they_were(tok):
    model = RewardModel(small(tok))
    with torch.no_grad():
        model.head.weight.fill_(math.inf)
    before = model.body.token_embedding.weight.clone()
    with pytest.raises(FloatingPointError, match="round 1"):
        next(train_reward_model(model, tok, liking_red, 3))
    assert model.body.token_embedding.weight.equal(before)
