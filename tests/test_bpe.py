"""Byte-pair training: the same merges as plain loops find, the tie rule, and no text that takes quadratic time."""

import random
import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gptlab.bpe import Merge, merges, split, well_formed
from tests.references.naive_bpe import naive_merges

# Few letters make many ties and runs; contractions, blanks and characters of several bytes make word borders.
crowded = st.text(alphabet="aab \n'sé👍", max_size=60)


def as_tuples(steps):
    return [(step.pair, step.token, step.count) for step in steps]


@given(crowded)
def test_merges_are_those_of_the_naive_reference(text):
    assert as_tuples(merges(text)) == naive_merges(text, limit=1000)


@given(st.text(max_size=30))
def test_merges_are_those_of_the_naive_reference_in_any_script(text):
    assert as_tuples(merges(text)) == naive_merges(text, limit=1000)


def test_merges_are_those_of_the_naive_reference_on_sentences():
    draw = random.Random(3)
    words = "the cat cats sat sits mat rat that on in an and hand; it's wouldn't 12 2012 über\n".split(" ")
    text = " ".join(draw.choices(words, k=600))
    assert as_tuples(merges(text)) == naive_merges(text, limit=1000)


@given(crowded)
def test_no_two_merges_spell_the_same_bytes(text):
    tokens = [step.token for step in merges(text)]
    assert len(set(tokens)) == len(tokens)


@given(crowded)
def test_training_ends_when_every_word_is_one_token(text):
    made = {step.token for step in merges(text)}
    assert {word.encode() for word in split(text) if len(word.encode()) > 1} <= made


def test_case_71_ids_counts_and_the_tie_rule():
    first, second, third = islice(merges("aaabdaaabac"), 3)
    assert first == Merge(id=256, pair=(97, 97), token=b"aa", count=4)  # overlapping places count
    assert second == Merge(id=257, pair=(256, 97), token=b"aaa", count=2)  # met before (97, 98), also twice
    assert third == Merge(id=258, pair=(257, 98), token=b"aaab", count=2)


def test_case_71_runs_are_joined_from_the_left():
    assert as_tuples(merges("aaaaa")) == [
        ((97, 97), b"aa", 4),
        ((256, 256), b"aaaa", 1),  # aa aa a: met before (256, 97), which occurs as often
        ((257, 97), b"aaaaa", 1),
    ]


def test_a_tie_goes_to_the_pair_met_first_even_when_a_place_has_gone():
    # "bc" is met first, but its first place is used up by the merge of "ab"; then "de" comes before it.
    text = "abc abc abc de de bc bc"
    assert [step.token for step in islice(merges(text), 4)] == [step[1] for step in naive_merges(text, limit=4)]


def test_no_merge_reaches_across_the_border_of_a_word():
    assert all(b" " not in step.token[1:] for step in merges("a b a b a b"))


def test_a_pattern_of_ones_own_decides_what_a_word_is():
    assert [step.token for step in merges("a a a", pattern=r"(?s).+")] == [b"a ", b"a a ", b"a a a"]


@pytest.mark.parametrize("text", ["", "a", "a b", "\n"])
def test_a_text_without_two_neighbours_in_a_word_has_no_merges(text):
    assert [step.token for step in merges(text)] == ([b" b"] if text == "a b" else [])


@given(st.text())
def test_words_joined_are_the_text(text):
    assert "".join(split(text)) == text


def test_split_cuts_as_gpt2_does():
    assert split("It's two  words,\n\n 12!") == ["It", "'s", " two", " ", " words", ",", "\n\n", " 12", "!"]


def test_case_65_surrogates_are_put_right():
    assert well_formed("\ud83d\udc4d") == "👍"
    assert well_formed("a\ud83db\udc4dc") == "a\ufffdb\ufffdc"
    assert well_formed("\ufeffnaïve 👍") == "\ufeffnaïve 👍"
    assert [step.token for step in merges("\ud83d\ud83d")] == [step.token for step in merges("\ufffd\ufffd")]


def english_like(characters: int) -> str:
    """Words of one to four syllables whose frequencies fall like 1/rank."""
    draw = random.Random(0)
    syllables = "ba tion er in con st re ou th e ing al ly mor pen dr i a s".split()
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(30_000)]
    chosen = draw.choices(words, [1 / rank for rank in range(1, len(words) + 1)], k=characters // 4)
    return " ".join(chosen)[:characters]


def test_a_megabyte_to_1024_tokens_takes_seconds():
    """The bound is 5 s; measured 0.2 s. Ten times the bound, so that a busy machine does not turn it red."""
    text = english_like(1_000_000)
    assert len(text) == 1_000_000
    start = time.perf_counter()
    assert len(list(islice(merges(text), 1024 - 257))) == 1024 - 257
    seconds = time.perf_counter() - start
    print(f"1 MB to 1,024 tokens: {seconds:.2f} s")
    assert seconds < 50


def processor_seconds(text: str) -> float:
    start = time.process_time()
    list(islice(merges(text), 767))
    return time.process_time() - start


@pytest.mark.parametrize("kind", ["run", "two letters", "no blanks"])
def test_case_64_training_on_one_long_word_is_not_quadratic(kind):
    draw = random.Random(1)
    row = {
        "run": "a" * 100_000,
        "two letters": "ab" * 50_000,
        "no blanks": "".join(draw.choices("abcdefgh", k=100_000)),
    }
    text = row[kind]
    eighth = min(processor_seconds(text[: len(text) // 8]) for _ in range(3))
    assert min(processor_seconds(text) for _ in range(2)) < 3**3 * eighth  # quadratic would be 4 a doubling
