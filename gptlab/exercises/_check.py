"""Exercises that check themselves: what is asked, what is right, and which mistakes are known.

A lesson asks for a value or for a function. A function is held against plain loops on many inputs, the smallest first,
and the first input on which the two differ is shown. A wrong answer that behaves like a known mistake gets the hint for
that mistake; the others get the exercise's own hints, one more at each try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from gptlab._refuse import refuse

_RELATIVE, _ABSOLUTE = 1e-4, 1e-5  # loose enough for float32, and for numbers that were typed in
_PACKAGE = "gptlab.exercises"


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that is known, and what helps who gave it: a value, or a function that errs in the same way."""

    answer: Any
    hint: str


@dataclass(frozen=True)
class Exercise:
    """What is asked under a name such as "00.temperature".

    `right` is the value, or the function as plain loops; `inputs` gives the argument tuples to try a function on.
    """

    name: str
    right: Any
    inputs: Callable[[], Iterable[tuple]] | None = None
    mistakes: Sequence[Mistake] = ()
    hints: Sequence[str] = ()

    def judge(self, answer: Any) -> tuple[bool, str]:
        """Whether the answer is right, and if not, where it goes wrong."""
        if self.inputs is None:
            return (True, "") if same(answer, self.right) else (False, f"{_shown(answer)} is not it.")
        if not callable(answer):
            return False, f"{_shown(answer)} is no function; this exercise asks for one."
        tried = 0
        for arguments in self.inputs():
            right = self.right(*arguments)
            try:
                given = answer(*deepcopy(arguments))  # which it may change
            except Exception as problem:  # the learner's code may fail in any way, and is to be told, not stopped
                return False, f"On {_listed(arguments)} it raised {type(problem).__name__}: {problem}."
            if not same(given, right):
                return False, f"On {_listed(arguments)} it gives {_difference(given, right)}"
            tried += 1
        return True, f" On all {tried} inputs it agrees with the plain loops."

    def mistake_of(self, answer: Any) -> Mistake | None:
        """The known mistake that the answer behaves like on every input."""
        return next((mistake for mistake in self.mistakes if self._alike(answer, mistake.answer)), None)

    def _alike(self, answer: Any, wrong: Any) -> bool:
        if self.inputs is None:
            return same(answer, wrong)
        try:
            return all(same(answer(*deepcopy(one)), wrong(*deepcopy(one))) for one in self.inputs())
        except Exception:  # one of the two failed where the other did not
            return False


@dataclass(frozen=True)
class Verdict:
    """What `check` says. `right` is None while there is no answer."""

    name: str
    right: bool | None
    text: str

    def __repr__(self) -> str:
        mark = {None: "·", True: "✓", False: "✗"}[self.right]
        return f"{mark} {self.name}: {self.text}"


_tries: dict[str, int] = {}
_solved: set[str] = set()


def check(name: str, answer: Any, *, record: bool = True) -> Verdict:
    """Say whether the answer to an exercise is right, and help if it is not. Never raises for a wrong answer.

    Args:
        name: the exercise, such as "00.temperature".
        answer: a value or a function, as the exercise asks; `...` is no answer yet.
        record: whether the try counts for hints and progress. Solutions in the lessons are checked without.
    Raises:
        ValueError: for a name that no exercise has.
    """
    exercise = _find(name)
    if answer is ...:
        return Verdict(name, None, "not answered yet")
    right, where = exercise.judge(answer)
    if record:
        _tries[name] = _tries.get(name, 0) + 1
    if right:
        if record:
            _solved.add(name)
        return Verdict(name, True, f"right.{where}")
    return Verdict(name, False, " ".join([where, *_help(exercise, answer, _tries.get(name, 1))]))


def progress(lesson: str | None = None) -> str:
    """How many exercises have been solved since the kernel started, of a lesson ("00") or of all."""
    names = [name for name in exercises() if lesson is None or name.startswith(f"{lesson}.")]
    open_ones = [name for name in names if name not in _solved]
    rest = f"; still open: {', '.join(open_ones)}" if open_ones else ""
    return f"{len(names) - len(open_ones)} of {len(names)} exercises solved{rest}"


def exercises() -> dict[str, Exercise]:
    """Every exercise by its name."""
    lessons = sorted(module.name for module in iter_modules(import_module(_PACKAGE).__path__))
    found = (import_module(f"{_PACKAGE}.{name}").EXERCISES for name in lessons if name.startswith("lesson_"))
    return {exercise.name: exercise for lesson in found for exercise in lesson}


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal: numbers and arrays up to rounding, everything else exactly."""
    if isinstance(one, (str, bool, type(None))) or isinstance(other, (str, bool, type(None))):
        return type(one) is type(other) and one == other
    one, other = _plain(one), _plain(other)
    try:
        one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    except Exception:  # not numbers, or not all of one length; an object may fail in ways of its own
        return isinstance(one, Sequence) and isinstance(other, Sequence) and list(one) == list(other)
    return one.shape == other.shape and np.allclose(one, other, _RELATIVE, _ABSOLUTE, equal_nan=True)


def _find(name: str) -> Exercise:
    known = exercises()
    if name not in known:
        raise refuse("name", name, f"one of {', '.join(known)}")
    return known[name]


def _help(exercise: Exercise, answer: Any, tries: int) -> list[str]:
    mistake = exercise.mistake_of(answer)
    if mistake is not None:
        return [mistake.hint]
    return list(exercise.hints[: max(tries, 1)])


def _difference(given: Any, right: Any) -> str:
    """What was given and what is right; before the numbers of the two, their shapes, where those differ."""
    if given is None:
        return f"None; right is {_shown(right)}. Is there a `return`?"
    shapes = [_shape(given), _shape(right)]
    if None not in shapes and shapes[0] != shapes[1]:
        return f"{_shown(given)}, of shape {shapes[0]}; right is {_shown(right)}, of shape {shapes[1]}."
    return f"{_shown(given)}; right is {_shown(right)}."


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of an array or of nested lists, or None where there is none to speak of."""
    try:
        return np.asarray(_plain(value), dtype=float).shape
    except Exception:
        return None


def _plain(value: Any) -> Any:
    """A tensor, also one that carries gradients or is bfloat16, as an array; the same for each item of a list."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return (value.float() if value.is_floating_point() else value).numpy()
    return [_plain(item) for item in value] if type(value) in (list, tuple) else value


def _shown(value: Any) -> str:
    try:
        value = _plain(value)
        text = repr(_rounded(value.tolist() if hasattr(value, "tolist") else value))
    except Exception:  # an object that cannot even be written
        text = f"an object of {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:190]} …"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, (list, tuple)):
        return type(value)(_rounded(item) for item in value)
    return value


def _listed(arguments: tuple) -> str:
    return ", ".join(map(_shown, arguments))
