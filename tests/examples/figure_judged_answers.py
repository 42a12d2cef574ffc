"""Four answers to one question in two rounds, with a slider for the browser."""

from gptlab import figures

ANSWERS = [[" one, two.", " two, two, three.", " one, two, three.", " one"], [" one, two, three."] * 3 + [" one, two."]]
REWARDS = [[1, 1, 2, 0], [2, 2, 2, 1]]
ADVANTAGES = [[0, 0, 1.41, -1.41], [0.58, 0.58, 0.58, -1.73]]


def example():
    return figures.judged_answers(ANSWERS, REWARDS, ADVANTAGES, rounds=[0, 20])
