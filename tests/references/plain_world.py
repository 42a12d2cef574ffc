"""The small world once more, as a reader of its documentation would write it: sentences with gaps, filled by lot.

Of the package it takes the lists of words alone. It chooses what it wants to tell before it tells it, so it knows no
probability of a word and cannot be asked for one; what it tells must be as frequent as what the world says it is.
"""

from random import Random


def story(words, rng: Random) -> str:
    """A story from the lexicon `words`."""

    def lot(probability: float) -> bool:
        return rng.random() < probability

    def one_form(nouns) -> tuple[str, bool]:
        """A noun in the singular or the plural, and whether it is the plural."""
        many = lot(1 / 2)
        return rng.choice(nouns)[many], many

    def landmark() -> str:
        return f"{rng.choice(words.preposition)} the {one_form(words.landmark)[0]}"

    def place() -> str:
        return rng.choice(words.wild_place + words.built_place)

    def article(word: str) -> str:
        return "an" if word[0] in "aeiou" else "a"

    def weighted(*options):
        """One of (weight, option)."""
        return rng.choices([option for _, option in options], [weight for weight, _ in options])[0]

    first_names, surnames = rng.sample(words.female_name + words.male_name, 2), rng.sample(words.surname, 2)
    hero, friend = (f"{first} {surname}" for first, surname in zip(first_names, surnames, strict=True))
    he, his = ("she", "her") if first_names[0] in words.female_name else ("he", "his")
    He, His = he.capitalize(), his.capitalize()
    colour, noun, here = rng.choice(words.colour), rng.choice(words.thing), place()
    told = []

    job = rng.choice(words.job)
    told.append(
        weighted(
            (4, f"{hero} lived in the {rng.choice(words.quality)} {place()}."),
            (3, f"One {rng.choice(words.time)} {hero} {rng.choice(words.motion_verb)} to the {place()}."),
            (3, f"There was once {article(job)} {job} named {hero}."),
        )
    )

    if lot(0.2):
        mood, time, weather = rng.choice(words.mood), rng.choice(words.time), rng.choice(words.weather)
        told.append(f"{He} was {mood} because the {time} was {weather}.")

    people = [hero]
    if lot(0.7):
        people.append(friend)
        job = rng.choice(words.job)
        told.append(f"{His} friend was {article(job)} {job} named {friend}.")

    a_thing, the_thing = f"{article(colour)} {colour} {noun}", f"the {colour} {noun}"
    told.append(
        weighted(
            (3, f"There was {a_thing} in the {here}."),
            (2, f"In the {here} {he} {rng.choice(words.sight_verb)} {a_thing}."),
        )
    )

    number = countable = None
    scene = weighted((0.45, "group"), (0.3, "animals"), (0.25, "homonym"))
    if scene == "group":
        numbers = words.number
        number = rng.choices(range(2, 21), [25 - n for n in range(2, 21)])[0]
        countable = rng.choice(words.countable)[1]
        told.append(f"{He} {rng.choice(words.finding_verb)} {numbers[number - 1]} {countable} {landmark()}.")
        if lot(0.7):
            told.append(f"{He} counted the {countable}: {', '.join(numbers[:number])}.")
    elif scene == "animals":
        animal, many = one_form(words.animal)
        the_animal = weighted((2, f"The {animal}"), (1, f"{His} {animal}"))
        where = landmark()
        if the_animal.startswith("The") and lot(1 / 3):
            where = f"that {he} {rng.choice(words.sight_verb)}"
        told.append(f"{the_animal} {where} {'were' if many else 'was'} {rng.choice(words.animal_state)}.")
    else:
        there, homonym = place(), rng.choice(words.homonym)
        state = rng.choice(words.animal_state if there in words.wild_place else words.thing_state)
        told.append(f"In the {there} {he} {rng.choice(words.sight_verb)} {article(homonym)} {homonym}.")
        told.append(f"The {homonym} was {state}.")

    scene = weighted((0.5, "move"), (0.4, "gift"), (0.1, "neither"))
    if scene == "move":
        then, carried = rng.choice(words.moving_adverb).capitalize(), rng.choice(words.carrying_verb)
        old = here
        while here == old:
            here = place()
        told.append(f"{then} {rng.choice(people)} {carried} {the_thing} from the {old} to the {here}.")
    elif scene == "gift":
        later, gave = rng.choice(words.giving_adverb).capitalize(), rng.choice(words.giving_verb)
        giver, receiver = rng.sample(people, 2) if len(people) == 2 else (hero, friend)
        people = [hero, friend]
        told.append(f"{later} {giver} {gave} {the_thing} to {receiver}.")

    if scene == "gift":
        if lot(0.9):
            told.append(f"Who had {the_thing}? {receiver} had it.")
    elif lot(0.85):
        told.append(f"Where was {the_thing}? It was in the {here}.")

    if lot(0.5):
        animal, many = one_form(words.animal)
        one_likes, many_like = rng.choice(words.feeling_verb)
        says = weighted(
            (5, f"I {many_like} {the_thing}"),
            (3, f"My {animal} {landmark()} {many_like if many else one_likes} the {place()}"),
            (2, f"We must go to the {place()}"),
        )
        speaker, said, mark = rng.choice(people), rng.choice(words.speech_verb), rng.choice("\"'")
        if lot(1 / 2):
            told.append(f"{speaker} {said}, {mark}{says}{rng.choice('.!')}{mark}")
        else:
            told.append(f"{mark}{says},{mark} {said} {speaker}.")

    if lot(0.6):
        told.append(f"What colour was the {noun}? It was {colour}.")
    if number and lot(0.8):
        told.append(f"How many {countable} were there? There were {words.number[number - 1]}.")
    if lot(0.2):
        told.append(f"At last {he} went home with {his} {rng.choice(words.animal)[0]}.")
    return " ".join(told)
