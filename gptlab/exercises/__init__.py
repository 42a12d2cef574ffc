"""The exercises of the lessons and the check that the learner calls."""

from gptlab.exercises._check import Exercise, Mistake, Verdict, check, exercises, progress

__all__ = ["Exercise", "Mistake", "Verdict", "check", "exercises", "progress"]
