"""The small world's stories: all of them in worlds with few words, where their probabilities must sum to 1; the forms
of their sentences, how long they get, and the words that they are made of.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields
from itertools import product

import pytest

from gptlab.world import END, ENGLISH, ENGLISH_WORLD, Lexicon, Plan, World, story
from tests.unchecked import unchecked


def small(size: int = 1, **kept: tuple) -> Lexicon:
    """As few words as the grammar allows: two surnames and numbers, one word of the rest, where a place may be wild."""
    two = {name: getattr(ENGLISH, name)[:2] for name in ("surname", "number")}
    return ENGLISH.shrunken(size, **(two | kept))


def world(lexicon: Lexicon, **plan: float) -> World:
    """A world that tells only the scenes of the plan, and what every story has."""
    return World(lexicon, Plan(**{scene.name: 0.0 for scene in fields(Plan)} | plan))


ONE_HERO = {"male_name": (), "surname": ("Baker",)}
TWO_WOMEN = {"male_name": (), "female_name": ("Anna", "Bella")}
ONE_PLACE = {"built_place": ()}

WORLDS = [
    world(small(number=ENGLISH.number[:5]), mood=0.3, group=0.8, count=0.6, how_many=0.6),
    world(small(preposition=("near", "by"), colour=("orange",), **ONE_HERO), animals=0.35, homonym=0.65, closing=0.25),
    world(small(homonym=("bat", "owl"), animal_state=("wild", "tame")), homonym=0.25),
    world(small(colour=("red", "orange"), thing=("ball", "hat")), friend=0.4, move=0.5, where=0.6, colour=0.35),
    world(small(colour=("red", "orange"), job=("artist", "cook")), friend=0.5, gift=0.4, who=0.7),
    world(small(**ONE_PLACE, **TWO_WOMEN), gift=0.35, speech=0.45, who=0.7),
    world(small(**ONE_PLACE, **TWO_WOMEN), friend=0.7, speech=0.45),
    world(
        small(surname=("Baker", "Cook", "Hall"), **TWO_WOMEN, **ONE_PLACE),
        **dict.fromkeys("mood friend group count gift who colour how_many closing".split(), 1.0),
    ),
]  # fmt: skip


def every_story(world: World) -> Iterator[tuple[str, float]]:
    """All stories with their probabilities, depth first: each is told anew, as a coroutine cannot be copied."""
    to_tell = [()]  # choices that begin stories not told yet
    while to_tell:
        begun = to_tell.pop()
        story = world.tell()
        turn, last, chosen, text, probability = next(story), None, [], "", 1.0
        while last != END:
            if len(chosen) == len(begun):
                to_tell += [(*chosen, other) for other in turn.choice.lemmas[1:]]
                begun = (*begun, turn.choice.lemmas[0])
            lemma = begun[len(chosen)]
            word, index = next(
                (word, i) for word, i in turn.choice.written(last).items() if turn.choice.lemmas[i] == lemma
            )
            probability *= turn.choice.probabilities[index]
            text += word
            chosen.append(lemma)
            last = lemma
            if lemma != END:
                turn = story.send(lemma)
        yield text.removesuffix(END), probability


def told_at_all(world: World) -> set[str]:
    return {scene.name for scene in fields(world.plan) if getattr(world.plan, scene.name)}


SCENES = {  # how a sentence begins tells which scene it is of
    "opening": r"\w+ \w+ lived|One \w+ [A-Z]|There was once",
    "mood": r"S?[Hh]e was",
    "friend": r"(His|Her) friend was",
    "thing": r"There was an? |In the \w+ s?he \w+ an? \w+ \w+\.",
    "group": r"S?[Hh]e \w+ \w+ \w+ \w+ the",
    "count": r"S?[Hh]e counted",
    "animals": r"(The|His|Her) \w+ (\w+ the|that)",
    "homonym": r"In the \w+ s?he \w+ an? \w+\.|The \w+ was",
    "move": r"\w+ \w+ \w+ \w+ the \w+ \w+ from the",
    "gift": r"\w+ \w+ \w+ \w+ the \w+ \w+ to",
    "speech": r"\w+ \w+ \w+, [\"']|[\"']",
    "where": "Where was",
    "who": "Who had",
    "colour": "What colour",
    "how_many": "How many",
    "closing": "At last",
}


def sentences(text: str) -> list[str]:
    """The sentences of a story, a question with its answer."""
    return re.split(r"(?<=[.!\"']) (?=[A-Z\"'])", text)


def scenes(text: str) -> list[tuple[str, int]]:
    """The scenes of a story and how many words each has; a scene of two sentences is there twice."""
    found = []
    for sentence in sentences(text):
        (scene,) = (scene for scene, beginning in SCENES.items() if re.match(beginning, sentence))
        found.append((scene, len(re.findall(r"\w+|[^\w\s]+", sentence))))
    return found


@pytest.fixture(scope="module", params=WORLDS, ids=lambda world: " ".join(sorted(told_at_all(world))))
def enumerated(request) -> tuple[World, dict[str, float]]:
    with unchecked():
        stories = list(every_story(request.param))
    assert len(dict(stories)) == len(stories)  # no text is told in two ways
    return request.param, dict(stories)


def test_the_probabilities_of_all_stories_sum_to_1(enumerated):
    _, stories = enumerated
    assert len(stories) > 200
    assert math.fsum(stories.values()) == pytest.approx(1, abs=1e-9)


def test_log_prob_is_that_of_the_choices_on_the_way(enumerated):
    world, stories = enumerated
    with unchecked():
        for text, probability in stories.items():
            assert world.log_prob(text) == pytest.approx(math.log(probability), abs=1e-9)


def test_samples_are_among_all_stories(enumerated):
    world, stories = enumerated
    with unchecked():
        assert {world.sample(seed) for seed in range(200)} <= stories.keys()


def test_all_stories_together_tell_every_scene_and_no_other_than_planned(enumerated):
    world, stories = enumerated
    assert {scene for text in stories for scene, _ in scenes(text)} == {"opening", "thing"} | told_at_all(world)


def test_every_scene_is_in_an_enumerated_world():
    assert set().union(*map(told_at_all, WORLDS)) | {"opening", "thing"} == SCENES.keys()


# Scenes --------------------------------------------------------------------------------------------------------------


def test_every_sentence_is_of_one_form_of_the_docs():
    with unchecked():
        told = Counter(scene for seed in range(2000) for scene, _ in scenes(ENGLISH_WORLD.sample(seed)))
    assert told.keys() == SCENES.keys()
    assert min(told.values()) >= 100


def test_at_least_twelve_forms_of_sentences_are_told():
    def form(text: str) -> str:
        """The sentence with a gap for each word that is no function word; counting as if to two."""
        gaps = re.sub(r"\w+", lambda word: word[0] if "function" in ENGLISH.categories(word[0].lower()) else "…", text)
        return re.sub(r"(, …)+", ", …", gaps)

    with unchecked():
        texts = [ENGLISH_WORLD.sample(seed) for seed in range(1000)]
    forms = Counter(form(sentence) for text in texts for sentence in sentences(text))
    assert sum(n >= 20 for n in forms.values()) >= 12


def test_every_sentence_of_the_docs_can_be_told():
    examples = re.findall(r"\"[A-Z][^\"]*[.!]'?\"|'[^']*\"[^']*'", story.__doc__.split("What the truth")[0])
    told = {scene: [text[1:-1] for text in examples if scenes(text[1:-1])[0][0] == scene] for scene in SCENES}
    assert {scene: len(texts) for scene, texts in told.items() if len(texts) != 1} == {
        "opening": 3, "thing": 2, "animals": 3, "homonym": 2, "speech": 3
    }  # fmt: skip
    for opening, thing, speech in product(told["opening"], told["thing"], told["speech"]):
        begun = [opening, *told["mood"], *told["friend"], thing]
        for middle in [told["group"] + told["count"], *([text] for text in told["animals"] + told["homonym"])]:
            ending = told["colour"] + (told["how_many"] if middle[0] in told["group"] else []) + told["closing"]
            for of_the_thing in (told["move"] + told["where"], told["gift"] + told["who"]):
                ENGLISH_WORLD.log_prob(" ".join([*begun, *middle, *of_the_thing, speech, *ending]))


def test_the_longest_story_fits_into_168_tokens():
    longest = (
        "There was once a painter named Tom Baker. He was happy because the morning was sunny. His friend was a poet "
        "named Anna Stone. There was a red ball in the garden. He found twenty apples near the gate. He counted the "
        f"apples: {', '.join(ENGLISH.number)}. Then Anna Stone took the red ball from the garden to the kitchen. Where "
        'was the red ball? It was in the kitchen. "My dogs near the gate like the garden," said Anna Stone. What '
        "colour was the ball? It was red. How many apples were there? There were twenty. At last he went home with "
        "his dog."
    )
    readings = ENGLISH_WORLD.analyse(longest, complete=True)
    assert 1 + len(readings) == 160

    # It is the longest: each scene in it is as long as any that was sampled, and those left out would not make up for
    # those that they exclude.
    length = dict(scenes(longest))
    assert SCENES.keys() - length.keys() == {"animals", "homonym", "gift", "who"}
    sampled = defaultdict(int)
    with unchecked():
        for seed in range(3000):
            for scene, n_words in scenes(ENGLISH_WORLD.sample(seed)):
                sampled[scene] = max(sampled[scene], n_words)
    assert {scene: sampled[scene] for scene in length} == length
    assert max(sampled["animals"], 2 * sampled["homonym"]) < length["group"] + length["count"]
    assert sampled["gift"] + sampled["who"] < length["move"] + length["where"]


# Bad plans, small lexicons -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [{"mood": -0.1}, {"mood": 1.1}, {"mood": math.nan}, {"group": 0.5}, {"move": 0.7}])
def test_a_plan_that_is_no_plan_is_refused(bad):
    scene, probability = next(iter(bad.items()))
    with pytest.raises(ValueError, match=f"{scene}.* is .*{probability}.*from 0 to 1"):
        Plan(**bad)


def test_a_lexicon_too_small_for_its_plan_is_refused():
    with pytest.raises(ValueError, match="at least one lemma"):
        world(small(surname=("Baker",)), friend=1.0).sample(0)


# The lexicon ---------------------------------------------------------------------------------------------------------


def test_at_least_400_words_are_told():
    with unchecked():
        told = {reading.lemma for seed in range(3000) for reading in ENGLISH_WORLD.analyse(ENGLISH_WORLD.sample(seed))}
    assert len({lemma for lemma in told if lemma.isalpha()}) >= 400
    assert told <= set(ENGLISH.words)
    assert set(ENGLISH.number) <= told
    never_told = set(ENGLISH.words) - told
    assert never_told == {one for one, _ in ENGLISH.countable if one not in ENGLISH.colour} | {END}


def test_a_word_has_its_categories():
    assert ENGLISH.categories("garden") == ("wild_place",)
    assert ENGLISH.categories("geese") == ("animal",)
    assert ENGLISH.categories("bat") == ("animal", "thing")
    assert set(ENGLISH.categories("orange")) == {"countable", "colour"}
    assert ENGLISH.categories("the") == ("function",)
    assert ENGLISH.categories('."') == ENGLISH.categories(END) == ("punctuation",)
    assert ENGLISH.categories("teapot") == ()
    assert len(set(ENGLISH.words)) == len(ENGLISH.words)


def test_a_shrunken_lexicon_keeps_what_it_is_told_to():
    lexicon = ENGLISH.shrunken(2, animal=(("owl", "owls"),))
    assert lexicon.colour == ENGLISH.colour[:2]
    assert lexicon.animal == (("owl", "owls"),)
    assert lexicon.categories("owls") == ("animal",)
    assert lexicon.categories("dogs") == ()
