"""Each exercise: its own solution is right, known mistakes are named, nothing raises, nothing is recorded unasked."""

import pytest
import torch

import gptlab
from gptlab.exercises import _check, check, exercises, progress

ALL = list(exercises().values())


@pytest.fixture(autouse=True)
def fresh_record(monkeypatch):
    monkeypatch.setattr(_check, "_tries", {})
    monkeypatch.setattr(_check, "_solved", set())


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)
def test_the_right_answer_is_right(exercise):
    verdict = check(exercise.name, exercise.right)
    assert verdict.right is True
    assert "right" in repr(verdict)


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)
def test_no_answer_is_no_mistake(exercise):
    verdict = check(exercise.name, ...)
    assert verdict.right is None
    assert repr(verdict) == f"· {exercise.name}: not answered yet"


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [(exercise, mistake) for exercise in ALL for mistake in exercise.mistakes],
    ids=lambda x: getattr(x, "name", None) or x.hint[:20],
)
def test_a_known_mistake_gets_its_own_hint(exercise, mistake):
    verdict = check(exercise.name, mistake.answer)
    assert verdict.right is False
    assert mistake.hint in repr(verdict)


def test_every_exercise_knows_three_mistakes_with_hints_of_their_own_and_helps_with_any_other():
    for exercise in ALL:
        assert len({mistake.hint for mistake in exercise.mistakes}) >= 3, exercise.name
        assert exercise.hints and not {mistake.hint for mistake in exercise.mistakes} & set(exercise.hints)


class Stubborn:
    """Whatever is asked of it fails."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "answer",
    [None, "eight", -1, float("nan"), object(), [1, 2], lambda: 1, torch.zeros(3), {}, Stubborn(), [[1], [1, 2]]],
    ids=lambda answer: type(answer).__name__,
)
@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)
def test_any_wrong_answer_is_told_and_never_raises(exercise, answer):
    assert check(exercise.name, answer).right is False
    assert check(exercise.name, lambda *_: answer).right is False


def test_a_right_answer_may_carry_gradients_and_change_what_it_was_given():
    def in_place(logits, temperature):
        return list(logits.div_(temperature).softmax(-1).requires_grad_())

    assert check("00.temperature", in_place).right is True
    assert check("00.tokens", torch.tensor(8.0, requires_grad=True)).right is True


def test_a_mistake_that_changes_what_it_was_given_is_known_all_the_same():
    assert "powers must still be divided" in repr(check("00.temperature", lambda z, t: z.div_(t).exp_()))


def test_a_missing_return_and_a_wrong_shape_are_named():
    assert "Is there a `return`?" in repr(check("00.temperature", lambda logits, temperature: None))
    said = repr(check("00.temperature", lambda logits, temperature: logits[None]))
    assert "of shape (1, 2); right is [0.26894, 0.73106], of shape (2,)." in said


def test_the_first_input_that_fails_is_shown():
    said = repr(check("00.temperature", lambda logits, temperature: logits))
    assert "On [0.0, 1.0], 1.0 it gives [0.0, 1.0]; right is [0.26894, 0.73106]" in said


def test_an_answer_that_raises_is_told_with_the_reason():
    def answer(logits, temperature):
        raise RuntimeError("oh")

    assert "RuntimeError: oh" in repr(check("00.temperature", answer))


def test_hints_come_one_by_one():
    first, second = repr(check("00.triangle", 1)), repr(check("00.triangle", 1))
    assert "1 + 2" not in first
    assert "1 + 2" in second


def test_unrecorded_checks_leave_progress_alone():
    check("00.triangle", 36, record=False)
    assert progress("00").startswith("0 of 4")
    check("00.triangle", 36)
    assert progress("00").startswith("1 of 4")
    assert "00.triangle" not in progress("00")


def test_an_unknown_exercise_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"'99\.x'.*00\.tokens"):
        gptlab.check("99.x", 1)
