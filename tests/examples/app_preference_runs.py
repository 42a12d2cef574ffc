"""What β does, under a slider."""

from gptlab import apps
from tests.examples.figure_preference_runs import RUNS


def example():
    return apps.preference_runs(["short", "long"], [0.5, 0.5], RUNS, beta=1)
