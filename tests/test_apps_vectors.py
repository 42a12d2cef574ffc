"""The apps on words as vectors: they show what plain computation gives, follow their controls, and never fail."""

import numpy as np
import pytest
import torch

from gptlab import apps
from tests.examples._model import untrained
from tests.pictures import speech
from tests.references import naive_vectors

GROUPS = {"animal": ["dog", "cat", "horse"], "colour": ["red", "green"], "place": ["garden", "tower", "cave"]}


@pytest.fixture
def near():
    return apps.nearest_words(*untrained(), "dog", others=["red", "dog"], n=5)


@pytest.fixture
def word_map():
    return apps.word_map(*untrained(), GROUPS)


def names(app):
    return [text.strip() for text in app.figure.data[0].text]


def expected_neighbours(text, n):
    model, tok = untrained()
    table = model.token_embedding.weight.tolist()
    (row,) = tok.encode(text)
    return [tok.pieces([place])[0].shown for place in naive_vectors.nearest(table, row, n)]


def test_the_bars_are_the_neighbours_that_plain_loops_find(near):
    assert names(near) == expected_neighbours(" dog", 5)
    near.word.value = "garden"
    assert names(near) == expected_neighbours(" garden", 5)


def test_the_slider_says_how_many(near):
    near.n.value = 3
    assert names(near) == expected_neighbours(" dog", 3)
    near.n.value = 20
    assert len(names(near)) == len(near.figure.data[0].x) == 20


def test_a_token_without_a_blank_is_found_too(near):
    near.word.value = "teen"
    assert names(near) == expected_neighbours("teen", 5)
    assert speech(near) == ""


@pytest.mark.parametrize("word", ["dragon", "", "   ", "the cat", "<b>", "$x$", "\ud83d", "مرحبا", "a" * 500])
def test_what_is_not_one_token_is_answered_in_a_sentence_and_the_last_word_stays(near, word):
    before = names(near)
    near.word.value = word
    assert names(near) == before
    assert ("token" in speech(near) or "type one" in speech(near)) and "<b>" not in speech(near)
    assert "‘␣dog’" in near._repr_mimebundle_()["text/plain"]
    near.word.value = "cat"
    assert speech(near) == "" and names(near) != before


def test_a_word_of_several_tokens_is_refused_at_the_start():
    with pytest.raises(ValueError, match=r"‘dragon’ is 5 tokens, ␣ \| d \| ra \| g \| on, each"):
        apps.nearest_words(*untrained(), "dragon")
    with pytest.raises(ValueError, match="one token"):
        apps.word_map(*untrained(), {"beast": ["dog", "dragon"]})


def test_the_still_copy_offers_each_other_word_once(near):
    near.n.value = 2
    (slider,) = near.still().layout.sliders
    assert [step.label for step in slider.steps] == ["␣dog", "␣red"]
    assert [text.strip() for text in slider.steps[1].args[0]["text"][0]] == expected_neighbours(" red", 2)


def test_the_map_is_that_of_numpys_svd(word_map):
    model, tok = untrained()
    every = [word for words in GROUPS.values() for word in words]
    rows = model.token_embedding.weight[[tok.encode(f" {word}")[0] for word in every]].detach().double().numpy()
    left, widths, _ = np.linalg.svd(rows - rows.mean(0), full_matrices=False)
    expected = np.abs((left * widths)[:, :3])
    *groups, _ = word_map.figure.data
    assert [text for group in groups for text in group.text] == every
    np.testing.assert_allclose(np.abs(np.concatenate([group.x for group in groups])), expected[:, 0], atol=1e-5)
    np.testing.assert_allclose(np.abs(np.concatenate([group.y for group in groups])), expected[:, 1], atol=1e-5)
    word_map.turn.value = 90
    *groups, _ = word_map.figure.data
    np.testing.assert_allclose(np.abs(np.concatenate([group.x for group in groups])), expected[:, 2], atol=1e-5)


def test_searching_rings_the_words_and_says_when_there_is_none(word_map):
    word_map.search.value = "ar"
    assert list(word_map.figure.data[-1].text) == ["garden"]
    word_map.search.value = "<b>zzz"
    assert len(word_map.figure.data[-1].x) == 0
    assert "contains ‘&lt;b&gt;zzz’" in speech(word_map)


def test_of_too_many_found_words_the_line_says_how_many(monkeypatch, word_map):
    monkeypatch.setattr("gptlab.apps.vectors.MOST_NAMED", 2)
    word_map.search.value = "e"
    assert speech(word_map).startswith("6 words contain ‘e’")


def test_the_live_map_turns_by_its_own_slider_and_the_still_one_in_the_browser(word_map):
    word_map.turn.value = 45
    assert not word_map.figure.layout.sliders
    assert word_map.still().layout.sliders[0].active == 3
    assert "turned by 45°" in word_map._repr_mimebundle_()["text/plain"]


def test_the_model_is_not_changed(near, word_map):
    model, _ = untrained()
    before = model.token_embedding.weight.clone()
    near.word.value, word_map.turn.value = "cat", 180
    assert torch.equal(model.token_embedding.weight, before)
