"""A translation with its look across: marks of the known alignment, other sentences, odd ones."""

import html

import numpy as np
import pytest

from gptlab import apps, figures, world
from tests.examples.app_translation import translator
from tests.pictures import HOSTILE, speech, strict, words

KNOWN = "Tom Baker lived in the old meadow."


@pytest.fixture
def app():
    return apps.translation(translator(), KNOWN)


def test_the_map_is_the_cross_attention_of_the_head(app):
    look = translator().look(KNOWN)
    assert list(app.figure.layout.xaxis.ticktext) == ["Tom", "␣Baker", "␣lived", "␣in", "␣the", "␣old", "␣meadow", "."]
    for head in (1, 0):
        app.head.value = head
        np.testing.assert_allclose(app.figure.data[0].z, 100 * look.attention[0, head], atol=0.5)


def test_what_is_told_and_whether_it_is_right_stands_in_the_line(app):
    right = "".join(world.translate(KNOWN).sentences[0].target)
    told = translator().translate([KNOWN])[0]
    assert html.unescape(speech(app)) == f"{told} (right is: {right})"
    app.box.value = "The dragon slept."
    assert "the world begins no story so" in speech(app)


def test_a_right_translation_has_rings_around_its_partners(monkeypatch):
    pair = world.translate(KNOWN).sentences[0]
    told = translator().look(KNOWN)
    velumi = translator().velumi.pieces("".join(pair.target))
    attention = told.attention[:, :, :1].expand(-1, -1, len(velumi), -1)
    monkeypatch.setattr(type(translator()), "look", lambda self, _: told._replace(target=velumi, attention=attention))
    app = apps.translation(translator(), KNOWN)
    rings = app.figure.data[-1]
    assert set(zip(rings.y, rings.x, strict=True)) == set(pair.alignment)
    assert speech(app).endswith("(right)") and "is ringed" in words(app.figure)


def test_sentences_from_within_a_story_are_known_if_they_are_given():
    story = world.translate(world.sample(3))
    pair = next(pair for pair in story.sentences[1:] if len(pair.source) < 12)
    sentence = "".join(pair.source)
    right = "".join(pair.target)
    assert "begins no story" in speech(apps.translation(translator(), sentence))
    assert html.unescape(speech(apps.translation(translator(), sentence, known=[pair]))).endswith(f"right is: {right})")


@pytest.mark.parametrize("sentence", ["", "cat " * 40])
def test_a_sentence_that_cannot_be_read_is_answered_and_the_picture_stays(app, sentence):
    before = words(app.figure)
    app.box.value = sentence
    assert "did not work" in speech(app) and words(app.figure) == before


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_typed_is_never_markup(app, hostile):
    app.box.value = hostile[:10]
    strict(app.still())
    assert "<img" not in app.line.value


def test_the_still_copy_has_all_heads_and_begins_with_the_chosen_one(app):
    app.head.value = 1
    (slider,) = app.still().layout.sliders
    assert slider.active == 1 and len(slider.steps) == 2


# Rings --------------------------------------------------------------------------------------------------------------


def test_rings_stand_on_their_cells_and_the_words_count_them():
    weights = [[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3]]
    figure = figures.attention_heatmap(weights, list("abc"), keys=list("xyz"), marks=[(0, 0), (1, 1), (1, 2)])
    rings = figure.data[-1]
    assert sorted(set(zip(rings.y, rings.x, strict=True))) == [(0, 0), (1, 1), (1, 2)]
    assert words(figure).endswith("The largest weight of 2 of 2 rows is ringed.")


def test_without_marks_nothing_is_drawn_or_said():
    weights = np.full((2, 3), 1 / 3)
    plain = figures.attention_heatmap(weights, list("ab"), keys=list("xyz"))
    empty = figures.attention_heatmap(weights, list("ab"), keys=list("xyz"), marks=[])
    assert len(plain.data) == 2 and len(empty.data) == 3 and len(empty.data[-1].x) == 0
    assert "ringed" not in words(plain) + words(empty)


@pytest.mark.parametrize("mark", [(2, 0), (0, 3), (-1, 0)])
def test_a_mark_outside_is_refused(mark):
    with pytest.raises(ValueError, match=r"a mark is .*from \(0, 0\) to \(1, 2\)"):
        figures.attention_heatmap(np.full((2, 3), 1 / 3), list("ab"), keys=list("xyz"), marks=[mark])


def test_marks_of_all_heads_stay_while_the_sliders_move():
    weights = np.full((2, 3, 2, 3), 1 / 3)
    figure = figures.attention_heatmap(weights, list("ab"), keys=list("xyz"), marks=[(0, 1)])
    for slider in figure.layout.sliders:
        assert all(max(step.args[1]) < len(figure.data) - 2 for step in slider.steps)


def test_a_prompt_takes_no_marks():
    from tests.examples._model import untrained

    with pytest.raises(ValueError, match="marks is"):
        apps.attention(*untrained(), "There was", marks=[(0, 0)])
