"""Answers to one question side by side: what each is rewarded with, and whether it is to become likelier or less so.

Axes: R rounds of a training, G answers in a group.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, INK, MONO, TEXT_PX, VERMILION, Number, as_array, canvas, escaped, px, slider

ROW_PX = 34
LONGEST = 46  # characters of an answer that its column holds
NOTHING = "(nothing)"


def judged_answers(
    answers: Sequence[Sequence[str]], rewards: Any, advantages: Any, *, rounds: Sequence[int], first: int = 0
) -> go.Figure:
    """Draw a group of answers with rewards and advantages, best on top; of several rounds a slider chooses one.

    answers: R × G texts. rewards, advantages: (R,G). rounds: R numbers, for the slider. first: which of them is shown
    first. ValueError, naming it, for no answer, shapes that do not fit, and a first that is not there.
    """
    rewards, advantages = as_array(rewards, float), as_array(advantages, float)
    _check(answers, rewards, advantages, rounds, first)
    groups = [ranked(*group) for group in zip(answers, rewards, advantages, strict=True)]
    texts, heights, said = groups[first]
    n, widest = len(texts), max(1.0, float(np.abs(advantages).max()))
    rows = np.arange(n, dtype=np.int16)
    steps = [
        (
            str(number),
            [{"x": [[0] * n, x.tolist()], "text": [words, marks], "marker.color": [None, colours(x)]}, [0, 1]],
        )
        for number, (words, x, marks) in zip(rounds, groups, strict=True)
    ]
    return canvas(
        [
            go.Scatter(
                x=[0] * n, y=rows, text=texts, mode="text", textposition="middle right", xaxis="x2",
                textfont={"family": MONO, "size": px(TEXT_PX), "color": INK}, hoverinfo="skip",
            ),
            go.Bar(
                x=heights, y=rows, text=said, orientation="h", textposition="outside", cliponaxis=False, textangle=0,
                marker={"color": colours(heights)}, textfont={"size": px(TEXT_PX), "color": INK},
                hovertemplate="advantage %{x:.2f}, %{text}<extra></extra>",
            ),
        ],
        description=_description(rounds[first], groups[first]),
        height=ROW_PX * n + 110 + 110 * (len(steps) > 1),
        xaxis={"domain": [0.5, 1], "range": [-1.6 * widest, 1.6 * widest], "title": {"text": "advantage"}},
        xaxis2={"domain": [0, 0.5], "range": [0, 1], "visible": False, "anchor": "y"},
        yaxis={"range": [n - 0.5, -0.5], "visible": False},
        sliders=[slider("after round", steps, first, top=70)] if len(steps) > 1 else [],
        showlegend=False,
    )  # fmt: skip


def ranked(
    answers: Sequence[str], rewards: np.ndarray, advantages: np.ndarray
) -> tuple[list[str], np.ndarray, list[str]]:
    """Labels, advantages and the words for the rewards of a group, the best answer first."""
    order = np.argsort(-rewards, kind="stable")
    labels = [answers[i] if len(answers[i]) <= LONGEST else f"{answers[i][: LONGEST - 2]} …" for i in order]
    return (
        [escaped(label.strip() or NOTHING) for label in labels],
        advantages[order],
        [f"R = {rewards[i]:g}" for i in order],
    )


def colours(advantages: np.ndarray) -> list[str]:
    """Blue for what is to become likelier, vermilion for what is not."""
    return [BLUE if advantage >= 0 else VERMILION for advantage in advantages]


def _check(
    answers: Sequence[Sequence[str]], rewards: np.ndarray, advantages: np.ndarray, rounds: Sequence[int], first: Number
) -> None:
    if rewards.ndim != 2 or not rewards.size:
        raise refuse("the shape of rewards", rewards.shape, "(rounds, answers), with at least one of each")
    if advantages.shape != rewards.shape:
        raise refuse("the shape of advantages", advantages.shape, f"{rewards.shape}, as rewards")
    sizes = [len(group) for group in answers]
    if sizes != [rewards.shape[1]] * len(rewards):
        raise refuse("the numbers of answers", sizes, f"{rewards.shape[1]} in each of {len(rewards)} rounds")
    if len(rounds) != len(rewards):
        raise refuse("the number of rounds", len(rounds), f"{len(rewards)}, as rewards have rows")
    if not 0 <= first < len(rounds):
        raise refuse("first", first, f"from 0 to {len(rounds) - 1}, one of the rounds")


def _description(number: int, group: tuple[list[str], np.ndarray, list[str]]) -> str:
    texts, advantages, said = group
    best, worst = (f"‘{texts[i]}’ {said[i]}, advantage {advantages[i]:.2f}" for i in (0, -1))
    return f"{len(texts)} answers to one question after round {number}; best {best}; worst {worst}."
