"""docs/hard-cases.md names each case that a test is named after, and tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "hard-cases.md").read_text(encoding="utf-8")
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
}


def test_each_case_has_a_test_and_each_test_of_a_case_its_row():
    rows = re.findall(r"^\| (\d+) \|", PAGE, re.M)
    assert len(rows) == len(set(rows)) == 76
    assert set(rows) == {number for name in TESTS for number in re.findall(r"case_(\d+)", name)}


def test_the_tests_that_the_page_names_exist():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 30
    assert named <= TESTS, sorted(named - TESTS)
