"""Measuring side by side: contestants take turns in one run, so that what else the machine does hits all of them."""

import gc
import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter

OURS = "gptlab"
FEWEST_ROUNDS = 3


@dataclass(frozen=True)
class Comparison:
    """One task: what each contestant needed for it, every round of it, gptlab first. A unit per second is a rate."""

    task: str
    unit: str
    values: Mapping[str, list[float]]

    def rows(self) -> Iterator[list[str]]:
        """Task, contestant, median, range, and how many times better gptlab's median is."""
        ours = statistics.median(next(iter(self.values.values())))
        for number, (name, values) in enumerate(self.values.items()):
            median = statistics.median(values)
            times = ours / median if self.unit.endswith("/s") else median / ours
            spread = f"{short(min(values))} – {short(max(values))}" if len(values) > 1 else ""
            task = f"{self.task}, {self.unit}" if number == 0 else ""
            yield [task, name, short(median), spread, f"{times:.2f} ×" if number else "", str(len(values))]


def seconds(contestants: Mapping[str, Callable[[], object]], budget: float) -> dict[str, list[float]]:
    """Seconds of each call, round by round until the budget is spent; a round before that warms up and is not counted.

    Each round has an order of its own, for who runs behind the library with the busiest threads is slower by that. The
    collector of garbage waits till the round is over.
    """
    order = random.Random(0)
    names, taken = list(contestants), {name: [] for name in contestants}
    for call in contestants.values():
        call()
    began, number = perf_counter(), 0
    while number < FEWEST_ROUNDS or perf_counter() - began < budget:
        gc.collect()
        gc.disable()
        for name in order.sample(names, len(names)):
            start = perf_counter()
            contestants[name]()
            taken[name].append(perf_counter() - start)
        gc.enable()
        number += 1
    return taken


def rates(taken: Mapping[str, list[float]], amount: float) -> dict[str, list[float]]:
    """So many of them in each second."""
    return {name: [amount / one for one in values] for name, values in taken.items()}


def milliseconds(taken: Mapping[str, list[float]]) -> dict[str, list[float]]:
    return {name: [1_000 * one for one in values] for name, values in taken.items()}


def short(value: float) -> str:
    """Three figures, and no fewer than stand before the point."""
    if value >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.3g}"
