"""The scenes of a story, each told sentence by sentence.

``gptlab.world.story`` shows an example of each and decides which comes next. It has told the first word of a scene when
the scene begins, and hands it over; only the opening tells all its words itself.
"""

from gptlab.world.choice import Choice, Link
from gptlab.world.lexicon import QUOTES
from gptlab.world.narrator import Narrator, Words, plurals, singulars


class Scenes(Narrator):
    """A narrator who knows how each scene goes."""

    number_at = countable_at = -1  # where the hero found how many of what; -1 if nothing was found

    def opening(self) -> Words:
        names = self.lexicon.name
        first_word = yield from self.choose(
            Choice([*((name, 0.4 / len(names)) for name in names), ("one", 0.3), ("there", 0.3)])
        )
        if first_word == "one":
            yield from self.any_of(self.lexicon.time)
            yield from self.new_person()
            yield from self.any_of(self.lexicon.motion_verb)
            yield from self.say("to", "the")
        elif first_word == "there":
            yield from self.say("was", "once")
            yield from self.a(self.lexicon.job)
            yield from self.say("named")
            yield from self.new_person()
            yield from self.say(".")
            return
        else:
            yield from self.new_person(first_word)
            yield from self.say("lived", "in", "the")
            yield from self.any_of(self.lexicon.quality)
        yield from self.any_of(self.lexicon.place)
        yield from self.say(".")

    def mood(self, _: str) -> Words:
        yield from self.say("was")
        yield from self.any_of(self.lexicon.mood)
        yield from self.say("because", "the")
        yield from self.any_of(self.lexicon.time)
        yield from self.say("was")
        yield from self.any_of(self.lexicon.weather)
        yield from self.say(".")

    def friend(self, _: str) -> Words:
        yield from self.say("friend", "was")
        yield from self.a(self.lexicon.job)
        yield from self.say("named")
        yield from self.new_person()
        yield from self.say(".")

    def thing(self, first_word: str) -> Words:
        if first_word == "there":
            yield from self.say("was")
            yield from self.new_thing()
            yield from self.say("in", "the")
            yield from self.new_place()
        else:
            yield from self.say("the")
            place = yield from self.any_of(self.lexicon.place)
            place_at = self.length - 1
            yield from self.he()
            yield from self.any_of(self.lexicon.sight_verb)
            yield from self.new_thing()
            self.item.place, self.item.place_at = place, place_at
        yield from self.say(".")

    def group(self, _: str) -> Words:
        yield from self.any_of(self.lexicon.finding_verb)
        numbers = self.lexicon.number[1:]
        falling = Choice((word, len(numbers) + 4 - i) for i, word in enumerate(numbers))
        self.number = yield from self.choose(falling)
        self.number_at = self.length - 1
        self.countable = yield from self.any_of(plurals(self.lexicon.countable))
        self.countable_at = self.length - 1
        yield from self.beside_landmark()
        yield from self.say(".")

    def countable_again(self) -> Words:
        yield from self.certain(self.countable, Link(self.countable_at, "coreference"))

    def count(self, _: str) -> Words:
        yield from self.say("counted", "the")
        yield from self.countable_again()
        yield from self.say(":")
        numbers = self.lexicon.number
        found, last = (Link(self.number_at, "count"),), ()
        for number in numbers[: numbers.index(self.number) + 1]:
            yield from self.certain(number, *last)
            last = (Link(self.length - 1, "count"),)
            undecided = number in numbers[1:-1]  # after "one" counting always goes on, after the last number never
            yield from self.certain("." if number == self.number else ",", *last, *(found if undecided else ()))

    def animals(self, first_word: str) -> Words:
        plural = yield from self.one_or_many(self.lexicon.animal)
        verb_link = Link(self.length - 1, "agreement")
        ways = [(word, 2 / len(self.lexicon.preposition)) for word in self.lexicon.preposition]
        way = yield from self.choose(Choice([*ways, ("that", 1.0)] if first_word == "the" else ways))
        if way == "that":
            yield from self.he()
            yield from self.any_of(self.lexicon.sight_verb)
        else:
            yield from self.say("the")
            yield from self.one_or_many(self.lexicon.landmark)
        yield from self.certain("were" if plural else "was", verb_link)
        yield from self.any_of(self.lexicon.animal_state)
        yield from self.say(".")

    def homonym(self, _: str) -> Words:
        yield from self.say("the")
        place = yield from self.any_of(self.lexicon.place)
        sense_link = Link(self.length - 1, "sense")
        wild = place in self.lexicon.wild_place
        category = "animal" if wild else "thing"
        yield from self.he()
        yield from self.any_of(self.lexicon.sight_verb)
        noun = yield from self.a(self.lexicon.homonym, category=category)
        noun_link = Link(self.length - 1, "coreference")
        yield from self.say(".", "the")
        yield from self.any_of((noun,), noun_link, category=category)
        yield from self.say("was")
        yield from self.any_of(self.lexicon.animal_state if wild else self.lexicon.thing_state, sense_link)
        yield from self.say(".")

    def move(self, _: str) -> Words:
        yield from self.name_again(self.people)
        yield from self.any_of(self.lexicon.carrying_verb)
        yield from self.the_thing()
        yield from self.say("from", "the")
        yield from self.place_again()
        left = Link(self.length - 1, "contrast")
        yield from self.say("to", "the")
        yield from self.new_place(left)
        yield from self.say(".")

    def gift(self, _: str) -> Words:
        giver = yield from self.name_again(self.people)
        named = Link(self.length - 2, "contrast")
        yield from self.any_of(self.lexicon.giving_verb)
        yield from self.the_thing()
        yield from self.say("to")
        if len(self.people) > 1:
            self.item.owner = yield from self.name_again([p for p in self.people if p is not giver], named)
        else:
            yield from self.new_person()
            self.item.owner = self.people[-1]
        self.item.owner_at = self.length - 2
        yield from self.say(".")

    def speech(self, first_word: str) -> Words:
        if first_word in QUOTES:
            opened = Link(self.length - 1, "quotation")
            yield from self.utterance()
            yield from self.certain("," + QUOTES[first_word], opened)
            yield from self.any_of(self.lexicon.speech_verb)
            yield from self.name_again(self.people)
            yield from self.say(".")
        else:
            yield from self.surname_again(first_word, *self.query())
            yield from self.any_of(self.lexicon.speech_verb)
            yield from self.say(",")
            mark = yield from self.any_of(tuple(QUOTES))
            opened = Link(self.length - 1, "quotation")
            yield from self.utterance()
            yield from self.any_of(tuple(end + QUOTES[mark] for end in ".!"), opened)

    def utterance(self) -> Words:
        begin = yield from self.choose(Choice([("I", 0.5), ("my", 0.3), ("we", 0.2)]))
        feelings = self.lexicon.feeling_verb
        if begin == "I":
            yield from self.any_of(plurals(feelings))
            yield from self.the_thing()
        elif begin == "my":
            plural = yield from self.one_or_many(self.lexicon.animal)
            verb_link = Link(self.length - 1, "agreement")
            yield from self.beside_landmark()
            yield from self.any_of(plurals(feelings) if plural else singulars(feelings), verb_link)
            yield from self.say("the")
            yield from self.any_of(self.lexicon.place)
        else:
            yield from self.say("must", "go", "to", "the")
            yield from self.any_of(self.lexicon.place)

    def where(self, _: str) -> Words:
        yield from self.say("was")
        yield from self.the_thing()
        yield from self.say("?", "it", "was", "in", "the")
        yield from self.place_again()
        yield from self.say(".")

    def who(self, _: str) -> Words:
        yield from self.say("had")
        yield from self.the_thing()
        yield from self.say("?")
        owner, owner_at = self.item.owner, self.item.owner_at
        yield from self.certain(owner.first, Link(owner_at, "state"))
        new_friend = owner.first_at == owner_at  # who was named first as the receiver could have been nobody else
        yield from self.surname_again(owner.first, *([] if new_friend else self.query()))
        yield from self.say("had", "it", ".")

    def colour(self, _: str) -> Words:
        yield from self.say("colour", "was", "the")
        yield from self.noun_again()
        yield from self.say("?", "it", "was")
        yield from self.colour_again()
        yield from self.say(".")

    def how_many(self, _: str) -> Words:
        yield from self.say("many")
        yield from self.countable_again()
        yield from self.say("were", "there", "?", "there", "were")
        yield from self.certain(self.number, Link(self.number_at, "state"))
        yield from self.say(".")

    def closing(self, _: str) -> Words:
        yield from self.say("last")
        yield from self.he()
        yield from self.say("went", "home", "with")
        yield from self.his()
        yield from self.any_of(singulars(self.lexicon.animal))
        yield from self.say(".")
