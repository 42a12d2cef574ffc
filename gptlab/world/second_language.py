"""The words of Velumi, the second language of the small world. ``gptlab.world.translation`` has its grammar.

A word of an open class is a stem and an ending. The stem is a consonant, a vowel and a consonant, and no two words
share one. The ending tells the part of speech:

    noun                        -a after the vowels e and i, -o after a, o and u; plural -n   set-a, vov-o, fun-on
    adjective                   -i                                                            sur-i
    verb                        -u; no number, no person                                      mot-u
    number, adverb, preposition -um                                                           nud-um

A noun in -a is of the one gender and a noun in -o of the other. Each sense of a homonym is a word of its own: the
"bat" that flies is *faso*, the one that lies in a shop is *sela*. Names are not translated.

The function words are listed below. Some of them stand for two words of English, two of them are two words for one.
A hyphen at the end of a determiner holds the place of its noun's ending: *lo vovo*, "the meadow", and *lon funon*,
"the dogs".
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import NamedTuple

from gptlab._refuse import refuse
from gptlab.world.lexicon import QUOTES, Lexicon

NOUN, ADJECTIVE, VERB, BOUNDARY, OTHER = "NAV.-"  # parts of speech; a boundary is where a clause ends

_PART = {
    category: part
    for part, categories in {
        NOUN: "job wild_place built_place animal thing countable landmark time",
        ADJECTIVE: "colour quality mood weather animal_state thing_state",
        VERB: "motion_verb sight_verb finding_verb carrying_verb giving_verb speech_verb feeling_verb",
        OTHER: "preposition moving_adverb giving_adverb number",
    }.items()
    for category in categories.split()
}
_NAMES = ("female_name", "male_name", "surname")

_FUNCTION_WORDS = {
    OTHER: {
        "the": "l-", "a": "un-", "an": "un-", "my": "em-", "his": "ol-", "her": "al-",
        "I": "em", "we": "emen", "he": "ol", "she": "al", "it": "il",
        "who": "ek", "what": "ak", "where": "ik", "how many": "ok", "that": "es",
        "in": "en", "to": "ad", "from": "ab", "with": "ot", "home": "ad omo", "named": "inomi",
        "once": "antum", "at last": "ultum",
    },
    NOUN: {"friend": "amo", "colour": "uvo"},
    VERB: {
        "was": "esu", "were": "esu", "had": "avu", "lived": "ibu", "counted": "umu", "went": "idu", "must go": "obidu",
        "there was": "enesu", "there were": "enesu", "were there": "enesu",
    },
    BOUNDARY: {"because": "ab es"},
}  # fmt: skip
PARTICLE = "ka"  # what a question begins with
QUOTATION_MARKS = {'"': "«»", "'": "‹›"}  # an English mark: how its quotation opens and closes

_FIRST, _VOWEL, _LAST = "bdfglmnrstvz", "aeiou", "dlmnrstv"
_STEMS = len(_FIRST) * len(_VOWEL) * len(_LAST)
# It shares no divisor with the number of stems, and so reaches them all; the stems of neighbours do not look alike.
_STRIDE = 283


class Entry(NamedTuple):
    """What a word of English, or two words together, is in Velumi: the words and their part of speech."""

    words: tuple[str, ...]
    part: str


def vocabulary(lexicon: Lexicon) -> dict[tuple[str, str], Entry]:
    """The entry for each lemma and category of a lexicon; two words that are one have both lemmas: "there was".

    Raises:
        ValueError: if the lexicon has more words than there are stems.
    """
    entries = {(name, category): Entry((name,), OTHER) for category in _NAMES for name in getattr(lexicon, category)}
    open_words = list(_open_words(lexicon))
    if len(open_words) > _STEMS:
        raise refuse("lexicon", lexicon, f"one of at most {_STEMS} words that are not names, and has {len(open_words)}")
    for index, (category, lemmas) in enumerate(open_words):
        part = _PART[category]
        word = _with_ending(_stem(index), part)
        for number, lemma in enumerate(lemmas):
            plural = "n" if number and part == NOUN else ""
            entries[lemma, category] = Entry((word + plural,), part)
    for part, words in _FUNCTION_WORDS.items():
        entries |= {(lemmas, "function"): Entry(tuple(word.split()), part) for lemmas, word in words.items()}
    for mark in lexicon.PUNCTUATION:
        entries[mark, "punctuation"] = Entry((_punctuation(mark),), BOUNDARY)
    return entries


def _open_words(lexicon: Lexicon) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word of the open classes in each of its senses: its category, and its lemmas (singular, plural)."""
    for field in fields(lexicon):
        for category in ("animal", "thing") if field.name == "homonym" else (field.name,):
            if category not in _NAMES:
                for entry in getattr(lexicon, field.name):
                    yield category, (entry,) if isinstance(entry, str) else entry


def _stem(index: int) -> str:
    rest, first = divmod(index * _STRIDE % _STEMS, len(_FIRST))
    last, vowel = divmod(rest, len(_VOWEL))
    return _FIRST[first] + _VOWEL[vowel] + _LAST[last]


def _with_ending(stem: str, part: str) -> str:
    if part == NOUN:
        return stem + ("a" if stem[1] in "ei" else "o")
    return stem + {ADJECTIVE: "i", VERB: "u", OTHER: "um"}[part]


def _punctuation(mark: str) -> str:
    if mark in QUOTES:
        return QUOTATION_MARKS[QUOTES[mark]][0]
    return mark.translate({ord(quote): marks[1] for quote, marks in QUOTATION_MARKS.items()})
