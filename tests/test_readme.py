"""The README against the project: the map of the course, the files that it names, its length, how to cite."""

import re

import nbformat
import yaml

from tests.lessons import LESSONS, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_PART = README.split("\n## Installing\n")[0]


def test_the_map_has_each_lesson_of_the_course_under_its_own_title():
    rows = re.findall(r"^\| \[(\d\d)\]\(notebooks/(\w+\.ipynb)\) \| ([^|]+) \|", README, re.MULTILINE)
    assert [number for number, *_ in rows] == [f"{number:02}" for number in range(15)]
    mapped = {name: title for _, name, title in rows}
    for path in LESSONS:
        assert mapped[path.name] == nbformat.read(path, as_version=4).metadata.gptlab.title


def test_what_it_links_to_is_there():
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)
    missing = [link for link in links if not (ROOT / link).exists() and not link.startswith("notebooks/")]
    assert links and missing == []


def test_its_first_part_has_a_picture_two_commands_a_map_a_comparison_and_no_more_than_700_words():
    headings = re.findall(r"^## (.+)$", FIRST_PART, re.MULTILINE)
    assert headings == ["Two commands", "The course", "How it compares", "How to cite"]
    assert FIRST_PART.index("![") < FIRST_PART.index("make lab") < FIRST_PART.index("make test")
    words = re.sub(r"!\[[^]]*\]|\]\([^)]*\)|[|`#*\[\]-]", " ", FIRST_PART).split()
    assert 400 <= len(words) <= 700


def test_the_citation_names_the_version_that_there_is():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert cited["version"] == version and f"Version {version}, " in FIRST_PART
    assert {"cff-version", "message", "title", "authors"} <= set(cited)


def test_how_fast_it_is_stands_there_as_it_was_measured():
    results = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")
    claims = re.findall(r"^\| (.+) \| ([\d.]+ ×) \|$", README, re.MULTILINE)
    assert len(claims) >= 5
    for task, times in claims:
        rows = results.split(f"| {task}, tokens/s |")[1].splitlines()
        (measured,) = [row.split(" | ")[4] for row in rows[1:6] if row.startswith("|  | transformers |")][:1]
        assert measured == times, task
