"""The small world's tasks: what is right by the world itself, what people like, how they count."""

import math
import random
from collections import Counter

import pytest

import gptlab
from gptlab import world
from gptlab.finetuning import tasks

KINDS = ("where", "who", "colour", "how_many")


@pytest.fixture
def rng():
    return random.Random(0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_as_told_is_what_the_world_would_say(rng, kind):
    for _ in range(20):
        asked = tasks.question(rng, kind)
        told = answered(asked.prompt, kind)
        assert told == asked.prompt + asked.answer("as told")


@pytest.mark.parametrize("kind", KINDS)
def test_manners_differ_and_say_the_same_and_a_wrong_answer_says_something_else(rng, kind):
    for _ in range(20):
        asked = tasks.question(rng, kind)
        answers = [asked.answer(manner) for manner in tasks.MANNERS]
        assert len(set(answers)) == 3 and all(asked.key.lower() in answer.lower() for answer in answers)
        assert len(answers[1]) < len(answers[0]) < len(answers[2]) or kind == "how_many"
        key = asked.wrong_key(rng)
        assert key != asked.key and asked.answer("full", key) == asked.answer("full").replace(asked.key, key)


def answered(prompt, kind):
    """The prompt with the answer of the world that asked it."""
    while not prompt.endswith("."):
        (word,) = tasks.WORLDS[kind].next_word_distribution(prompt)  # the only one: the answer is certain
        prompt += word
    return prompt


def test_an_answer_in_full_reads_as_a_sentence(rng):
    asked = tasks.Question("where", "Tom Baker lived in the shop. Where was the red ball?", "shop")
    assert [asked.answer(m) for m in tasks.MANNERS] == [
        " It was in the shop.", " In the shop.", " The red ball was in the shop.",
    ]  # fmt: skip


def test_an_unknown_kind_is_refused(rng):
    with pytest.raises(ValueError, match="one of where, who, colour, how_many"):
        tasks.question(rng, "why")


def test_summaries_say_who_what_and_where_it_has_come_to_be(rng):
    tok = gptlab.Tokenizer.small_world()
    for _ in range(40):
        story, answer = tasks.summary(rng)
        assert story.endswith(" What was there?")
        hero, rest = answer.strip().rstrip(".").split(": ")
        given = " with " in answer
        readings = tasks.WORLDS["who" if given else "where"].analyse(story.removesuffix(" What was there?"))
        names = [i for i, r in enumerate(readings) if r.category in ("female_name", "male_name")]
        assert hero == "".join(r.word for r in readings[names[0] : names[0] + 2]).strip()
        words = rest.split()
        assert words[1] in world.ENGLISH.colour and words[2] in world.ENGLISH.thing
        if given:
            owner = "".join(r.word for r in readings[names[-1] : names[-1] + 2]).strip()
            assert " ".join(words[4:]) == owner
        else:
            places = [r.lemma for r in readings if r.category in ("wild_place", "built_place")]
            assert words[-1] == places[-1]
        assert tok.encode(answer) and "an " + words[1] in answer or words[1][0] not in "aeiou"


def test_people_prefer_as_bradley_and_terry_say(monkeypatch):
    assert tasks.preferred(1, 1) == 0.5
    assert tasks.preferred(1, 0) == pytest.approx(1 / (1 + math.exp(-1)))
    asked = tasks.Question("where", "Tom Baker lived in the shop. Where was the red ball?", "shop")
    monkeypatch.setattr(tasks, "question", lambda rng: asked)
    worth = {asked.answer(manner): tasks.WORTH[manner] for manner in tasks.MANNERS}
    rng, won, met = random.Random(1), Counter(), Counter()
    for _ in range(8000):
        pair = tasks.preference(rng)
        rewards = [worth.get(answer) for answer in (pair.chosen, pair.rejected)]
        rewards = [worth_of_wrong(one) if r is None else r for one, r in zip(pair[1:], rewards, strict=True)]
        met[frozenset(rewards)] += 1
        won[tuple(rewards)] += 1
    assert len(met) > 8
    for (better, worse), n in won.items():
        if better > worse:
            both = met[frozenset((better, worse))]
            expected = tasks.preferred(better, worse)
            assert abs(n / both - expected) < 4.5 * math.sqrt(expected * (1 - expected) / both)


def worth_of_wrong(answer):
    """Of an answer that names another place than the shop, by its manner."""
    manner = "as told" if answer.startswith(" It") else "curt" if answer.startswith(" In") else "full"
    return tasks.WORTH[manner] + tasks.WRONG


def test_a_matter_of_taste_is_between_right_answers(monkeypatch):
    asked = tasks.Question("colour", "There was a red ball. What colour was the ball?", "red")
    monkeypatch.setattr(tasks, "question", lambda rng: asked)
    right = {asked.answer(manner) for manner in tasks.MANNERS}
    pairs = [tasks.taste(random.Random(n)) for n in range(50)]
    assert all({pair.chosen, pair.rejected} < right for pair in pairs)


def test_counting_prompts_are_equally_long_and_say_the_number(rng):
    tok, numbers = gptlab.Tokenizer.small_world(), Counter()
    lengths = set()
    for _ in range(300):
        asked = tasks.counting(rng)
        lengths.add(len(tok.encode(asked.prompt)))
        numbers[asked.number] += 1
        assert f" {world.ENGLISH.number[asked.number - 1]} " in asked.prompt
    assert len(lengths) == 1 and set(numbers) == {2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("answer", "accuracy", "form"),
    [
        (" one, two, three.<|endoftext|>", 1, 1),
        (" one, two.<|endoftext|>", 0, 1),
        (" one, one, three.<|endoftext|>", 1, 0),
        (" two, three.<|endoftext|>", 1, 0),
        (" one, two, three", 1, 0),
        (" one, two, three.", 1, 0),
        (" one, two, three. Then<|endoftext|>", 1, 0),
        (" one two three.<|endoftext|>", 1, 0),
        (" three, two, one.<|endoftext|>", 0, 0),
        (" Tom Baker.<|endoftext|>", 0, 0),
        ("<|endoftext|>", 0, 0),
        ("", 0, 0),
    ],
)
def test_rewards_for_accuracy_and_for_form_are_given_apart(answer, accuracy, form):
    assert tasks.counting_rewards(tasks.Counting("", 3), answer) == {"accuracy": accuracy, "form": form}


def test_people_who_count_carelessly_are_seldom_right(rng):
    judged = [
        tasks.counting_rewards(as_counting(one.prompt), one.answer + world.END)
        for one in (tasks.careless_count(rng) for _ in range(2000))
    ]
    for name in ("accuracy", "form"):
        assert 0.1 < sum(one[name] for one in judged) / len(judged) < 0.3, name


def as_counting(prompt):
    number = next(word for word in prompt.split() if word in world.ENGLISH.number)
    return tasks.Counting(prompt, world.ENGLISH.number.index(number) + 1)


def test_a_seed_gives_the_same_tasks():
    one, other = ([tasks.anything(random.Random(f"{n}")) for n in range(30)] for _ in range(2))
    assert one == other and len(set(one)) == 30
