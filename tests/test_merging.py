"""Byte-pair encoding step by step: what the picture and its app show against the plain reference."""

import json
from collections import Counter

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gptlab import apps, figures
from gptlab.apps.merging import MOST_BYTES, MOST_MERGES, Training
from gptlab.figures.merging import BYTE, NEWEST, TOKEN
from tests.pictures import speech, words
from tests.references.naive_bpe import naive_encode, naive_merges

LINE = "she sells sea shells by the sea shore"
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y} &lt;"
BOXES, PLACES, CONTENDERS, HEADLINE = range(4)


def steps(text: str, merges: int = 0, **options) -> go.Figure:
    training = Training(text)
    return figures.merge_steps(training.words, training.pairs, merges=merges, **options)


def moved(figure: go.Figure, step: int) -> go.Figure:
    """The figure after its own slider was set to a step, as a browser does it."""
    figure = go.Figure(figure)
    changes, traces = figure.layout.sliders[0].steps[step].args
    for name, values in changes.items():
        for trace, value in zip(traces, values, strict=True):
            if value is not None:
                figure.data[trace][name] = value
    return figure


def shown(figure: go.Figure) -> list[dict]:
    traces = json.loads(figure.to_json())["data"]
    return [{key: trace.get(key) for key in ("base", "x", "y", "text", "customdata", "marker")} for trace in traces]


# What is learned --------------------------------------------------------------------------------------------------


@given(st.text(alphabet="aab ’é", min_size=1, max_size=40))
def test_each_state_is_that_of_the_naive_reference(text):
    training, reference = Training(text), naive_merges(text, MOST_MERGES)
    spelling = [bytes([byte]) for byte in range(256)] + [token for _, token, _ in reference]
    assert len(training.words) == len(training.pairs) == len(reference) + 1
    for merges, ((left, right), _, count) in enumerate(reference):
        assert training.pairs[merges][0] == (spelling[left], spelling[right], count)
    for merges, state in enumerate(training.words):
        ids = naive_encode(text, reference[:merges])
        assert [token for word in state for token in word] == [spelling[id] for id in ids]


def test_every_pair_is_counted_and_the_most_frequent_comes_first():
    for state, pairs in zip(Training(LINE).words, Training(LINE).pairs, strict=True):
        counts = Counter()
        for word in state:
            counts.update(word[k : k + 2][0] + b"|" + word[k : k + 2][1] for k in range(len(word) - 1))
        assert {left + b"|" + right: count for left, right, count in pairs} == dict(counts)
        assert [count for *_, count in pairs] == sorted((count for *_, count in pairs), reverse=True)


def test_case_71_overlapping_places_count_and_are_joined_from_the_left():
    training = Training("aaabdaaabac")
    assert [pairs[0] for pairs in training.pairs[:3]] == [(b"a", b"a", 4), (b"aa", b"a", 2), (b"aaa", b"b", 2)]
    assert training.words[3] == [[b"aaab", b"d", b"aaab", b"a", b"c"]]


# The picture ------------------------------------------------------------------------------------------------------


def test_boxes_are_the_tokens_and_say_by_their_colour_how_old_they_are():
    boxes = steps("ab ab cd ab", merges=2).data[BOXES]
    assert list(boxes.text) == ["ab", "␣ab", "␣", "c", "d", "␣ab"]
    assert list(boxes.customdata) == [256, 257, 32, 99, 100, 257]
    assert list(boxes.marker.color) == [TOKEN, NEWEST, BYTE, BYTE, BYTE, NEWEST]


def test_the_text_stands_still_while_its_boxes_grow():
    training = Training(LINE)
    start = {}
    for merges in range(len(training.words)):
        boxes, column = steps(LINE, merges).data[BOXES], 0
        for base, width, text in zip(boxes.base, boxes.x, boxes.text, strict=True):
            assert base == pytest.approx(column + 0.06) and width == pytest.approx(len(text) - 0.12)
            start.setdefault(column, text[0])
            assert start[column] == text[0]
            column += len(text)
        assert column == len(LINE)


def test_a_line_runs_below_each_place_of_the_next_winner_and_overlapping_ones_are_told_apart():
    figure = steps("aaaa baa")
    ends = [x for x in figure.data[PLACES].x if x is not None]
    assert ends == [0.1, 1.9, 1.1, 2.9, 2.1, 3.9, 6.1, 7.9]
    lows = [y for y in figure.data[PLACES].y if y is not None][::2]
    assert lows[0] < lows[1] and lows[1] > lows[2] and lows[3] == lows[0]
    assert figure.data[CONTENDERS].x[0] == 4 and figure.data[CONTENDERS].text[0].strip() == "a + a: 4"


def test_places_are_as_many_as_the_winner_counts():
    training = Training("babab bab ab")
    for merges, pairs in enumerate(training.pairs[:-1]):
        assert list(steps("babab bab ab", merges).data[PLACES].x).count(None) == pairs[0][2]


def test_a_byte_of_a_longer_character_has_room_for_its_name():
    boxes = steps("é a").data[BOXES]
    assert list(boxes.text) == ["⟨C3⟩", "⟨A9⟩", "␣", "a"]
    assert list(boxes.base) == [0.06, 3.06, 6.06, 7.06]
    assert list(steps("é a", merges=1).data[BOXES].text) == ["é", "␣", "a"]


def test_lines_are_broken_between_words_and_a_longer_word_makes_room_for_itself():
    figure = steps("shells " * 20)
    tokens = zip(figure.data[BOXES].text, figure.data[BOXES].y, strict=True)
    begins = [text for (text, line), before in zip(tokens, [0, *figure.data[BOXES].y], strict=False) if line != before]
    assert begins and set(begins) == {"␣"}
    assert figure.layout.height > steps("shells").layout.height
    assert figure.layout.xaxis.range[1] == 48 < steps("a" * 100).layout.xaxis.range[1]


def test_the_slider_of_its_own_holds_every_state():
    figure = steps(LINE, merges=2)
    assert figure.layout.sliders[0].active == 2
    for merges in range(len(Training(LINE).words)):
        assert shown(moved(figure, merges)) == shown(steps(LINE, merges, own_slider=False))
    assert not steps(LINE, own_slider=False).layout.sliders and not steps("a").layout.sliders


def test_the_words_tell_the_merge_and_the_next_one():
    assert words(steps("ab ab", 0)) == ("5 bytes after 0 merges, 5 tokens: every byte for itself. Next: ‘a’ + ‘b’, 2.")
    assert words(steps("ab ab", 1)) == (
        "5 bytes after 1 merge, 3 tokens: ‘a’ + ‘b’ stood there twice and became ‘ab’. Next: ‘␣’ + ‘ab’, 1."
    )
    assert words(steps("ab ab", 2)).endswith("stood there once and became ‘␣ab’. No pair is left.")


def test_no_byte_of_a_text_is_read_as_markup():
    for merges in range(len(Training(HOSTILE).words)):
        said = [text for trace in steps(HOSTILE, merges).data for text in trace.text or ()]
        assert not any(set("<>$%") & set(text) for text in said)


def test_what_does_not_fit_is_refused_by_name():
    state = [[b"a", b"b"]]
    with pytest.raises(ValueError, match=r"\(words, pairs\) is \(1, 2\)"):
        figures.merge_steps([state], [[], []])
    with pytest.raises(ValueError, match=r"\(0, 0\)"):
        figures.merge_steps([], [])
    with pytest.raises(ValueError, match="merges is 1, but must be a whole number from 0 to 0"):
        figures.merge_steps([state], [[]], merges=1)


# The app ----------------------------------------------------------------------------------------------------------


def test_the_slider_shows_each_state_in_place_with_one_message():
    app = apps.merge_steps(LINE)
    figure, messages = app.figure, []
    figure.observe(lambda change: messages.append(change.new), "_py2js_update")
    app.merges.value = 3
    assert app.figure is figure and len(list(filter(None, messages))) == 1
    for merges in (1, app.merges.max, 0):
        app.merges.value = merges
        assert shown(app.figure) == shown(steps(LINE, merges, own_slider=False))


def test_another_text_is_learned_from_anew_and_the_slider_ends_with_it():
    app = apps.merge_steps(LINE, merges=9)
    app.box.value = "aaaa"
    assert (app.merges.max, app.merges.value) == (2, 2)
    assert shown(app.figure) == shown(steps("aaaa", 2, own_slider=False))
    assert app.figure.layout.height == steps("aaaa", 2, own_slider=False).layout.height
    app.box.value = LINE
    assert app.merges.max == len(Training(LINE).words) - 1


@pytest.mark.parametrize("text", ["", "a", " ", "\n\n", "مرحبا", "👍👍", HOSTILE, "\ud83d", LINE * 100, "a" * 1000])
def test_any_text_is_drawn_or_answered_in_a_sentence(text):
    for app in (apps.merge_steps(LINE, merges=4), apps.merge_steps(text, merges=4)):
        app.box.value = text
        app.merges.value = app.merges.max
        assert "did not work" not in speech(app)
        assert shown(app.figure) == shown(steps(text, app.merges.max, own_slider=False))
        assert len(json.dumps(app._repr_mimebundle_(), allow_nan=False)) < 400_000


def test_of_a_long_text_it_says_what_is_left_out():
    app = apps.merge_steps(LINE)
    assert speech(app) == ""
    app.box.value = "what is never finished " * 30
    assert speech(app).startswith(f"Only the first {MOST_BYTES} bytes are read.")
    different = " ".join(chr(97 + k % 26) + chr(97 + k // 3) for k in range(70))
    app.box.value = different
    assert speech(app) == f"Only the first {MOST_MERGES} merges are shown."


def test_a_cut_never_goes_through_a_character():
    assert b"".join(b"".join(word) for word in Training("猫" * 100).words[0]).decode() == "猫" * 80


def test_case_65_half_a_character_is_read_as_its_replacement_and_said():
    app = apps.merge_steps("\ud83d")
    assert "surrogates" in speech(app)
    assert list(app.figure.data[BOXES].text) == ["⟨EF⟩", "⟨BF⟩", "⟨BD⟩"]
    app.box.value = "plain"
    assert speech(app) == ""


def test_case_133_what_goes_wrong_is_said_in_the_apps_own_line(monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("no <b>merges</b>")

    app = apps.merge_steps(LINE)
    monkeypatch.setattr("gptlab.apps.merging.traces_at", fail)
    app.merges.value = 2
    assert speech(app) == "This did not work: no &lt;b&gt;merges&lt;/b&gt;"
    monkeypatch.setattr("gptlab.apps.merging.merges", fail)
    app.box.value = "another"
    assert speech(app).startswith("This did not work")
