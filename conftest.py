"""How nbval compares a lesson's stored outputs with a fresh run: numbers with a tolerance, words exactly.

Two processors round differently, so the last digits of a loss or a probability are not the lesson's fault.
    a figure (any JSON): shape, kinds and texts exactly, numbers to 1e-4 of their size (1e-6 near zero);
                         whole per cents in 8 bits (a heatmap's z) may differ by one step, where rounding tips over
    a text:              words and whole numbers exactly; numbers with a point, an exponent or a per cent sign
                         to 0.02, or to 2 per cent of their size; 37 % is read as 0.37
Published weights are neither fetched nor found, so that lesson 14 runs the same whether somebody has them or not.
Times, speeds and addresses are taken away first, by the patterns in nbval-sanitize.cfg. This file stands in the root
because pytest does not load tests/conftest.py for `notebooks/`. It replaces a method of nbval's inner class, so
pyproject.toml pins nbval.
"""

import base64
import json
import math
import os
import re
import tempfile

import numpy as np
from nbval.plugin import IPyNbCell

# Kernels inherit these.
_EMPTY = tempfile.TemporaryDirectory()
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": _EMPTY.name}

FIGURE_RELATIVE, FIGURE_ABSOLUTE = 1e-4, 1e-6
TEXT_RELATIVE, TEXT_ABSOLUTE = 0.02, 0.02

# `uid` is random, and `template` is the theme: 7 KB in each figure that say nothing about it.
NOT_COMPARED = {"uid", "template"}
NUMBER = re.compile(r"(?P<sign>[-+−]?)(?P<digits>\d[\d,]*)(?P<rest>(?:\.\d*)?(?:[eE][-+]?\d+)?)(?P<percent> ?%)?")


class Output(str):
    """An output, stored or fresh. Two are equal when nothing in them differs by more than the tolerance."""

    def difference(self, fresh: str) -> str | None:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.difference(other) is None

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


class Text(Output):
    def difference(self, fresh: str) -> str | None:
        return text_difference(self, fresh)


class Figure(Output):
    """A JSON output, held as text because nbval cuts and joins what it shows."""

    def difference(self, fresh: str) -> str | None:
        return json_difference(json.loads(self), json.loads(fresh))


def json_difference(stored: object, fresh: object, at: str = "") -> str | None:
    """Where and how two JSON values differ by more than the tolerance, or None."""
    stored, fresh = unpacked(stored), unpacked(fresh)
    if isinstance(stored, np.ndarray) and isinstance(fresh, np.ndarray):
        return array_difference(stored, fresh, at)
    if is_number(stored) and is_number(fresh):
        near = math.isclose(stored, fresh, rel_tol=FIGURE_RELATIVE, abs_tol=FIGURE_ABSOLUTE)
        return None if near else f"{at}: {stored} became {fresh}"
    if type(stored) is not type(fresh):
        return f"{at}: {type(stored).__name__} became {type(fresh).__name__}"
    if isinstance(stored, dict):
        if stored.keys() - NOT_COMPARED != fresh.keys() - NOT_COMPARED:
            return f"{at}: keys {sorted(stored)} became {sorted(fresh)}"
        pairs = [(stored[key], fresh[key], f"{at}.{key}") for key in stored if key not in NOT_COMPARED]
    elif isinstance(stored, list):
        if len(stored) != len(fresh):
            return f"{at}: {len(stored)} items became {len(fresh)}"
        pairs = [(one, other, f"{at}[{i}]") for i, (one, other) in enumerate(zip(stored, fresh, strict=True))]
    else:
        return None if stored == fresh else f"{at}: {stored!r} became {fresh!r}"
    return next(filter(None, (json_difference(*pair) for pair in pairs)), None)


def array_difference(stored: np.ndarray, fresh: np.ndarray, at: str) -> str | None:
    if stored.shape != fresh.shape:
        return f"{at}: shape {stored.shape} became {fresh.shape}"
    percents = at.endswith(".z") and stored.dtype.itemsize == fresh.dtype.itemsize == 1
    one, other = stored.astype(float), fresh.astype(float)
    near = np.isclose(one, other, FIGURE_RELATIVE, 1 if percents else FIGURE_ABSOLUTE, equal_nan=True)
    if near.all():
        return None
    worst = tuple(int(i) for i in np.argwhere(~near)[0])
    return f"{at}{list(worst)}: {one[worst]} became {other[worst]}, and {int((~near).sum())} in all"


def unpacked(value: object) -> object:
    """Plotly sends an array as {"bdata": base64, "dtype": "f8", "shape": "2, 3"}; anything else is itself."""
    if not (isinstance(value, dict) and {"bdata", "dtype"} <= value.keys()):
        return value
    array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return array.reshape([int(n) for n in str(value["shape"]).split(",")]) if "shape" in value else array


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def text_difference(stored: str, fresh: str) -> str | None:
    """The first word or number in which two texts differ by more than the tolerance, or None."""
    words, numbers = apart(stored)
    fresh_words, fresh_numbers = apart(fresh)
    if words != fresh_words:
        one, other = next(pair for pair in zip([*words, ""], [*fresh_words, ""], strict=False) if len(set(pair)) > 1)
        return f"{one!r} became {other!r}"
    for one, other in zip(numbers, fresh_numbers, strict=True):
        if not math.isclose(one, other, rel_tol=TEXT_RELATIVE, abs_tol=TEXT_ABSOLUTE):
            return f"{one} became {other}"
    return None


def apart(text: str) -> tuple[list[str], list[float]]:
    """The words of a text, with a mark where a measured number stood, and those numbers.

    Whole numbers are names and counts (a token id, a shape, a step): they stay among the words.
    """
    numbers = []

    def take(match: re.Match) -> str:
        if not match["rest"].strip(".") and not match["percent"]:
            return match[0]
        sign = -1 if match["sign"] in ("-", "−") else 1
        unit = 100 if match["percent"] else 1
        numbers.append(sign * float(match["digits"].replace(",", "") + match["rest"]) / unit)
        return f" <number>{match['percent'] or ''}"

    return NUMBER.sub(take, text).split(), numbers


def sanitize(cell: IPyNbCell, output: object) -> Output:
    return Text(as_nbval_does(cell, output)) if isinstance(output, str) else Figure(json.dumps(output))


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    if op == "==" and isinstance(left, Output) and isinstance(right, Output):
        return [f"stored and fresh {type(left).__name__.lower()} differ", left.difference(right) or "in kind"]
    return None


as_nbval_does = IPyNbCell.sanitize
IPyNbCell.sanitize = sanitize
