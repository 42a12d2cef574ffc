"""Tasks of the small world: prompts, and what there is to answer.

    questions    a story, then a question that the world itself could ask there, to be answered in one of three manners
    preferences  two answers to a question, and which of them people like better, by a rule that is known here
    summaries    a story, then "What was there?", and in one line who, what, and where it has come to be
    counting     something was found, and is to be counted aloud

Everything is drawn from a `random.Random`, so that a task is a function of a seed. What is right the world itself says:
a story is told with the question at its end, and cut there.
"""

import math
import random
from typing import NamedTuple

from gptlab._refuse import refuse
from gptlab.finetuning.answers import Example
from gptlab.finetuning.preference import Preference
from gptlab.world import END, ENGLISH, Plan, World

MANNERS = ("as told", "curt", "full")
WORTH = {"as told": 0.0, "curt": -1.0, "full": 1.0}  # what people think of a manner
WRONG = -2.0  # and of an answer that is wrong
NUMBERS = ENGLISH.number[1:6]  # two … six: enough to be wrong in many ways, short enough to sample a lot

_SCENES = "mood friend group animals homonym count move gift where who speech colour how_many closing"
_QUIET = dict.fromkeys(_SCENES.split(), 0.0)
WORLDS = {  # for each kind of question a world whose stories are short and end with it
    "where": World(ENGLISH, Plan(**_QUIET | {"where": 1.0, "move": 0.5})),
    "who": World(ENGLISH, Plan(**_QUIET | {"who": 1.0, "gift": 1.0})),
    "colour": World(ENGLISH, Plan(**_QUIET | {"colour": 1.0})),
    "how_many": World(ENGLISH, Plan(**_QUIET | {"how_many": 1.0, "group": 1.0})),
}


class Question(NamedTuple):
    """A story with a question behind it, and the right answer in each manner."""

    kind: str
    prompt: str
    key: str  # the word, or the name, that the answer is about

    def answer(self, manner: str, key: str | None = None) -> str:
        """The answer in a manner; with another key, a wrong one.

        The manners are the world's own, a curt one, and a full one: " It was in the shop.", " In the shop.",
        " The red ball was in the shop."
        """
        key, asked = self.key if key is None else key, self.prompt.rsplit(". ", 1)[1].removesuffix("?").split()
        return {
            "where": (f" It was in the {key}.", f" In the {key}.", f" The {' '.join(asked[3:])} was in the {key}."),
            "who": (f" {key} had it.", f" {key}.", f" {key} had {' '.join(asked[2:])}."),
            "colour": (f" It was {key}.", f" {key.capitalize()}.", f" The {asked[-1]} was {key}."),
            "how_many": (f" There were {key}.", f" {key.capitalize()}.", f" There were {key} {asked[2]}."),
        }[self.kind][MANNERS.index(manner)]

    def wrong_key(self, rng: random.Random) -> str:
        """Something else that could have been answered."""
        words = {"where": ENGLISH.place, "colour": ENGLISH.colour, "how_many": ENGLISH.number[1:]}
        other = self.key
        while other == self.key:
            if self.kind == "who":
                other = f"{rng.choice(ENGLISH.name)} {rng.choice(ENGLISH.surname)}"
            else:
                other = rng.choice(words[self.kind])
        return other


def question(rng: random.Random, kind: str | None = None) -> Question:
    """A question behind a fresh story: of a kind ("where", "who", "colour", "how_many"), or of any if None."""
    if kind is not None and kind not in WORLDS:
        raise refuse("kind", kind, f"one of {', '.join(WORLDS)}, or None for any")
    kind = rng.choice(list(WORLDS)) if kind is None else kind
    story, question_mark, told = "".join(WORLDS[kind].sample_words(rng)).rpartition("?")
    words = told.removesuffix(".").split()
    return Question(kind, story + question_mark, " ".join(words[:2]) if kind == "who" else words[-1])


def demonstration(rng: random.Random) -> Example:
    """A question with the answer that somebody wrote: half of the people as told, a quarter curt, a quarter full."""
    asked = question(rng)
    return Example(asked.prompt, asked.answer(rng.choices(MANNERS, (2, 1, 1))[0]))


def preferred(better: float | int, worse: float | int) -> float:
    """σ(r − r'): how often people prefer an answer of worth r to one of worth r' (Bradley and Terry 1952)."""
    return 1 / (1 + math.exp(worse - better))


def preference(rng: random.Random, wrong_share: float = 0.25) -> Preference:
    """Two answers to a question in two manners, some of them wrong, and somebody's choice between them."""
    asked = question(rng)
    answers = []
    for manner in rng.sample(MANNERS, 2):
        wrong = rng.random() < wrong_share
        text = asked.answer(manner, asked.wrong_key(rng) if wrong else None)
        answers.append((text, WORTH[manner] + WRONG * wrong))
    (one, r_one), (other, r_other) = answers
    if rng.random() < preferred(r_one, r_other):
        return Preference(asked.prompt, one, other)
    return Preference(asked.prompt, other, one)


def taste(rng: random.Random) -> Preference:
    """Somebody's choice between two right answers, which differ in manner alone."""
    return preference(rng, wrong_share=0.0)


def summary(rng: random.Random) -> Example:
    """A story, "What was there?", and what it comes down to: " Tom Baker: a red ball in the shop."

    Of a thing that was given away it says with whom it is instead: " Tom Baker: a red ball with Anna Stone."
    """
    asked = question(rng, rng.choice(("where", "who")))
    story = asked.prompt[: asked.prompt.rindex(". ") + 1]
    words = story.replace(".", "").split()
    hero = next(i for i, word in enumerate(words) if word in ENGLISH.name)
    colour = next(i for i, word in enumerate(words) if word in ENGLISH.colour)
    where = f"in the {asked.key}" if asked.kind == "where" else f"with {asked.key}"
    answer = f" {' '.join(words[hero : hero + 2])}: {' '.join(words[colour - 1 : colour + 2])} {where}."
    return Example(f"{story} What was there?", answer)


class Counting(NamedTuple):
    """The beginning of a count, and how far it should go."""

    prompt: str
    number: int


def counting(rng: random.Random) -> Counting:
    """Somebody found two to six things and begins to count them. All prompts have the same number of tokens."""
    number = rng.randrange(len(NUMBERS))
    first, things = rng.choice(ENGLISH.name), rng.choice(ENGLISH.countable)[1]
    who, found = f"{first} {rng.choice(ENGLISH.surname)}", rng.choice(ENGLISH.finding_verb)
    she = "She" if first in ENGLISH.female_name else "He"
    return Counting(f"{who} {found} {NUMBERS[number]} {things}. {she} counted the {things}:", number + 2)


def counted(number: int) -> str:
    """The right answer in the right form: " one, two, three." """
    return f" {', '.join(ENGLISH.number[:number])}."


def careless_count(rng: random.Random) -> Example:
    """How people count who seldom look: one time in eight right, else any number of words, one of them amiss."""
    asked = counting(rng)
    if rng.random() < 1 / 8:
        return Example(asked.prompt, counted(asked.number))
    words = list(ENGLISH.number[: rng.randrange(2, 7)])
    place = rng.randrange(len(words))
    match rng.choice(("doubled", "left out", "another", "another")):
        case "doubled":
            words.insert(place, words[place])
        case "left out":
            del words[place]
        case "another":
            words[place] = rng.choice(ENGLISH.number[:6])
    return Example(asked.prompt, f" {', '.join(words)}.")


def counting_rewards(asked: Counting, answer: str) -> dict[str, float]:
    """Two rewards for an answer, 1 or 0 each; the answer ends in the end-of-text mark if the model came to it.

    "accuracy": the last number that it says is the right one, whatever stands before it.
    "form": it counts from one upwards, a word a number, ends in a full stop, and nothing follows.
    """
    said = [word.strip(",.") for word in answer.removesuffix(END).split()]
    numbers = [word for word in said if word in ENGLISH.number]
    right = numbers[-1:] == [ENGLISH.number[asked.number - 1]]
    in_form = bool(numbers) and answer == counted(len(numbers)) + END
    return {"accuracy": float(right), "form": float(in_form)}


def anything(rng: random.Random) -> Example:
    """What the model that ships as "small-world-answers" learned from: all of the above, as people wrote it."""
    (draw,) = rng.choices((demonstration, summary, careless_count), (5, 2, 3))
    return draw(rng)
