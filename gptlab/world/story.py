"""The process that tells a story of the small world, one word at a time.

`tell` is a coroutine. It yields a `Turn`, the exact distribution of the next word together with what that
distribution looks back to, and is sent the lemma that was chosen. It draws nothing itself: every choice is told by the
word that it emits. Who draws the words samples a story, who feeds a given text scores it, and who stops in the middle
reads the true distribution of the next word (``gptlab.world.truth`` does all three).

A story goes through scenes, always in this order. A scene in brackets may be left out; `Plan` says how likely each is.
What may begin the next sentence is decided by the scene before it and by what there is to tell or to ask.

    opening     "Tom Baker lived in the old castle." · "One morning Tom Baker walked to the forest." ·
                "There was once a painter named Tom Baker."            Tom is the hero, "he" or "she" from now on
    (mood)      "He was happy because the morning was sunny."
    (friend)    "His friend was a poet named Anna Stone."              all her names are new
    thing       "There was a red ball in the garden." · "In the garden he saw a red ball."
    one of      group      "He found seven apples near the gate."
                animals    "The dogs near the gate were hungry." · "The dogs that he saw were hungry." ·
                           "His dogs near the gate were hungry."
                homonym    "In the market he saw a bat. The bat was broken." ·
                           "In the forest he saw a bat. The bat was asleep."
    (count)     "He counted the apples: one, two, three, four, five, six, seven."          after a group alone
    (one of)    move       "Then Anna Stone took the red ball from the garden to the kitchen."
                gift       "Later Tom Baker gave the red ball to Anna Stone."
                           either may give it to the other; if there was no friend, somebody new gets it and is one now
    (where)     "Where was the red ball? It was in the kitchen."                           unless it was given away
    (who)       "Who had the red ball? Anna Stone had it."                                 if it was
    (speech)    'Anna Stone said, "I like the red ball."' · "Tom Baker said, 'We must go to the forest!'" ·
                '"My dogs near the gate like the garden," said Anna Stone.'
    (colour)    "What colour was the ball? It was red."
    (how_many)  "How many apples were there? There were seven."                            after a group
    (closing)   "At last he went home with his dog."

Words of a category and people that may stand in the same place are equally likely, singular and plural too, but for
these odds:

    opening     "Tom Baker lived" 4, "One" 3, "There" 3
    thing       "There" 3, "In" 2
    group       "two" 23, "three" 22, and so on down to "twenty" 5
    animals     "The" 2, "His" 1; then "The dogs" with a preposition 2, "that he saw" 1
    speech      a name first 2, a double mark 1, a single mark 1; inside "I" 5, "My" 3, "We" 2; at the end "." 1, "!" 1

What the truth looks back to (`Link.kind`; the source is the index of an earlier word):

    coreference  a pronoun to the hero's name; a first name or noun said again to where it was said first
    induction    a surname said again to where it was said last, after the same first name
    query        a surname said again to the first name just before it, where it might have been the other's
    agreement    a verb to the head of its subject, across the phrase between them
    state        where the thing is and who has it to the word that told it last; its colour and how many there were to
                 the word that told it first
    count        the next number to the last one; going on or stopping to the last one and, but for "one" and "twenty",
                 to how many were found
    quotation    the closing mark to the opening one
    sense        the state of a homonym to the place that settles what it is
    contrast     what must differ to what it must differ from: a friend's names to the hero's, a receiver to the giver,
                 the place that a thing is moved to to the place that it is moved from

The links are complete but for the form of a sentence, which its own function words settle: put another word in the
place of a source, tell the story on with as little change as possible, and the distribution at the target is another;
with another word in the place of any other earlier word it stays as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gptlab._refuse import refuse
from gptlab.world.choice import Choice, Link
from gptlab.world.lexicon import END, QUOTES, Lexicon
from gptlab.world.narrator import Words
from gptlab.world.scenes import Scenes

ORDER = (
    ("mood",),
    ("friend",),
    ("thing",),
    ("group", "animals", "homonym"),
    ("count",),
    ("move", "gift"),
    ("where",),
    ("who",),
    ("speech",),
    ("colour",),
    ("how_many",),
    ("closing",),
)

_FIRST_WORD = {
    "homonym": "in", "where": "where", "who": "who", "colour": "what", "how_many": "how", "closing": "at"
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """How likely each scene is when the story has come to it and there is something for it to tell.

    Of group, animals and homonym at most one is told, and of move and gift; so neither may sum to more than 1.
    """

    thing: ClassVar[float] = 1.0  # always told: later scenes speak of it, and it parts two that begin with "he"

    mood: float = 0.2
    friend: float = 0.7
    group: float = 0.45
    animals: float = 0.3
    homonym: float = 0.25
    count: float = 0.7
    move: float = 0.5
    gift: float = 0.4
    where: float = 0.85
    who: float = 0.9
    speech: float = 0.5
    colour: float = 0.6
    how_many: float = 0.8
    closing: float = 0.2

    def __post_init__(self):
        for scenes in ORDER:
            likely = [getattr(self, scene) for scene in scenes]
            if not (all(0 <= p <= 1 for p in likely) and sum(likely) <= 1 + 1e-9):
                raise refuse(" + ".join(scenes), likely, "from 0 to 1 each, and together at most 1")


USUAL_PLAN = Plan()


def tell(lexicon: Lexicon, plan: Plan) -> Words:
    """Tell a story: a coroutine of `Turn`s that is sent lemmas, and returns once it is sent the end of text."""
    story = Story(lexicon)
    yield from story.opening()
    scene = "opening"
    while True:
        starts = list(story.starts(scene, plan))
        scenes = {word: scene for word, _, scene in starts}
        pronouns = [story.hero_link] if scenes.keys() & {"he", "she", "his", "her"} else []
        names = [Link(person.first_at, "coreference") for person in story.people if person.first in scenes]
        links = dict.fromkeys(pronouns + names)  # the hero's name once
        word = yield from story.choose(Choice((word, p) for word, p, _ in starts), *links)
        if word == END:
            return
        scene = scenes[word]
        yield from getattr(story, scene)(word)


class Story(Scenes):
    """A story on its way: the scenes, and which of them may come next."""

    def starts(self, scene: str, plan: Plan) -> Iterator[tuple[str, float, str]]:
        """What the next sentence may begin with after a scene: (first word, probability, scene)."""
        left = 1.0
        done = 0 if scene == "opening" else next(i for i, scenes in enumerate(ORDER) if scene in scenes) + 1
        for scenes in ORDER[done:]:
            likely = {name: getattr(plan, name) for name in scenes if getattr(plan, name) and self.can(name, scene)}
            for name, probability in likely.items():
                words = self.first_words(name)
                for word, share in words.items():
                    yield word, left * probability * share / sum(words.values()), name
            left *= 1 - sum(likely.values())
            if left < 1e-9:
                return
        yield END, left, "end"

    def can(self, name: str, before: str) -> bool:
        """Whether there is something for the scene to tell."""
        return {
            "count": before == "group",
            "where": self.item is not None and self.item.owner is None,
            "who": self.item is not None and self.item.owner is not None,
            "how_many": self.number_at >= 0,
        }.get(name, True)

    def first_words(self, name: str) -> dict[str, float]:
        """The words that a scene may begin with, and their shares."""
        match name:
            case "mood" | "group" | "count":
                return {self.pronoun("he", "she")[0]: 1.0}
            case "thing":
                return {"there": 0.6, "in": 0.4}
            case "friend":
                return {self.pronoun("his", "her")[0]: 1.0}
            case "animals":
                return {"the": 2.0, self.pronoun("his", "her")[0]: 1.0}
            case "move":
                return dict.fromkeys(self.lexicon.moving_adverb, 1.0)
            case "gift":
                return dict.fromkeys(self.lexicon.giving_adverb, 1.0)
            case "speech":
                return {person.first: 1 / len(self.people) for person in self.people} | dict.fromkeys(QUOTES, 0.5)
        return {_FIRST_WORD[name]: 1.0}
