"""GRPO: advantages, clip and divergence by hand and by plain loops; a model that learns from rewards alone."""

import math

import pytest
import torch

import gptlab
from gptlab.finetuning import clipped_objective, grpo_advantages, grpo_loss, kl_k3, train_grpo
from gptlab.finetuning.tasks import Counting
from tests.references import finetuned


@pytest.fixture(scope="module")
def tok():
    return gptlab.Tokenizer.train("one two three four five six " * 20, 262)


def small(tok, seed=0):
    torch.manual_seed(seed)
    return gptlab.GPT(gptlab.GPTConfig(tok.vocab_size, 24, n_layers=1, n_heads=2, d_model=16))


def ask(rng):
    return Counting(rng.choice(["one", "two"]), 1)


def likes_short(asked, answer):
    return {"short": float(len(answer) < 20), "ended": 0.5 * answer.endswith("<|endoftext|>")}


def test_case_106_equal_rewards_and_a_group_of_one_give_no_advantage_and_no_nan():
    assert grpo_advantages(torch.ones(1, 4)).tolist() == [[0, 0, 0, 0]]
    assert grpo_advantages(torch.tensor([[0.3]])).tolist() == [[0]]
    tenths = torch.full((1, 3), 0.1)  # their mean is another number in float32
    assert grpo_advantages(tenths).tolist() == [[0, 0, 0]]


def test_case_106_equal_rewards_give_no_step(tok):
    model = small(tok)
    before = [p.clone() for p in model.parameters()]
    (step,) = train_grpo(model, tok, ask, lambda *_: {"same": 1.0}, 1, questions=2, group=3, max_new_tokens=3)
    assert step.silent == 1 and step.gradient_norm == 0 and step.loss == 0
    assert all(a.equal(b) for a, b in zip(before, model.parameters(), strict=True))


def test_case_107_the_deviation_is_the_populations_and_advantages_sum_to_0():
    found = grpo_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    assert found[0].tolist() == pytest.approx([1.732051, -0.577350, -0.577350, -0.577350], abs=1e-6)
    assert found.sum().item() == pytest.approx(0, abs=1e-6)


def test_advantages_are_those_of_plain_loops_group_by_group():
    rewards = torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for row, found in zip(rewards.tolist(), grpo_advantages(rewards).tolist(), strict=True):
        assert found == pytest.approx(finetuned.advantages(row))
    shifted = grpo_advantages(3 * rewards + 7)
    torch.testing.assert_close(shifted, grpo_advantages(rewards))


def test_rewards_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="finite"):
        grpo_advantages(torch.tensor([[1.0, math.nan]]))


@pytest.mark.parametrize(
    ("ratio", "advantage", "value"),
    [(1.0, 2, 2.0), (1.5, 1, 1.2), (0.5, 1, 0.5), (1.5, -1, -1.5), (0.5, -1, -0.8), (1.1, -2, -2.2)],
)
def test_the_ratio_is_clipped_on_the_side_where_it_would_pay(ratio, advantage, value):
    """By hand with ε = 0.2; what the notes clip, ratio × reward, would be 1.2 in the first row and 0.8 in the last."""
    found = clipped_objective(torch.tensor([ratio]), torch.tensor([float(advantage)]), 0.2)
    assert found.item() == pytest.approx(value)


def test_a_clipped_token_has_no_gradient():
    ratio = torch.tensor([1.5, 0.5, 1.5, 0.5], requires_grad=True)
    clipped_objective(ratio, torch.tensor([1.0, 1.0, -1.0, -1.0]), 0.2).sum().backward()
    assert ratio.grad.tolist() == [0, 1, -1, 0]


def test_k3_is_never_negative_by_hand_and_its_mean_is_the_divergence():
    assert kl_k3(torch.tensor([0.0]), torch.tensor([0.0])).item() == 0
    assert kl_k3(torch.tensor([math.log(0.5)]), torch.tensor([math.log(0.25)])).item() == pytest.approx(
        0.5 + math.log(2) - 1
    )
    p, q = torch.randn(2, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).log_softmax(-1)
    estimates = kl_k3(p, q)
    assert (estimates >= 0).all()
    assert (p.exp() * estimates).sum().item() == pytest.approx(finetuned.kl(p.tolist(), q.tolist()))


def test_the_loss_is_that_of_plain_loops():
    g = torch.Generator().manual_seed(2)
    new, old, reference = (torch.randn(3, 4, dtype=torch.float64, generator=g) / 3 for _ in range(3))
    advantage = torch.tensor([1.0, -0.5, 0.3], dtype=torch.float64)
    counted = torch.tensor([[False, True, True, True], [True, False, False, False], [False, False, True, True]])
    found = grpo_loss(new, old, reference, advantage, counted, epsilon=0.1, beta=0.3)
    lists = [x.tolist() for x in (new, old, reference, advantage, counted)]
    assert found.item() == pytest.approx(finetuned.grpo(*lists, 0.1, 0.3))


def test_case_110_the_loss_starts_at_0_and_its_gradient_does_not():
    log_probs = torch.tensor([[-1.0, -2.0], [-0.5, -0.1]], requires_grad=True)
    advantages, counted = torch.tensor([1.0, -1.0]), torch.ones(2, 2, dtype=torch.bool)
    loss = grpo_loss(log_probs, log_probs.detach(), log_probs.detach(), advantages, counted)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-7)
    assert log_probs.grad.tolist() == [[-0.25, -0.25], [0.25, 0.25]]  # −A / tokens / rows: the plain policy gradient


def test_case_110_so_it_is_in_a_training(tok):
    def likes_even_lengths(asked, answer):
        return {"even": float(len(answer) % 2 == 0)}

    step = next(train_grpo(small(tok), tok, ask, likes_even_lengths, 2, questions=3, group=6, max_new_tokens=9))
    assert step.loss == pytest.approx(0, abs=1e-6) and step.gradient_norm > 1e-3 and step.kl == 0


def test_what_is_not_counted_has_no_say():
    torch.manual_seed(0)
    new, other = torch.randn(2, 3), torch.randn(2, 3)
    counted = torch.tensor([[True, False, True], [False, True, False]])
    filled = torch.where(counted, new, other)
    one, same = (grpo_loss(x, torch.zeros(2, 3), torch.zeros(2, 3), torch.ones(2), counted) for x in (new, filled))
    assert one.item() == same.item()
    far = torch.where(counted, new, 1e4)  # exp overflows there, and no NaN may come out of it
    far.requires_grad_()
    grpo_loss(far, torch.zeros(2, 3), torch.zeros(2, 3), torch.ones(2), counted).backward()
    assert far.grad.isfinite().all()


def test_rewards_rise_and_the_same_seed_takes_the_same_rounds(tok):
    def rounds():
        return list(
            train_grpo(
                small(tok), tok, ask, likes_short, 25, questions=4, group=8, max_new_tokens=8, learning_rate=3e-2
            )
        )

    steps = rounds()
    assert steps == rounds()
    first, last = steps[0].rewards, steps[-1].rewards
    assert first["ended"] < 0.1 and last["ended"] > 0.3
    assert {*first} == {"short", "ended"} and steps[-1].kl > 0
    assert all(0 <= step.clipped <= 1 and 0 <= step.silent <= 1 for step in steps)


def test_with_one_update_a_round_nothing_is_ever_clipped(tok):
    steps = train_grpo(small(tok), tok, ask, likes_short, 3, questions=2, group=4, updates=1, max_new_tokens=4)
    assert [step.clipped for step in steps] == [0, 0, 0]


def test_a_run_stops_and_resumes_bit_for_bit(tok, tmp_path):
    def start(**options):
        model = small(tok)
        return model, train_grpo(
            model, tok, ask, likes_short, 5, questions=2, group=4, max_new_tokens=4, learning_rate=1e-2, **options
        )

    whole, run = start()
    unbroken = list(run)
    path = tmp_path / "run.safetensors"
    _, run = start(checkpoint=path)
    first = [next(run) for _ in range(2)]
    run.close()
    resumed, run = start(checkpoint=path, resume=True)
    assert first + list(run) == unbroken
    assert all(a.equal(b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))


def test_an_interrupt_within_a_round_leaves_the_last_checkpoint_as_it_is(tok, tmp_path):
    path, rounds = tmp_path / "run.safetensors", []

    def interrupted(asked, answer):
        if len(rounds) == 2:
            raise KeyboardInterrupt
        return likes_short(asked, answer)

    run = train_grpo(small(tok), tok, ask, interrupted, 5, questions=2, group=4, max_new_tokens=4, checkpoint=path)
    with pytest.raises(KeyboardInterrupt):
        for step in run:
            rounds.append(step)
    again = train_grpo(
        small(tok), tok, ask, likes_short, 5, questions=2, group=4, max_new_tokens=4, checkpoint=path, resume=True
    )
    assert next(again).number == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"group": 1}, "group is 1"), ({"questions": 0}, "questions is 0"),
        ({"max_new_tokens": 0}, "max_new_tokens is 0"),
        ({"updates": 0}, "updates is 0"), ({"epsilon": 0}, "epsilon is 0,"), ({"epsilon": 1.0}, "epsilon is 1"),
        ({"beta": -1}, "beta is -1"), ({"beta": math.nan}, "beta is nan"),
        ({"learning_rate": math.inf}, "learning_rate"),
    ],
)  # fmt: skip
def test_options_out_of_range_are_refused_before_the_first_round(tok, options, said):
    with pytest.raises(ValueError, match=said):
        train_grpo(small(tok), tok, ask, likes_short, 3, **options)


def test_a_row_without_a_counted_token_is_refused():
    with pytest.raises(ValueError, match=r"counted is \[1, 0\]"):
        zeros = torch.zeros(2, 1)
        grpo_loss(zeros, zeros, zeros, torch.zeros(2), torch.tensor([[True], [False]]))
