"""What a story has said so far, and the phrases it is told with.

Every method that tells words is a coroutine: it yields `Turn`s and is sent the lemmas that were chosen. Indices count
the words of the story from 0.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from gptlab.world.choice import Choice, Link, one_of, with_article
from gptlab.world.lexicon import Lexicon


class Turn(NamedTuple):
    """The next word's distribution and the words it looks back to."""

    choice: Choice
    links: tuple[Link, ...] = ()


Word = Generator[Turn, str, str]  # a coroutine that tells a word and returns its lemma
Words = Generator[Turn, str, None]  # a coroutine that tells any number of words


@dataclass
class Person:
    """Somebody who has been named: where the first name was said first, and where the surname was said last."""

    first: str
    first_at: int
    surname: str
    surname_at: int
    female: bool


@dataclass
class Thing:
    """The thing of the story: its colour and noun and where they were said first, its place or owner and where last."""

    colour: str
    noun: str
    noun_at: int
    place: str = ""
    place_at: int = -1
    owner: Person | None = None
    owner_at: int = -1

    @property
    def colour_at(self) -> int:
        return self.noun_at - 1


class Narrator:
    """The words told so far and the phrases that tell more."""

    def __init__(self, lexicon: Lexicon):
        self.lexicon = lexicon
        self.length = 0  # words told so far, and so the index of the next one
        self.people: list[Person] = []  # the hero, then the friend
        self.item: Thing | None = None

    @property
    def hero(self) -> Person:
        return self.people[0]

    # Words ----------------------------------------------------------------------------------------------------------

    def choose(self, choice: Choice, *links: Link) -> Word:
        lemma = yield Turn(choice, links)
        self.length += 1
        return lemma

    def any_of(self, lemmas: tuple[str, ...], *links: Link, category: str | None = None) -> Word:
        return self.choose(one_of(lemmas, category), *links)

    def say(self, *lemmas: str) -> Words:
        for lemma in lemmas:
            yield from self.choose(one_of((lemma,)))

    def certain(self, lemma: str, *links: Link) -> Word:
        return self.choose(one_of((lemma,)), *links)

    def a(self, lemmas: tuple[str, ...], category: str | None = None) -> Word:
        """An indefinite article, then one of the words that go with it."""
        articles, by_article = with_article(lemmas, category)
        article = yield from self.choose(articles)
        return (yield from self.choose(by_article[article]))

    # People ---------------------------------------------------------------------------------------------------------

    @property
    def hero_link(self) -> Link:
        return Link(self.hero.first_at, "coreference")

    def he(self) -> Word:
        return self.certain(*self.pronoun("he", "she"))

    def his(self) -> Word:
        return self.certain(*self.pronoun("his", "her"))

    def pronoun(self, male: str, female: str) -> tuple[str, Link]:
        return (female if self.hero.female else male), self.hero_link

    def new_person(self, first: str | None = None) -> Words:
        """A first name (unless it has been said already) and a surname, neither of them shared with anybody."""
        if first is None:
            firsts = without(self.lexicon.name, *(person.first for person in self.people))
            first = yield from self.any_of(firsts, *(Link(person.first_at, "contrast") for person in self.people))
        surnames = without(self.lexicon.surname, *(person.surname for person in self.people))
        surname = yield from self.any_of(surnames, *(Link(person.surname_at, "contrast") for person in self.people))
        female = first in self.lexicon.female_name
        self.people.append(Person(first, self.length - 2, surname, self.length - 1, female))

    def name_again(self, people: list[Person], *links: Link) -> Generator[Turn, str, Person]:
        """The full name of one of the people, all of them equally likely."""
        named = (Link(person.first_at, "coreference") for person in people)
        first = yield from self.any_of(tuple(person.first for person in people), *named, *links)
        return (yield from self.surname_again(first, *self.query()))

    def query(self) -> list[Link]:
        """The first name just said, which decides the surname where there are two people."""
        return [Link(self.length - 1, "query")] if len(self.people) > 1 else []

    def surname_again(self, first: str, *links: Link) -> Generator[Turn, str, Person]:
        """The surname that goes with the first name just said."""
        person = next(person for person in self.people if person.first == first)
        yield from self.certain(person.surname, Link(person.surname_at, "induction"), *links)
        person.surname_at = self.length - 1
        return person

    # The thing ------------------------------------------------------------------------------------------------------

    def new_thing(self) -> Words:
        """Article, colour and noun of the thing."""
        colour = yield from self.a(self.lexicon.colour, category="colour")
        noun = yield from self.any_of(self.lexicon.thing)
        self.item = Thing(colour, noun, self.length - 1)

    def colour_again(self) -> Word:
        return self.any_of((self.item.colour,), Link(self.item.colour_at, "state"), category="colour")

    def noun_again(self) -> Word:
        return self.certain(self.item.noun, Link(self.item.noun_at, "coreference"))

    def the_thing(self) -> Words:
        """The thing in full: "the red ball"."""
        yield from self.say("the")
        yield from self.colour_again()
        yield from self.noun_again()

    def place_again(self) -> Words:
        """Where the thing is."""
        yield from self.certain(self.item.place, Link(self.item.place_at, "state"))
        self.item.place_at = self.length - 1

    def new_place(self, *links: Link) -> Words:
        """A place where the thing is from now on, other than where it was."""
        self.item.place = yield from self.any_of(without(self.lexicon.place, self.item.place), *links)
        self.item.place_at = self.length - 1

    # Nouns and verbs ------------------------------------------------------------------------------------------------

    def one_or_many(self, nouns: tuple[tuple[str, str], ...]) -> Generator[Turn, str, bool]:
        """A noun in the singular or the plural; tells whether it is plural."""
        noun = yield from self.any_of(singulars(nouns) + plurals(nouns))
        return noun in plurals(nouns)

    def beside_landmark(self) -> Words:
        yield from self.any_of(self.lexicon.preposition)
        yield from self.say("the")
        yield from self.one_or_many(self.lexicon.landmark)


@lru_cache(maxsize=100_000)
def without(lemmas: tuple[str, ...], *left_out: str) -> tuple[str, ...]:
    """The lemmas except some; the same tuple for the same question, so that `one_of` knows it again."""
    return tuple(lemma for lemma in lemmas if lemma not in left_out)


@cache
def singulars(pairs: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(one for one, _ in pairs)


@cache
def plurals(pairs: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(many for _, many in pairs)
