"""Translation by hand: for each form of sentence, its words in English and in Velumi's order.

A small word stands for itself, a capital one for any lemma of a category; `there+was` is one word for two. The k-th
label of a kind in Velumi is the k-th of its kind in English, or the last if there are no more.
"""

_CATEGORIES = {
    "NAME": ("female_name", "male_name"),
    "SURNAME": ("surname",),
    "PLACE": ("wild_place", "built_place"),
    "ANIMAL": ("animal",),
    "ONE": ("thing", "animal"),
    "STATE": ("animal_state", "thing_state"),
    "MOVE": ("motion_verb",),
    "SEE": ("sight_verb",),
    "FIND": ("finding_verb",),
    "TAKE": ("carrying_verb",),
    "GIVE": ("giving_verb",),
    "SAY": ("speech_verb",),
    "FEEL": ("feeling_verb",),
    "NEAR": ("preposition",),
    "THEN": ("moving_adverb",),
    "LATER": ("giving_adverb",),
    "APPLES": ("countable",),
    "HE": ("he", "she"),
    "HIS": ("his", "her"),
    "A": ("a", "an"),
    "WAS": ("was", "were"),
    "OPEN": (' "', " '"),
    "COMMA": (',"', ",'"),
    "SHUT": ('."', ".'", '!"', "!'"),
}

_UTTERANCES = [
    ("I FEEL the COLOUR THING", "I the THING COLOUR FEEL"),
    ("my ANIMAL NEAR the LANDMARK FEEL the PLACE", "my ANIMAL NEAR the LANDMARK the PLACE FEEL"),
    ("we must go to the PLACE", "we to the PLACE must+go"),
]
_FORMS = [
    ("NAME SURNAME lived in the QUALITY PLACE .", "NAME SURNAME in the PLACE QUALITY lived ."),
    ("NUMBER TIME NAME SURNAME MOVE to the PLACE .", "NUMBER TIME NAME SURNAME to the PLACE MOVE ."),
    ("there was once A JOB named NAME SURNAME .", "once A JOB named NAME SURNAME there+was ."),
    ("HIS friend was A JOB named NAME SURNAME .", "HIS friend A JOB named NAME SURNAME was ."),
    ("HE was MOOD because the TIME was WEATHER .", "HE MOOD was because the TIME WEATHER was ."),
    ("there was A COLOUR THING in the PLACE .", "A THING COLOUR in the PLACE there+was ."),
    ("in the PLACE HE SEE A COLOUR THING .", "in the PLACE HE A THING COLOUR SEE ."),
    ("in the PLACE HE SEE A ONE .", "in the PLACE HE A ONE SEE ."),
    ("the ONE was STATE .", "the ONE STATE was ."),
    ("HE FIND NUMBER APPLES NEAR the LANDMARK .", "HE NUMBER APPLES NEAR the LANDMARK FIND ."),
    ("the ANIMAL NEAR the LANDMARK WAS STATE .", "the ANIMAL NEAR the LANDMARK STATE WAS ."),
    ("HIS ANIMAL NEAR the LANDMARK WAS STATE .", "HIS ANIMAL NEAR the LANDMARK STATE WAS ."),
    ("the ANIMAL that HE SEE WAS STATE .", "the ANIMAL that HE SEE STATE WAS ."),
    *(
        (f"HE counted the APPLES : {numbers} .", f"HE the APPLES counted : {numbers} .")
        for numbers in (" , ".join(["NUMBER"] * n) for n in range(2, 21))
    ),
    (
        "THEN NAME SURNAME TAKE the COLOUR THING from the PLACE to the PLACE .",
        "THEN NAME SURNAME the THING COLOUR from the PLACE to the PLACE TAKE .",
    ),
    (
        "LATER NAME SURNAME GIVE the COLOUR THING to NAME SURNAME .",
        "LATER NAME SURNAME the THING COLOUR to NAME SURNAME GIVE .",
    ),
    *((f"NAME SURNAME SAY , OPEN {e} SHUT", f"NAME SURNAME SAY , OPEN {v} SHUT") for e, v in _UTTERANCES),
    *((f"OPEN {e} COMMA SAY NAME SURNAME .", f"OPEN {v} COMMA NAME SURNAME SAY .") for e, v in _UTTERANCES),
    ("where was the COLOUR THING ?", "? where the THING COLOUR was ?"),
    ("it was in the PLACE .", "it in the PLACE was ."),
    ("who had the COLOUR THING ?", "? who the THING COLOUR had ?"),
    ("NAME SURNAME had it .", "NAME SURNAME it had ."),
    ("what colour was the THING ?", "? what colour the THING was ?"),
    ("it was COLOUR .", "it COLOUR was ."),
    ("how many APPLES were there ?", "? how+many APPLES were+there ?"),
    ("there were NUMBER .", "NUMBER there+were ."),
    ("at last HE went home with HIS ANIMAL .", "at+last HE home with HIS ANIMAL went ."),
]  # fmt: skip


def _fits(label, lemma, category):
    if not label.isupper() or label == "I":
        return label == lemma
    return bool({lemma, category} & set(_CATEGORIES.get(label, (label.lower(),))))


def translate_sentence(lemmas, categories, vocabulary):
    """The words in Velumi without capitals, determiners without an ending, and the pairs (Velumi, English)."""
    form = None
    for english, velumi in _FORMS:
        labels = english.split()
        if len(labels) == len(lemmas) and all(map(_fits, labels, lemmas, categories)):
            if form is not None:
                raise LookupError(f"two forms for {lemmas}")
            form = labels, velumi.split()
    labels, order = form
    words, pairs, seen = [], [], {}
    for label in order:
        if "+" in label:
            first, second = label.split("+")
            start = next(i for i in range(len(labels)) if labels[i : i + 2] == [first, second])
            sources = [start, start + 1]
        else:
            places = [i for i, other in enumerate(labels) if other == label]
            sources = [places[min(seen.get(label, 0), len(places) - 1)]]
            seen[label] = seen.get(label, 0) + 1
        if label == "?" and not words:
            translated = ["ka"]
        else:
            lemma = " ".join(lemmas[source] for source in sources)
            translated = vocabulary[lemma, categories[sources[0]]]
        for word in translated:
            pairs += [(len(words), source) for source in sources]
            words.append(word)
    return words, pairs
