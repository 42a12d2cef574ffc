"""A group of answers in two rounds, under a slider."""

from gptlab import apps
from tests.examples.figure_judged_answers import ADVANTAGES, ANSWERS, REWARDS


def example():
    return apps.judged_answers(ANSWERS, REWARDS, ADVANTAGES, rounds=[0, 20])
