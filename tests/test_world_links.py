"""The small world's links, tried by intervention.

A word of a sampled story is exchanged for another that could have stood there, and the story is told on with as few
changes as possible. Where a link leads back to the exchanged word, the true distribution must be another for at least
one exchange. Where no link leads there, and the words that links do lead to are as they were, it must be the same.
"""

import re
from collections import Counter
from typing import NamedTuple

import pytest

from gptlab.world import ENGLISH, ENGLISH_WORLD, split_words
from gptlab.world import story as story_module
from gptlab.world.choice import Choice
from tests.unchecked import unchecked

KINDS = {"coreference", "induction", "query", "agreement", "state", "count", "quotation", "sense", "contrast"}
SENTENCE_ENDS = {".", '."', '!"', ".'", "!'"}  # a question and its answer count as one sentence
ARTICLES = {"a", "an"}
PRONOUNS = {"he": "she", "she": "he", "his": "her", "her": "his"}


class Told(NamedTuple):
    """A word of a story and what it was chosen from; lemma is None where the story could not be told on."""

    lemma: str | None
    choice: Choice
    after: str | None

    @property
    def distribution(self) -> dict[str, float]:
        """The probabilities of the words as they are written."""
        return {word: self.choice.probabilities[index] for word, index in self.choice.written(self.after).items()}


class Verdict(NamedTuple):
    missing: set[tuple]  # (target, source) without a link though an exchange there changed the distribution
    superfluous: set[tuple]  # (target, source, kind) where no exchange changed it
    confirmed: set[tuple]  # (target, source, kind) where one did


class Retellings(NamedTuple):
    """A story, told as it is and told again with each place exchanged; all by place in the story."""

    lemmas: tuple[str, ...]
    story: dict[int, Told]
    retold: dict[int, list[dict[int, Told]]]


def told_again(lemmas, exchanged: int | None = None, new: str = "") -> dict[int, Told]:
    """Tell a story anew with another word in one place, up to where it cannot be told on, by place in the old story.

    The old word is kept where it is still possible. Else it becomes what it was exchanged for before, or the only word
    there is if that is of its category. A pronoun may change its gender, and counting goes on for as long as it must.
    """
    story = ENGLISH_WORLD.tell()
    turn, last, place = next(story), None, 0
    renamed, told = PRONOUNS.copy(), {}
    while place < len(lemmas):
        old, options = lemmas[place], turn.choice.lemmas
        counts_on = options == (",",) and old == "."  # there is more to count than before: the old story waits
        if options == (".",) and old == ",":  # there is less to count: the old story skips the rest
            told[place] = Told(".", turn.choice, last)
            place = lemmas.index(".", place)
            continue
        if counts_on:
            lemma = ","
        elif place == exchanged:
            lemma = new
        elif old in options:
            lemma = old
        elif renamed.get(old) in options:
            lemma = renamed[old]
        elif (len(options) == 1 and of_one_category(old, options[0])) or (place - 1 == exchanged and new in ARTICLES):
            lemma = options[0]
        else:
            lemma = None
        told.setdefault(place, Told(lemma, turn.choice, last))
        renamed[old] = lemma
        place += not counts_on
        if lemma is None:
            return told
        try:
            turn, last = story.send(lemma), lemma
        except StopIteration:
            return told
        if counts_on:
            last = turn.choice.lemmas[0]  # the next number
            turn = story.send(last)
    return told


def of_one_category(one: str, other: str) -> bool:
    both_names = one in ENGLISH.name and other in ENGLISH.name
    return both_names or not set(ENGLISH.categories(one)).isdisjoint(ENGLISH.categories(other))


def exchanges(told: Told) -> list[str]:
    """Other words for a place: all of them, or of many a tenth or so that leaves out no part of the list."""
    options = told.choice.lemmas
    stride = len(options) // 10 if len(options) > 20 else 1
    return [option for option in options[::stride] if option != told.lemma]


def tell_all(text: str) -> Retellings:
    lemmas = tuple(reading.lemma for reading in ENGLISH_WORLD.analyse(text, complete=True))
    story = told_again(lemmas)
    retold = {place: [told_again(lemmas, place, word) for word in exchanges(story[place])] for place in story}
    return Retellings(lemmas, story, retold)


def judge(retellings: Retellings, links) -> Verdict:
    """Compare links, triples of (target, source, kind), with what exchanges do to a story."""
    lemmas, story, retold = retellings
    sources = {place: {source for target, source, _ in links if target == place} for place in story}
    sentence = [sum(lemma in SENTENCE_ENDS for lemma in lemmas[:place]) for place in story]

    def chosen(place: int) -> set[int]:
        """Where a word was chosen: in its place or with its article; where links lead from it, if it was certain."""
        article = {place - 1} if place and lemmas[place - 1] in ARTICLES else set()
        if len(story[place].choice.lemmas) > 1:
            return article | {place}
        return article.union(*map(chosen, sources[place]))

    def differs(other: dict[int, Told], target: int) -> bool:
        return other[target][1:] != story[target][1:] and other[target].distribution != story[target].distribution

    def same(other: dict[int, Told], place: int) -> bool:
        return place in other and other[place].lemma == lemmas[place]

    def same_form(other: dict[int, Told], target: int) -> bool:
        """Whether the target's sentence has the form it had, as far as it is told: its function words but pronouns."""
        for place in range(target):
            old, new = lemmas[place], other[place].lemma if place in other else None
            if sentence[place] == sentence[target] and old != new and PRONOUNS.get(old) != new:
                kinds = {ENGLISH.categories(old), ENGLISH.categories(new)}
                if new is None or len(kinds) > 1 or ("function",) in kinds:
                    return False
        return True

    missing = set()
    for place, others in retold.items():
        for other in others:
            for target in other:
                unlinked = target > place and place not in sources[target]
                if not unlinked or not differs(other, target) or not same_form(other, target):
                    continue
                if all(same(other, source) for source in sources[target]):
                    missing.add((target, place))
    superfluous, confirmed = set(), set()
    for target, source, kind in links:
        others = [other for place in chosen(source) for other in retold[place]]
        tries = [differs(other, target) for other in others if target in other and not same(other, source)]
        if tries:
            (confirmed if any(tries) else superfluous).add((target, source, kind))
    return Verdict(missing, superfluous, confirmed)


def all_links(text: str) -> list[tuple[int, int, str]]:
    """`World.links`, and those of the end of the story."""
    readings = ENGLISH_WORLD.analyse(text, complete=True)
    return [(target, *link) for target, reading in enumerate(readings) for link in reading.links]


@pytest.fixture(scope="module")
def stories() -> list[tuple[Retellings, list]]:
    with unchecked():
        texts = [ENGLISH_WORLD.sample(seed) for seed in range(120)]
        return [(tell_all(text), all_links(text)) for text in texts]


@pytest.fixture(scope="module")
def verdicts(stories) -> list[Verdict]:
    return [judge(*story) for story in stories]


def test_every_word_that_the_truth_depends_on_is_linked(stories, verdicts):
    shown = [
        f"{' '.join(retellings.lemmas)}: {retellings.lemmas[target]} at {target} depends on {source}"
        for (retellings, _), verdict in zip(stories, verdicts, strict=True)
        for target, source in verdict.missing
    ]
    assert shown == []


def test_every_link_leads_to_a_word_that_the_truth_depends_on(stories, verdicts):
    shown = [
        f"{' '.join(retellings.lemmas)}: {retellings.lemmas[target]} at {target} does not depend on {source}, {kind}"
        for (retellings, _), verdict in zip(stories, verdicts, strict=True)
        for target, source, kind in verdict.superfluous
    ]
    assert shown == []


def test_links_of_every_kind_were_tried(stories, verdicts):
    # Only links to the last number counted escape this trial; they have their own test below.
    given = Counter(link[2] for _, links in stories for link in links)
    tried = Counter(link[2] for verdict in verdicts for link in verdict.confirmed)
    assert given.keys() == KINDS
    assert all(tried[kind] >= 20 for kind in KINDS)
    assert all(tried[kind] == given[kind] for kind in KINDS - {"count"})


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_trial_finds_links_that_are_missing(stories, kind):
    without = ((retellings, [link for link in links if link[2] != kind]) for retellings, links in stories)
    assert any(judge(*story).missing for story in without)


def test_the_trial_finds_links_to_the_wrong_word(stories):
    for retellings, links in stories[:20]:
        wrong = [(target, source + 1, kind) for target, source, kind in links if kind == "coreference"]
        assert judge(retellings, wrong).superfluous


def test_the_next_number_and_the_mark_depend_on_the_last_number():
    # No other word can be put in its place, for numbers are told one after the other; so the story is cut at another.
    tried = 0
    for text in filter(lambda text: "counted" in text, (ENGLISH_WORLD.sample(seed) for seed in range(60))):
        before, numbers, _ = re.split(r"(?<=:)([^.]*)\.", text, maxsplit=1)
        numbers = numbers.split(",")
        cut = [before + ",".join(numbers[: n + 1]) for n in range(len(numbers))]
        marks = [ENGLISH_WORLD.next_word_distribution(text) for text in cut]
        nexts = [ENGLISH_WORLD.next_word_distribution(text + ",") for text in cut[:-1]]
        assert marks == [{",": 1.0}] * (len(numbers) - 1) + [{".": 1.0}]
        assert nexts == [{number: 1.0} for number in numbers[1:]]
        words, colon = split_words(text), len(split_words(before)) - 1
        after_one = range(colon + 2, colon + 2 * len(numbers) + 1)  # a mark, a number, a mark, …
        links = [(target, source) for target, source, kind in ENGLISH_WORLD.links(text) if kind == "count"]
        assert [(target, source) for target, source in links if source > colon] == [
            (place, place - 1 if words[place] in ",." else place - 2) for place in after_one
        ]
        tried += 1
    assert tried >= 10


def test_a_link_leads_back_and_stands_once():
    for seed in range(100):
        links = all_links(ENGLISH_WORLD.sample(seed))
        assert all(source < target for target, source, _ in links)
        assert len(set(links)) == len(links)


def test_links_leave_out_the_end_of_the_story():
    story = ENGLISH_WORLD.sample(0)
    n_words = len(split_words(story))
    assert ENGLISH_WORLD.links(story) == [link for link in all_links(story) if link[0] < n_words]


def test_the_kinds_are_those_of_the_docs():
    table = story_module.__doc__.split("What the truth looks back to")[1]
    assert set(re.findall(r"^    (\w+)  ", table, flags=re.MULTILINE)) == KINDS
