"""Shares, margin and divergence at two β, with a slider for the browser."""

from gptlab import figures
from gptlab.figures.betas import PreferenceRun

STEPS = [0, 50, 100]
RUNS = {
    0.1: PreferenceRun([0.1, 0.9], [0.0, 1.0], STEPS, [0, 6, 9], [0, 0.9, 1.2]),
    1: PreferenceRun([0.3, 0.7], [0.27, 0.73], STEPS, [0, 1.5, 1.9], [0, 0.2, 0.3]),
}


def example():
    return figures.preference_runs(["short", "long"], [0.5, 0.5], RUNS)
