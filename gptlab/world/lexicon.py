"""The words of the small world and what each of them is.

A word here is a lemma: "garden", not " garden" or "Garden"; how it is written where it stands is the business of
``gptlab.world.choice``. Punctuation counts as words, because GPT-2's splitting pattern makes it pieces of their own
(``."`` is one word). A few words belong to two categories: a "bat" is asleep in a forest and broken in a shop. The
context settles which is meant, and ``gptlab.world.analyse`` tells.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property

END = "<|endoftext|>"
NUMBERS = tuple(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)
QUOTES = {' "': '"', " '": "'"}  # how a quotation opens, and the mark that must close it


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(tuple(pair.split("/")) for pair in text.split())


@dataclass(frozen=True)
class Lexicon:
    """The open word classes of a world. A smaller lexicon makes a smaller world with the same grammar.

    Nouns that can be one or many are pairs (singular, plural). A homonym is both an animal and a thing.
    """

    female_name: tuple[str, ...]
    male_name: tuple[str, ...]
    surname: tuple[str, ...]
    job: tuple[str, ...]
    wild_place: tuple[str, ...]
    built_place: tuple[str, ...]
    animal: tuple[tuple[str, str], ...]
    homonym: tuple[str, ...]
    thing: tuple[str, ...]
    countable: tuple[tuple[str, str], ...]
    landmark: tuple[tuple[str, str], ...]
    colour: tuple[str, ...]
    quality: tuple[str, ...]
    mood: tuple[str, ...]
    weather: tuple[str, ...]
    time: tuple[str, ...]
    animal_state: tuple[str, ...]
    thing_state: tuple[str, ...]
    preposition: tuple[str, ...]
    motion_verb: tuple[str, ...]
    sight_verb: tuple[str, ...]
    finding_verb: tuple[str, ...]
    carrying_verb: tuple[str, ...]
    giving_verb: tuple[str, ...]
    speech_verb: tuple[str, ...]
    feeling_verb: tuple[tuple[str, str], ...]
    moving_adverb: tuple[str, ...]
    giving_adverb: tuple[str, ...]
    number: tuple[str, ...] = NUMBERS

    FUNCTION_WORDS = _words(
        "a an the that there he she it his her I my we in to from with at lived was were had once named friend because "
        "counted must go went home last where who what colour how many"
    )
    PUNCTUATION = (".", ",", ":", "?", *(m + q for q in QUOTES.values() for m in ".,!"), *QUOTES)

    @property
    def place(self) -> tuple[str, ...]:
        return self.wild_place + self.built_place

    @property
    def name(self) -> tuple[str, ...]:
        return self.female_name + self.male_name

    @cached_property
    def _categories(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}

        def add(word: str, category: str) -> None:
            found[word] = (*found.get(word, ()), category)

        for field in fields(self):
            for entry in getattr(self, field.name):
                if field.name == "homonym":
                    add(entry, "animal")
                    add(entry, "thing")
                for word in (entry,) if isinstance(entry, str) else entry:
                    if field.name != "homonym":
                        add(word, field.name)
        for word in self.FUNCTION_WORDS:
            if word not in found:
                add(word, "function")
        for word in (*self.PUNCTUATION, END):
            add(word, "punctuation")
        return found

    @property
    def words(self) -> tuple[str, ...]:
        """Every word of the world, punctuation and the end of text included, each once."""
        return tuple(self._categories)

    def categories(self, word: str) -> tuple[str, ...]:
        """The categories of a word: none for a word that the world lacks, two for a homonym."""
        return self._categories.get(word, ())

    def shrunken(self, size: int, **kept: tuple) -> "Lexicon":
        """The same lexicon with the first `size` words of each category, except for those given by name."""
        return replace(self, **{f.name: getattr(self, f.name)[:size] for f in fields(self)} | kept)


ENGLISH = Lexicon(
    female_name=_words(
        "Anna Bella Clara Dora Emma Fiona Grace Hanna Iris Julia Karen Laura Maria Nora Olivia Paula Rosa Sarah Tina "
        "Vera"
    ),
    male_name=_words(
        "Adam Ben Carl David Erik Frank George Henry Ivan Jack Kevin Leo Martin Noah Oscar Peter Robert Simon Tom "
        "Victor"
    ),
    surname=_words(
        "Baker Brook Carter Cook Dale Field Fisher Fox Green Hall Hill Hunter King Lake Marsh Mason Miller Moore "
        "North Page Park Reed Rivers Shaw Stone Taylor Turner Walker West Wood"
    ),
    job=_words(
        "actor artist baker clerk cook doctor driver engineer farmer fisher gardener guard judge nurse painter pilot "
        "poet sailor singer teacher"
    ),
    wild_place=_words("garden forest meadow valley desert swamp cave jungle field canyon grove ravine thicket savanna"),
    built_place=_words(
        "kitchen garage library market office school museum hotel castle tower station theatre factory cellar attic "
        "shop"
    ),
    animal=_pairs(
        "dog/dogs cat/cats horse/horses cow/cows goat/goats pig/pigs hen/hens duck/ducks goose/geese rabbit/rabbits "
        "fox/foxes wolf/wolves bear/bears lion/lions tiger/tigers monkey/monkeys elephant/elephants owl/owls "
        "eagle/eagles frog/frogs snake/snakes donkey/donkeys camel/camels zebra/zebras"
    ),
    homonym=_words("bat crane mouse seal kite beetle"),
    thing=_words(
        "ball box bag book lamp cup hat coat drum doll clock chair table umbrella bottle bucket ladder rope mirror "
        "piano guitar violin hammer knife spoon plate pillow blanket candle key map letter envelope basket bell broom"
    ),
    countable=_pairs(
        "apple/apples orange/oranges pear/pears plum/plums lemon/lemons egg/eggs nut/nuts onion/onions carrot/carrots "
        "potato/potatoes berry/berries cookie/cookies coin/coins button/buttons stamp/stamps pencil/pencils "
        "stone/stones shell/shells feather/feathers flower/flowers"
    ),
    landmark=_pairs(
        "tree/trees wall/walls gate/gates bridge/bridges rock/rocks fence/fences barn/barns boat/boats cart/carts "
        "door/doors"
    ),
    colour=_words("red blue green yellow orange purple black white brown pink grey golden"),
    quality=_words("old small large quiet noisy famous clean dirty beautiful empty ugly distant"),
    mood=_words("happy sad angry tired calm proud lonely excited nervous bored cheerful curious"),
    weather=_words("sunny rainy windy cold warm foggy stormy cloudy"),
    time=_words("morning evening afternoon night winter summer"),
    animal_state=_words("asleep awake hungry thirsty afraid alive wild tame"),
    thing_state=_words("broken new wooden plastic dusty cheap heavy rusty"),
    preposition=_words("near behind beside by"),
    motion_verb=_words("walked ran drove travelled hurried"),
    sight_verb=_words("saw noticed discovered spotted"),
    finding_verb=_words("found bought picked collected"),
    carrying_verb=_words("took carried brought moved"),
    giving_verb=_words("gave handed sold lent"),
    speech_verb=_words("said whispered shouted answered"),
    feeling_verb=_pairs("likes/like loves/love needs/need wants/want hates/hate"),
    moving_adverb=_words("then next soon"),
    giving_adverb=_words("later afterwards finally"),
)
