"""Words on the command line as numbers: each kind refuses what it does not take, in a phrase."""

import math
from argparse import ArgumentTypeError
from collections.abc import Callable


def whole(at_least: int) -> Callable[[str], int]:
    """Whole numbers of at least so much."""

    def read(word: str) -> int:
        try:
            number = int(word.replace(",", "").replace("_", ""))
        except ValueError:
            number = at_least - 1
        if number < at_least:
            raise ArgumentTypeError(f"{word} is no whole number of at least {at_least}")
        return number

    return read


def number(at_least: float | int, below: float | int = math.inf) -> Callable[[str], float]:
    """Numbers of at least so much, and below a bound."""
    bound = "" if below == math.inf else f" and below {below:g}"

    def read(word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not at_least <= value < below:
            raise ArgumentTypeError(f"{word} is no number of at least {at_least:g}{bound}")
        return value

    return read
