"""What is asked of the small world: samples, distributions, impossible beginnings, senses, tokens."""

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gptlab import Tokenizer, world
from gptlab.world import END, ENGLISH, ENGLISH_WORLD, ImpossiblePrefix, Plan, World, split_words
from tests.unchecked import unchecked

seeds = st.integers(0, 10**9)
some_stories = settings(max_examples=60)


# Samples -------------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_story():
    assert [world.sample(seed) for seed in range(20)] == [world.sample(seed) for seed in range(20)]
    assert len({world.sample(seed) for seed in range(100)}) == 100
    assert world.sample(7) == World().sample(7)


def test_the_same_seed_gives_the_same_story_in_another_process():
    command = "from gptlab import world; print(world.sample(11))"
    environment = {"PYTHONHASHSEED": "12345"}
    told = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, env=environment)
    assert told.stdout == world.sample(11) + "\n"


def test_sampling_leaves_the_global_random_state_alone():
    with unchecked():  # the checks themselves draw which item of a list to look at
        random.seed(3)
        before = random.getstate()
        world.sample(0)
        assert random.getstate() == before


def test_words_are_the_pieces_of_gpt2s_pattern():
    with unchecked():
        for seed in range(1000):
            told = ENGLISH_WORLD.sample_words(random.Random(seed))
            assert split_words(world.sample(seed)) == told
            assert [reading.word for reading in world.analyse(world.sample(seed))] == told


# Distributions -------------------------------------------------------------------------------------------------------


@some_stories
@given(seed=seeds, share=st.floats(0, 1))
def test_any_beginning_has_a_distribution_whose_words_go_on(seed, share):
    words = split_words(world.sample(seed))
    prefix = "".join(words[: round(share * len(words))])
    distribution = world.next_word_distribution(prefix)
    assert math.fsum(distribution.values()) == pytest.approx(1, abs=1e-12)
    assert all(p > 0 for p in distribution.values())
    for word in distribution:
        assert split_words(prefix + word)[-1] == word or word == END
        readings = world.analyse(prefix + word)
        assert readings[-1].word == word
        assert readings[-1].probability == distribution[word]


@settings(some_stories, max_examples=10)
@given(seed=seeds)
def test_log_prob_is_the_sum_over_the_words_the_first_and_the_end_included(seed):
    words = [*split_words(world.sample(seed)), END]
    log_probs = [math.log(world.next_word_distribution("".join(words[:i]))[word]) for i, word in enumerate(words)]
    assert world.log_probs("".join(words)) == log_probs
    assert world.log_prob("".join(words)) == pytest.approx(sum(log_probs), abs=1e-9)
    assert log_probs[0] < -1  # names, "One" and "There" may begin a story


def test_end_marks_are_allowed_at_both_ends():
    story = world.sample(5)
    assert world.log_prob(END + story + END) == world.log_prob(END + story) == world.log_prob(story)
    assert world.links(END + story) == world.links(story)
    words = split_words(story)
    assert [reading.word for reading in world.analyse(END + story)] == words
    assert [reading.word for reading in world.analyse(story + END)] == [*words, END]
    assert [reading.word for reading in world.analyse(story + END, complete=True)] == [*words, END]
    assert [reading.word for reading in world.analyse(story, complete=True)] == [*words, END]
    assert world.next_word_distribution(END) == world.next_word_distribution("")
    assert END in world.next_word_distribution(story)


def test_nothing_follows_the_end():
    with pytest.raises(ValueError, match="nothing follows the end"):
        world.next_word_distribution(world.sample(5) + END)


def test_the_beginning_of_a_story_is_not_a_story():
    assert world.analyse("There was")
    with pytest.raises(ImpossiblePrefix) as error:
        world.log_prob("There was")
    assert (error.value.position, error.value.word) == (2, END)


# Impossible beginnings -----------------------------------------------------------------------------------------------

STORY = "There was once a painter named Tom Baker. There was a red ball in the garden. "
N = 18  # words of it


@pytest.mark.parametrize(
    "prefix, position, word",
    [
        ("There was twice", 2, " twice"),
        ("there was once", 0, "there"),
        (" There was once", 0, " There"),
        ("There was onc", 2, " onc"),
        ("There was ", 2, " "),
        ("There was once an painter", 4, " painter"),
        ("There was once a painter named Tom Tom", 7, " Tom"),
        ("There was once a painter named Tom Baker. She was sad", 9, " She"),
        (STORY + "The dogs near the gate was", N + 5, " was"),
        (STORY + "The goose near the gates were", N + 5, " were"),
        (STORY + "He found three apples near the gate. He counted the apples: one, two.", N + 16, "."),
        (STORY + "He found two apples near the gate. He counted the pears", N + 11, " pears"),
        (STORY + "In the market he saw a bat. The bat was asleep", N + 11, " asleep"),
        (STORY + "The dog near the gate was wild. Tom Baker said, 'We must go to the cave.\"", N + 19, '."'),
        (STORY + "The dog near the gate was wild. Where was the red ball? It was in the cave", N + 18, " cave"),
        (STORY + "The dog near the gate was wild. Who had", N + 8, " Who"),
        (f"There{END}There", 1, END),
        (f"{END}{END}There", 0, END),
        ("x", 0, "x"),
        ("\n", 0, "\n"),
        ("There\u00a0was", 1, "\u00a0"),
    ],
)  # fmt: skip
def test_an_impossible_beginning_tells_where_and_which_word(prefix, position, word):
    for ask in (world.next_word_distribution, world.analyse, world.log_prob, world.links):
        with pytest.raises(ImpossiblePrefix) as error:
            ask(prefix)
        assert (error.value.position, error.value.word) == (position, word)
        assert repr(word) in str(error.value)
        assert f"position {position}" in str(error.value)
    assert isinstance(error.value, ValueError)


def test_an_impossible_beginning_tells_what_would_do():
    with pytest.raises(ImpossiblePrefix, match="it would say ' once'$"):
        world.analyse("There was twice")
    with pytest.raises(ImpossiblePrefix, match=r"it would say ' \w+', ' \w+', ' \w+' …$"):
        world.analyse("There was once a painter named tom")


def test_a_text_after_the_end_is_impossible():
    story = world.sample(5)
    n_words = len(split_words(story))
    with pytest.raises(ImpossiblePrefix, match="the story has ended") as error:
        world.analyse(story + END + "There was")
    assert (error.value.position, error.value.word) == (n_words + 1, "There")


@some_stories
@given(seed=seeds, place=st.integers(0, 200), word=st.sampled_from(ENGLISH.words))
def test_a_word_that_the_world_would_not_say_is_found_where_it_stands(seed, place, word):
    words = split_words(world.sample(seed))
    place = min(place, len(words) - 1)
    possible = world.next_word_distribution("".join(words[:place]))
    wrong = " " + word if word.isalpha() else word
    text = "".join([*words[:place], wrong, *words[place + 1 :]])
    if wrong not in possible and split_words(text)[place] == wrong:
        with pytest.raises(ImpossiblePrefix) as error:
            world.analyse(text)
        assert (error.value.position, error.value.word) == (place, wrong)


def test_words_outside_the_world_are_found():
    assert world.unknown_words("There was a teapot in the Garden, said Zoe.") == [(3, " teapot"), (9, " Zoe")]
    assert world.unknown_words("") == []
    assert world.unknown_words(END + world.sample(0) + END) == []
    with unchecked():
        assert all(world.unknown_words(world.sample(seed)) == [] for seed in range(200))


# Senses --------------------------------------------------------------------------------------------------------------


def test_the_context_settles_what_a_homonym_is():
    def bat(place: str, state: str) -> list[str]:
        readings = world.analyse(STORY + f"In the {place} he saw a bat. The bat was {state}.")
        return [reading.category for reading in readings if reading.lemma == "bat"]

    assert bat("forest", "asleep") == ["animal", "animal"]
    assert bat("market", "broken") == ["thing", "thing"]


def test_orange_is_a_colour_or_a_fruit():
    text = STORY.replace("a red", "an orange") + "He found two oranges near the gate."
    found = {reading.lemma: reading.category for reading in world.analyse(text)}
    assert (found["orange"], found["oranges"]) == ("colour", "countable")


def test_every_word_told_has_one_of_its_categories():
    with unchecked():
        for seed in range(300):
            for reading in world.analyse(world.sample(seed)):
                assert reading.category in ENGLISH.categories(reading.lemma)


# Tokens --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return Tokenizer.small_world()


def test_every_word_is_one_token_in_every_place(tok):
    with unchecked():
        for seed in range(2000):
            story = world.sample(seed)
            assert [tok.token_bytes(id).decode() for id in tok.encode(story)] == split_words(story)


def test_every_word_of_the_lexicon_is_one_token_inside_and_capitalised(tok):
    for lemma in set(ENGLISH.words) - {END}:
        if lemma.isalpha():
            forms = {" " + lemma, " " + lemma.capitalize() if lemma != "I" else " I"}
            assert {form: len(tok.encode(form)) for form in forms} == dict.fromkeys(forms, 1)


def test_token_distributions_are_those_of_the_words(tok):
    for seed in range(5):
        story = world.sample(seed)
        words = split_words(story)
        rows = world.token_distributions(story, tok)
        assert rows.shape == (len(words) + 1, tok.vocab_size)
        assert rows.dtype == np.float64
        np.testing.assert_allclose(rows.sum(1), 1, atol=1e-12)
        for i, row in enumerate(rows):
            prefix = "".join(words[:i])
            np.testing.assert_array_equal(row, world.next_token_distribution(prefix, tok))
            told = {END if id == tok.end_of_text else tok.decode([id]): row[id] for id in map(int, np.flatnonzero(row))}
            assert told == world.next_word_distribution(prefix)


def test_a_tokenizer_that_cuts_words_is_refused():
    with pytest.raises(ValueError, match="one token for each word of the world; it cuts"):
        world.token_distributions(world.sample(0), Tokenizer.gpt2())


# Worlds of one's own -------------------------------------------------------------------------------------------------


def test_a_world_without_a_scene_does_not_begin_it():
    without_mood = World(plan=Plan(mood=0.0))
    opening = "There was once a painter named Tom Baker."
    assert " He" in world.next_word_distribution(opening)
    assert " He" not in without_mood.next_word_distribution(opening)
    with pytest.raises(ImpossiblePrefix):
        without_mood.log_prob(opening + " He was sad because the morning was sunny.")
