"""How often the small world tells what, by chi-square over more than 200,000 words of each of two samplers.

One is the world's own, the other the plainly written one in tests/references/plain_world.py. They must tell each word
equally often in each place and after each word, and as often as the world's distributions of the next word say.

Seeds are fixed, so a result stays as it is. Had they been others, a right sampler would still pass, 9,999 times of
10,000: the smallest p-value is multiplied by the number of tables that were looked at.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from random import Random

import pytest
from scipy.stats import chi2

from gptlab.world import END, ENGLISH, ENGLISH_WORLD, Plan, World, split_words
from tests.references import plain_world
from tests.unchecked import unchecked

STORIES = 3500
SUSPICIOUS = 1e-4


@pytest.fixture(scope="module")
def sampled() -> list[str]:
    return sample(ENGLISH_WORLD)


@pytest.fixture(scope="module")
def plainly_sampled() -> list[str]:
    return [plain_world.story(ENGLISH, Random(f"plain {seed}")) for seed in range(STORIES)]


def sample(world: World) -> list[str]:
    with unchecked():
        return [world.sample(seed) for seed in range(STORIES)]


# Two samplers --------------------------------------------------------------------------------------------------------


def tables(texts: Iterable[str]) -> dict[tuple, Counter]:
    """What stands where. A story adds at most one to each table, so that what a table counts is independent."""
    counted = defaultdict(Counter)
    for text in texts:
        sentences = [re.findall(r"\w+|[^\w\s]+", part) for part in re.split(r"(?<=[.?!\"']) (?=[A-Z\"'])", text)]
        words = [word for sentence in sentences for word in sentence]
        counted["number of words"][len(words)] += 1
        counted["first words"][tuple(sentence[0] for sentence in sentences[1:])] += 1
        for word in set(words):
            counted["somewhere"][word] += 1
        for i, sentence in enumerate(sentences):
            for j, word in enumerate(sentence):
                counted["place", i, j][word] += 1
        for word, following in dict(zip(reversed(words[:-1]), reversed(words[1:]), strict=True)).items():
            counted["after", word][following] += 1
    return counted


def p_of_same(one: Counter, other: Counter) -> float:
    """Chi-square of two samples from one distribution; what is rarer than ten times counts together."""
    common = [key for key in one | other if one[key] + other[key] >= 10]
    rows = [(one[key], other[key]) for key in common]
    rest = (one.total() - sum(a for a, _ in rows), other.total() - sum(b for _, b in rows))
    rows += [rest] if sum(rest) >= 10 else []
    shares = [sample / (one.total() + other.total()) for sample in (one.total(), other.total())]
    if len(rows) < 2 or 0 in shares:
        return 1.0
    statistic = sum((row[i] - sum(row) * shares[i]) ** 2 / (sum(row) * shares[i]) for row in rows for i in (0, 1))
    return float(chi2.sf(statistic, len(rows) - 1))


def p_of_same_sampler(texts: list[str], others: list[str]) -> float:
    one, other = tables(texts), tables(others)
    for word in one["somewhere"] | other["somewhere"]:  # whether a story has the word is a table of its own
        for counted, stories in ((one, texts), (other, others)):
            n_with = counted["somewhere"][word]
            counted["in", word] = Counter({True: n_with, False: len(stories) - n_with})
    del one["somewhere"], other["somewhere"]
    p_values = [p_of_same(one[key], other[key]) for key in one.keys() & other.keys()]
    return min(p_values) * len(p_values)


def test_the_plainly_written_sampler_tells_as_often_what_the_world_tells(sampled, plainly_sampled):
    assert sum(len(split_words(text)) for text in sampled) >= 200_000
    assert sum(len(split_words(text)) for text in plainly_sampled) >= 200_000
    assert p_of_same_sampler(sampled, plainly_sampled) > SUSPICIOUS


def some(texts: list[str], old: str, new: str) -> list[str]:
    """The texts, in half of them another word."""
    return [text.replace(old, new) if i % 2 == 0 else text for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    "distorted",
    [
        lambda texts: sample(World(plan=Plan(friend=0.6))),
        lambda texts: sample(World(plan=Plan(group=0.35, animals=0.4))),
        lambda texts: some(texts, "Then ", "Next "),
        lambda texts: some(texts, " an orange", " a red"),
        lambda texts: some(texts, "!", "."),
        lambda texts: some(texts, " seven", " six"),
        lambda texts: some(texts, " were ", " was "),
        lambda texts: some(texts, "the garden", "the forest"),
    ],
)
def test_a_distorted_sampler_is_found_out(sampled, plainly_sampled, distorted):
    assert p_of_same_sampler(distorted(sampled), plainly_sampled) < SUSPICIOUS


# A sampler and the distributions of the next word --------------------------------------------------------------------


ROLES = {"she": "he", "her": "his"} | dict.fromkeys(ENGLISH.name, "a name")


def p_of_next_words(texts: Iterable[str], world: World) -> float:
    """Whether words follow as often as the world's distributions say, in all places where more than one may follow.

    Places with the same distribution are one table, in which what is rare counts together; at the start of a sentence
    it does not matter who the hero is.
    """
    tables = defaultdict(Counter)
    with unchecked():
        for text in texts:
            for reading in world.analyse(text, complete=True):
                choice = reading.turn.choice
                role = ROLES.get if END in choice.lemmas else lambda lemma, _: lemma
                expected = Counter()
                for lemma, probability in zip(choice.lemmas, choice.probabilities, strict=True):
                    expected[role(lemma, lemma)] += round(probability, 9)
                tables[frozenset(expected.items())][role(reading.lemma, reading.lemma)] += 1
    p_values = [p_of_expected(counts, dict(table)) for table, counts in tables.items() if len(table) > 1]
    return min(p_values) * len(p_values)


def p_of_expected(counts: Counter, probabilities: dict[str, float]) -> float:
    rows = [(counts[key], p * counts.total()) for key, p in probabilities.items() if p * counts.total() >= 5]
    rest = (counts.total() - sum(n for n, _ in rows), counts.total() - sum(expected for _, expected in rows))
    rows += [rest] if rest[1] >= 5 else []
    statistic = sum((n - expected) ** 2 / expected for n, expected in rows)
    return float(chi2.sf(statistic, len(rows) - 1)) if len(rows) > 1 else 1.0


@pytest.mark.parametrize("sampler", ["sampled", "plainly_sampled"])
def test_words_follow_as_often_as_their_distributions_say(sampler, request):
    assert p_of_next_words(request.getfixturevalue(sampler), ENGLISH_WORLD) > SUSPICIOUS


def test_words_that_follow_too_often_are_found_out(sampled):
    assert p_of_next_words(sampled, World(plan=Plan(friend=0.6))) < SUSPICIOUS
    assert p_of_next_words(some(sampled, "Then ", "Next "), ENGLISH_WORLD) < SUSPICIOUS


def test_the_mean_entropy_is_the_mean_surprise(sampled):
    # The surprise of a word less the entropy it was drawn from has mean 0; four deviations are one in 15,000.
    with unchecked():
        readings = [reading for text in sampled[:1000] for reading in ENGLISH_WORLD.analyse(text, complete=True)]
    gaps = [-math.log(reading.probability) - reading.turn.choice.entropy for reading in readings]
    mean = math.fsum(gaps) / len(gaps)
    deviation = math.sqrt(math.fsum((gap - mean) ** 2 for gap in gaps)) / len(gaps)
    assert abs(mean) < 4 * deviation < 0.01


def test_the_entropy_rate_is_the_mean_entropy(sampled):
    with unchecked():
        entropies = [
            reading.turn.choice.entropy
            for text in sampled[3:103]
            for reading in ENGLISH_WORLD.analyse(text, complete=True)
        ]
        assert ENGLISH_WORLD.entropy_rate(100, seed=3) == pytest.approx(sum(entropies) / len(entropies), rel=1e-12)
