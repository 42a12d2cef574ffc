"""The second language of the small world, and which word came from which.

Velumi says what the small world says, with words of its own (``gptlab.world.second_language``) in an order of its own:

1.  An adjective follows its noun. A determiner takes the ending of its noun, which tells gender and number.

        Tom Baker en lo  vovo   sisi ibu.
        Tom Baker in the meadow old  lived           "Tom Baker lived in the old meadow."

2.  A verb stands at the end of its clause. The clause ends at a punctuation mark, before "because" or, with a relative
    clause, before the next verb.

        Ol dami    esu ab es  la  lira    gini  esu.
        he curious was because the morning rainy was          "He was curious because the morning was rainy."

        Lon funon es   al  motu bemi   esu.
        the dogs  that she saw  hungry were                   "The dogs that she saw were hungry."

3.  A question begins with the particle *ka*, which is half of the question mark.

        Ka ik    lo  sano buvi   esu?
        ?  where the map  orange was ?                        "Where was the orange map?"

4.  Where English has two words, Velumi may have one: "there was", "were there", "how many", "at last", "must go". Where
    English has one, it may have two: *ad omo* is "home", to the house, and *ab es* is "because", from that.

        Una desa goli en la  bima  enesu.
        a   cup  blue in the attic there-was                  "There was a blue cup in the attic."

5.  A quotation stands in « » where English has double marks and in ‹ › where it has single ones.

        ‹Emen ad lo  suto    obidu,›   Vera Hall zinu.
        ‹we   to the thicket must-go,› Vera Hall shouted      "'We must go to the thicket,' shouted Vera Hall."

The order is made by two substitutions on the parts of speech (`_MOVES`). Every word has a partner in the other
language. Velumi does not tell "a" from "an" nor the number of a verb, but the words around them do: no two sentences of
the world have the same translation.

    >>> from gptlab import world
    >>> story = world.translate(world.sample(1))
    >>> story.text
    >>> story.alignment                 # (word index in Velumi, word index in the story)
    >>> story.sentences[0]              # the same for a sentence alone
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from gptlab._refuse import refuse
from gptlab.world.lexicon import END
from gptlab.world.second_language import BOUNDARY, PARTICLE, QUOTATION_MARKS, vocabulary
from gptlab.world.truth import Reading, World, split_words

_MOVES = (
    re.compile("(A)(N)"),  # an adjective goes behind its noun
    re.compile("(V)([^V.]+)"),  # a verb goes behind all that follows it in its clause
)
_NOUN_ENDING = re.compile("[ao]n?$")
_OPENING = tuple(opening for opening, _ in QUOTATION_MARKS.values())


class SentencePair(NamedTuple):
    """A sentence and its translation, each as it is written where it stands alone.

    `alignment` holds pairs (index in `target`, index in `source`), sorted; a word may have several partners.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Translation:
    """A story, or its beginning, in Velumi."""

    sentences: tuple[SentencePair, ...]

    @cached_property
    def text(self) -> str:
        return " ".join("".join(pair.target) for pair in self.sentences)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """As English, Velumi is split by GPT-2's pattern; joined, the words give the text."""
        return tuple(split_words(self.text))

    @cached_property
    def alignment(self) -> tuple[tuple[int, int], ...]:
        """Pairs (index in `words`, index of the word in the English text), sorted."""
        pairs, target_start, source_start = [], 0, 0
        for sentence in self.sentences:
            pairs += [(target_start + target, source_start + source) for target, source in sentence.alignment]
            target_start += len(sentence.target)
            source_start += len(sentence.source)
        return tuple(pairs)


class _Piece(NamedTuple):
    """Words that move together, their part of speech, and the indices of the English words that they come from."""

    words: tuple[str, ...]
    part: str
    sources: tuple[int, ...]


class Translator:
    """Translates the stories of a world."""

    def __init__(self, world: World):
        self.world, self.vocabulary = world, vocabulary(world.lexicon)

    def translate(self, text: str) -> Translation:
        """A story or its first sentences in Velumi, sentence by sentence, with the alignment of the words.

        Raises:
            ImpossiblePrefix: at the first word that the world cannot tell.
            ValueError: if the text ends within a sentence.
        """
        sentences, sentence = [], []
        for reading in self.world.analyse(text):
            if reading.lemma == END:
                break
            sentence.append(reading)
            if reading.lemma[0] in ".?!":
                sentences.append(self._translate_sentence(sentence))
                sentence = []
        if sentence:
            raise refuse("text", text, "whole sentences; the last one has no end")
        return Translation(tuple(sentences))

    def _translate_sentence(self, readings: list[Reading]) -> SentencePair:
        pieces = list(self._pieces(readings))
        for move in _MOVES:
            pieces = _moved(pieces, move)
        if readings[-1].lemma == "?":
            pieces.insert(0, _Piece((PARTICLE,), BOUNDARY, (len(readings) - 1,)))
        words = [(word, piece.sources) for piece in pieces for word in piece.words]
        return SentencePair(
            source=(readings[0].word.lstrip(), *(reading.word for reading in readings[1:])),
            target=tuple(_written(_agreeing([word for word, _ in words]))),
            alignment=tuple((target, source) for target, (_, sources) in enumerate(words) for source in sources),
        )

    def _pieces(self, readings: list[Reading]) -> Iterator[_Piece]:
        """The words of a sentence in Velumi, still in English order; two that are one word there make one piece."""
        index = 0
        while index < len(readings):
            lemma, category = readings[index].lemma, readings[index].category
            both = " ".join(reading.lemma for reading in readings[index : index + 2])
            if both != lemma and (both, category) in self.vocabulary:
                sources, entry = (index, index + 1), self.vocabulary[both, category]
            else:
                sources, entry = (index,), self.vocabulary[lemma, category]
            yield _Piece(*entry, sources)
            index += len(sources)


def _moved(pieces: list[_Piece], move: re.Pattern) -> list[_Piece]:
    """Exchange the two groups of a pattern wherever the parts of speech match it."""
    order, parts = list(range(len(pieces))), "".join(piece.part for piece in pieces)
    for match in move.finditer(parts):
        (start, middle), (_, end) = match.span(1), match.span(2)
        order[start:end] = [*range(middle, end), *range(start, middle)]
    return [pieces[index] for index in order]


def _agreeing(words: list[str]) -> Iterator[str]:
    """Each determiner gets the ending of the noun that it stands before."""
    for word, after in pairwise([*words, ""]):
        yield word[:-1] + _NOUN_ENDING.search(after)[0] if word.endswith("-") else word


def _written(words: Iterator[str]) -> Iterator[str]:
    """Blanks and capitals, in a sentence that stands alone."""
    for before, word in pairwise(["", *words]):
        if before in ("", *_OPENING):
            yield word[0].upper() + word[1:]
        else:
            yield " " + word if word[0].isalpha() or word in _OPENING else word
