"""The second language: its words, its order, and which word came from which."""

import re
from itertools import pairwise

import pytest

from gptlab import world
from gptlab.world import ImpossiblePrefix, translation
from gptlab.world.lexicon import ENGLISH
from gptlab.world.second_language import vocabulary
from gptlab.world.translation import Translator
from tests.references.naive_translation import translate_sentence
from tests.unchecked import unchecked

VOCABULARY = vocabulary(ENGLISH)

# Stories that between them use every form of sentence, each sentence with its translation.
WORKED = [
    [
        ("Tom Baker lived in the old meadow.", "Tom Baker en lo vovo sisi ibu."),
        ("He was curious because the morning was rainy.", "Ol dami esu ab es la lira gini esu."),
        ("His friend was a painter named Anna Stone.", "Olo amo uno famo inomi Anna Stone esu."),
        ("There was a red ball in the garden.", "Uno foso suri en la seta enesu."),
        ("He found three apples near the gate.", "Ol semum fivan ferum la beva tilu."),
        ("He counted the apples: one, two, three.", "Ol lan fivan umu: nudum, dosum, semum."),
        ("Later Tom Baker gave the red ball to Anna Stone.", "Tomum Tom Baker lo foso suri ad Anna Stone mevu."),
        ("Who had the red ball?", "Ka ek lo foso suri avu?"),
        ("Anna Stone had it.", "Anna Stone il avu."),
        ('Anna Stone said, "I like the red ball."', "Anna Stone tamu, «Em lo foso suri dasu.»"),
        ("What colour was the ball?", "Ka ak uvo lo foso esu?"),
        ("It was red.", "Il suri esu."),
        ("How many apples were there?", "Ka ok fivan enesu?"),
        ("There were three.", "Semum enesu."),
        ("At last he went home with his dog.", "Ultum ol ad omo ot olo funo idu."),
    ],
    [
        ("There was once an actor named Vera Hall.", "Antum uno bado inomi Vera Hall enesu."),
        ("Her friend was a poet named Leo West.", "Alo amo una lina inomi Leo West esu."),
        ("In the cave she saw an orange map.", "En lo fomo al uno sano buvi motu."),
        ("The dogs that she saw were hungry.", "Lon funon es al motu bemi esu."),
        (
            "Then Leo West took the orange map from the cave to the shop.",
            "Borum Leo West lo sano buvi ab lo fomo ad lo ravo diru.",
        ),
        ("Where was the orange map?", "Ka ik lo sano buvi esu?"),
        ("It was in the shop.", "Il en lo ravo esu."),
        ("'We must go to the thicket,' shouted Vera Hall.", "‹Emen ad lo suto obidu,› Vera Hall zinu."),
        ("At last she went home with her hen.", "Ultum al ad omo ot alo sado idu."),
    ],
    [
        ("One morning Leo West walked to the forest.", "Nudum lira Leo West ad lo gano navu."),
        ("There was a blue cup in the attic.", "Una desa goli en la bima enesu."),
        ("His dogs near the gates were wild.", "Olon funon ferum lan bevan lasi esu."),
        ("Finally Leo West lent the blue cup to Vera Hall.", "Zarum Leo West la desa goli ad Vera Hall fisu."),
        (
            'Leo West answered, "My dog beside the trees likes the garden!"',
            "Leo West nedu, «Emo funo losum lon voson la seta dasu!»",
        ),
    ],
    [
        ("Leo West lived in the quiet hotel.", "Leo West en la zela moni ibu."),
        ("There was a blue cup in the attic.", "Una desa goli en la bima enesu."),
        ("The owl by the barn was asleep.", "Lo daro zemum lo lamo vodi esu."),
    ],
]  # fmt: skip


@pytest.fixture(scope="module")
def stories() -> list[str]:
    with unchecked():
        return [world.sample(seed) for seed in range(500)]


@pytest.fixture(scope="module")
def translations(stories: list[str]) -> list[world.Translation]:
    with unchecked():
        return [world.translate(story) for story in stories]


def by_sentence(story: str):
    """The readings of a story, cut where the story's own sentences end."""
    sentence = []
    for reading in world.analyse(story):
        sentence.append(reading)
        if reading.lemma[0] in ".?!":
            yield sentence
            sentence = []


# Worked sentences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sentences", WORKED)
def test_each_form_of_sentence_is_translated(sentences):
    translated = world.translate(" ".join(english for english, _ in sentences))
    assert ["".join(pair.source) for pair in translated.sentences] == [english for english, _ in sentences]
    assert ["".join(pair.target) for pair in translated.sentences] == [velumi for _, velumi in sentences]
    assert translated.text == " ".join(velumi for _, velumi in sentences)


def test_alignment_of_a_story_by_hand():
    story = "Tom Baker lived in the old meadow. There was a red ball in the garden."
    #        0   1     2     3  4   5   6     7 8     9   10 11 12  13 14  15    16
    translated = world.translate(story)
    assert translated.words == (
        "Tom", " Baker", " en", " lo", " vovo", " sisi", " ibu", ".",
        " Uno", " foso", " suri", " en", " la", " seta", " enesu", ".",
    )  # fmt: skip
    assert translated.alignment == (
        (0, 0), (1, 1), (2, 3), (3, 4), (4, 6), (5, 5), (6, 2), (7, 7),
        (8, 10), (9, 12), (10, 11), (11, 13), (12, 14), (13, 15), (14, 8), (14, 9), (15, 16),
    )  # fmt: skip


def test_alignment_of_sentences_by_hand():
    pairs = {"".join(pair.source): pair for pair in world.translate(" ".join(e for e, _ in WORKED[0])).sentences}
    # ka is the question mark's other half; how many, were there: one word each
    assert pairs["How many apples were there?"].alignment == (
        (0, 5), (1, 0), (1, 1), (2, 2), (3, 3), (3, 4), (4, 5),
    )  # fmt: skip
    # at last: one word for two; home: two words for one; the verb comes from the middle to the end
    assert pairs["At last he went home with his dog."].alignment == (
        (0, 0), (0, 1), (1, 2), (2, 4), (3, 4), (4, 5), (5, 6), (6, 7), (7, 3), (8, 8),
    )  # fmt: skip


def test_the_grammar_in_the_docstring_is_true():
    examples = re.findall(r"^ {8}(\S.*[.?])\n {8}\S.*?  +\"(.*)\"$", translation.__doc__, re.MULTILINE)
    assert len(examples) == 6
    for velumi, english in examples:
        assert (english, re.sub(" +", " ", velumi)) in sum(WORKED, [])


# Against a translation by hand ---------------------------------------------------------------------------------------


def test_order_and_alignment_agree_with_a_table_of_all_forms(stories, translations):
    words_of = {key: entry.words for key, entry in VOCABULARY.items()}
    for story, translated in zip(stories, translations, strict=True):
        sentences, pairs = list(by_sentence(story)), translated.sentences
        assert len(sentences) == len(pairs)
        for readings, pair in zip(sentences, pairs, strict=True):
            words, alignment = translate_sentence(
                [reading.lemma for reading in readings], [reading.category for reading in readings], words_of
            )
            assert list(pair.alignment) == alignment, pair
            for told, word in zip(pair.target, words, strict=True):
                if word.endswith("-"):
                    assert re.fullmatch(word[:-1] + "[ao]n?", told.strip().lower())
                else:
                    assert told.strip().lower() == word.lower()


# Properties over many stories ----------------------------------------------------------------------------------------


def test_every_word_has_a_partner_in_the_other_language(stories, translations):
    for story, translated in zip(stories, translations, strict=True):
        targets, sources = zip(*translated.alignment, strict=True)
        assert set(targets) == set(range(len(translated.words)))
        assert set(sources) == set(range(len(world.split_words(story))))
        assert list(translated.alignment) == sorted(set(translated.alignment))


def test_the_story_is_its_sentences(stories, translations):
    for story, translated in zip(stories, translations, strict=True):
        assert " ".join("".join(pair.source) for pair in translated.sentences) == story
        assert " ".join("".join(pair.target) for pair in translated.sentences) == translated.text
        assert [w.strip() for w in translated.words] == [w.strip() for p in translated.sentences for w in p.target]
        targets = sources = 0
        shifted = []
        for pair in translated.sentences:
            shifted += [(targets + target, sources + source) for target, source in pair.alignment]
            targets, sources = targets + len(pair.target), sources + len(pair.source)
        assert list(translated.alignment) == shifted


def test_text_splits_back_into_its_words(translations):
    for translated in translations:
        assert "".join(translated.words) == translated.text
        for pair in translated.sentences:
            assert world.split_words("".join(pair.target)) == list(pair.target)
            assert world.split_words("".join(pair.source)) == list(pair.source)


def test_the_order_is_another_one(translations):
    """Most sentences cannot be aligned without crossing, and both kinds of unequal number occur."""
    pairs = [pair for translated in translations for pair in translated.sentences]
    crossing = sum(any(s > later for (_, s), (_, later) in pairwise(pair.alignment)) for pair in pairs)
    assert crossing > 0.8 * len(pairs)
    targets = [[t for t, _ in pair.alignment] for pair in pairs]
    sources = [[s for _, s in pair.alignment] for pair in pairs]
    assert sum(len(set(t)) < len(t) for t in targets) > 0.1 * len(pairs)
    assert sum(len(set(s)) < len(s) for s in sources) > 0.1 * len(pairs)


def test_determiners_agree_with_their_nouns(translations):
    nouns = {word for entry in VOCABULARY.values() if entry.part == "N" for word in entry.words}
    stems = {entry.words[0][:-1] for entry in VOCABULARY.values() if entry.words[0].endswith("-")}
    determiners = {stem + ending for stem in stems for ending in ("o", "a", "on", "an")}
    found = 0
    for translated in translations:
        for word, after in pairwise(word.strip().lower() for word in translated.words):
            if word in determiners:
                found += 1
                assert after in nouns
                assert re.search("[ao]n?$", word)[0] == re.search("[ao]n?$", after)[0]
    assert found > 1000


def test_no_two_sentences_share_a_translation(translations):
    """Also in a world of two words a category, where the same sentences come again and again."""
    small = world.World(ENGLISH.shrunken(2))
    translator = Translator(small)
    with unchecked():
        small_translations = [translator.translate(small.sample(seed)) for seed in range(500)]
    for told in (translations, small_translations):
        sources: dict[tuple[str, ...], tuple[str, ...]] = {}
        for pair in (pair for translated in told for pair in translated.sentences):
            assert sources.setdefault(pair.target, pair.source) == pair.source
        assert len(sources) > 300


# Context -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "state", "expected"),
    [
        ("forest", "asleep", "En lo gano ol uno faso motu. Lo faso vodi esu."),
        ("shop", "broken", "En lo ravo ol una sela motu. La sela niti esu."),
    ],
)
def test_a_homonym_is_translated_by_its_sense(place, state, expected):
    opening = "Tom Baker lived in the old meadow. There was a red ball in the garden."
    story = f"{opening} In the {place} he saw a bat. The bat was {state}."
    assert world.translate(story).text.endswith(expected)


def test_orange_is_a_colour_and_a_fruit():
    story = (
        "Tom Baker lived in the old meadow. There was an orange ball in the garden. He found two oranges near the gate."
    )
    assert world.translate(story).text.endswith("Uno foso buvi en la seta enesu. Ol dosum taron ferum la beva tilu.")


# What is let in and what is not --------------------------------------------------------------------------------------


def test_end_of_text_marks_change_nothing(stories, translations):
    story = stories[0]
    assert world.translate(world.END + story + world.END) == translations[0]


def test_the_first_sentences_of_a_story_are_translated(translations):
    first = translations[0].sentences[:2]
    assert world.translate(" ".join("".join(pair.source) for pair in first)).sentences == first
    nothing = world.translate("")
    assert (nothing.text, nothing.words, nothing.alignment, nothing.sentences) == ("", (), (), ())


def test_what_the_world_cannot_tell_is_refused():
    with pytest.raises(ImpossiblePrefix) as refused:
        world.translate("Tom Baker lived in the lamp.")
    assert (refused.value.position, refused.value.word) == (5, " lamp")


@pytest.mark.parametrize("text", ["Tom", "Tom Baker lived in the old meadow. There was"])
def test_an_unfinished_sentence_is_refused(text):
    with pytest.raises(ValueError, match="whole sentences"):
        world.translate(text)


# Words ---------------------------------------------------------------------------------------------------------------


def test_every_lemma_has_a_word_in_each_of_its_senses():
    apart = {"there", "many", "how", "at", "last", "must", "go"}  # only ever one half of a pair
    for lemma in ENGLISH.words:
        for category in ENGLISH.categories(lemma):
            halves = [key for key in VOCABULARY if lemma in key[0].split(" ") and key[1] == "function"]
            assert (lemma, category) in VOCABULARY or lemma == world.END or (lemma in apart and halves)


def test_no_word_is_kept_for_what_the_world_does_not_say():
    for lemmas, category in VOCABULARY:
        for lemma in lemmas.split() if category == "function" else [lemmas]:
            assert category in ENGLISH.categories(lemma)


def test_words_are_distinct_but_for_what_velumi_does_not_tell_apart():
    by_words: dict[tuple[str, ...], list[str]] = {}
    for (lemma, _), entry in VOCABULARY.items():
        by_words.setdefault(entry.words, []).append(lemma)
    shared = {tuple(lemmas) for lemmas in by_words.values() if len(lemmas) > 1}
    verbs = set(ENGLISH.feeling_verb)
    assert shared == verbs | {("a", "an"), ("was", "were"), ("there was", "there were", "were there")}
    assert len({word for entry in VOCABULARY.values() for word in entry.words}) >= 430


def test_words_look_like_their_parts_of_speech():
    shapes = {"N": "[aeiou][dlmnrstv](a|o)n?", "A": "[aeiou][dlmnrstv]i", "V": "[aeiou][dlmnrstv]u"}
    for (lemma, category), entry in VOCABULARY.items():
        if category not in ("function", "punctuation", "surname", "female_name", "male_name"):
            shape = shapes.get(entry.part, "[aeiou][dlmnrstv]um")
            assert re.fullmatch("[bdfglmnrstvz]" + shape, entry.words[0]), lemma
            assert entry.words[0] not in ENGLISH.words
        elif category.endswith("name"):
            assert entry.words == (lemma,)
    for one, many in (*ENGLISH.animal, *ENGLISH.countable, *ENGLISH.landmark):
        category = ENGLISH.categories(many)[0]
        assert VOCABULARY[many, category].words[0] == VOCABULARY[one, category].words[0] + "n"


def test_both_genders_are_common():
    endings = [entry.words[0].removesuffix("n")[-1] for entry in VOCABULARY.values() if entry.part == "N"]
    assert 0.25 < endings.count("a") / len(endings) < 0.75


def test_a_lexicon_with_more_words_than_stems_is_refused():
    with pytest.raises(ValueError, match="lexicon .* at most 480 words"):
        vocabulary(ENGLISH.shrunken(2, job=tuple(f"job{i}" for i in range(500))))
