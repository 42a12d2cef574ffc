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
    colours, nouns, places = rng.sample(words.colour, 2), rng.sample(words.thing, 2), [place(), place()]
    owners = [None, None]
    told = []

    job = rng.choice(words.job)
    told.append(
        weighted(
            (4, f"{hero} lived in the {rng.choice(words.quality)} {place()}."),
            (3, f"One {rng.choice(words.time)} {hero} {rng.choice(words.motion_verb)} to the {place()}."),
            (3, f"There was once {article(job)} {job} named {hero}."),
        )
    )

    if lot(0.3):
        mood, time, weather = rng.choice(words.mood), rng.choice(words.time), rng.choice(words.weather)
        told.append(f"{He} was {mood} because the {time} was {weather}.")

    first_thing = f"{article(colours[0])} {colours[0]} {nouns[0]}"
    told.append(
        weighted(
            (3, f"There was {first_thing} in the {places[0]}."),
            (2, f"In the {places[0]} {he} {rng.choice(words.sight_verb)} {first_thing}."),
        )
    )
    two_things = lot(0.4)
    if two_things:
        told.append(f"There was also {article(colours[1])} {colours[1]} {nouns[1]} in the {places[1]}.")
    things = [0, 1] if two_things else [0]

    number = countable = None
    scene = weighted((0.4, "group"), (0.35, "animals"), (0.25, "homonym"))
    if scene == "group":
        numbers = words.number
        number = rng.choices(range(2, 21), [25 - n for n in range(2, 21)])[0]
        countable = rng.choice(words.countable)[1]
        told.append(f"{He} {rng.choice(words.finding_verb)} {numbers[number - 1]} {countable} {landmark()}.")
        if lot(0.6):
            told.append(f"{He} counted the {countable}: {', '.join(numbers[:number])}.")
    elif scene == "animals":
        animal, many = one_form(words.animal)
        the_animal = weighted((2, f"The {animal}"), (1, f"{His} {animal}"))
        where = landmark()
        if the_animal.startswith("The") and lot(1 / 3):
            where = f"that {he} {rng.choice(words.sight_verb)}"
        told.append(f"{the_animal} {where} {'were' if many else 'was'} {rng.choice(words.animal_state)}.")
    else:
        here, noun = place(), rng.choice(words.homonym)
        state = rng.choice(words.animal_state if here in words.wild_place else words.thing_state)
        told.append(f"In the {here} {he} {rng.choice(words.sight_verb)} {article(noun)} {noun}.")
        told.append(f"The {noun} was {state}.")

    people = [hero]
    scene = weighted((0.5, "move"), (0.35, "gift"), (0.15, "neither"))
    taken = rng.choice(things)
    if scene == "move":
        then, carried = rng.choice(words.moving_adverb).capitalize(), rng.choice(words.carrying_verb)
        old = places[taken]
        while places[taken] == old:
            places[taken] = place()
        told.append(f"{then} {hero} {carried} the {nouns[taken]} to the {places[taken]}.")
    elif scene == "gift":
        later, gave = rng.choice(words.giving_adverb).capitalize(), rng.choice(words.giving_verb)
        owners[taken] = friend
        people.append(friend)
        told.append(f"{later} {he} {gave} the {nouns[taken]} to {friend}.")

    if lot(0.45):
        liked = rng.choice(things)
        animal, many = one_form(words.animal)
        feeling = rng.choice(words.feeling_verb)
        feeling_of_one, feeling_of_many = feeling
        says = weighted(
            (5, f"I {feeling_of_many} the {colours[liked]} {nouns[liked]}"),
            (3, f"My {animal} {landmark()} {feeling_of_many if many else feeling_of_one} the {place()}"),
            (2, f"We must go to the {place()}"),
        )
        speaker, said, mark = rng.choice(people), rng.choice(words.speech_verb), rng.choice("\"'")
        if lot(1 / 2):
            told.append(f"{speaker} {said}, {mark}{says}{rng.choice('.!')}{mark}")
        else:
            told.append(f"{mark}{says},{mark} {said} {speaker}.")

    here = [thing for thing in things if owners[thing] is None]
    if here and lot(0.6):
        asked = rng.choice(here)
        told.append(f"Where was the {nouns[asked]}? It was in the {places[asked]}.")
    if scene == "gift" and lot(0.7):
        told.append(f"Who had the {nouns[taken]}? {friend} had it.")
    if lot(0.35):
        asked = rng.choice(things)
        told.append(f"What colour was the {nouns[asked]}? It was {colours[asked]}.")
    if number and lot(0.6):
        told.append(f"How many {countable} were there? There were {words.number[number - 1]}.")
    if lot(0.25):
        told.append(f"At last {he} went home with {his} {rng.choice(words.animal)[0]}.")
    return " ".join(told)
