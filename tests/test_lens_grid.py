"""The logit lens as figure and app: what the cells say, how they are coloured, what buttons and a prompt change."""

import json

import numpy as np
import pytest
import torch
from plotly.colors import hex_to_rgb, unlabel_rgb

from gptlab import apps, figures
from gptlab.apps.lens import CAME, MOST_ROWS, SAID
from gptlab.lens import logit_lens
from tests.examples._model import untrained
from tests.pictures import words

PROMPT = "The cat saw the cat"
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y}"
GRID = [[0.5, 0.251], [1.0, 0.0]]


@pytest.fixture
def app():
    return apps.logit_lens(*untrained(), PROMPT)


def test_a_grid_says_each_token_in_its_cell_with_its_colour():
    figure = figures.lens_grid([[" a", "b"], ["c", " a"]], GRID, ["x", "x"])
    assert figure.data[0].z.tolist() == [[50, 25], [100, 0]] and figure.data[0].z.dtype == np.uint8
    assert [list(row) for row in figure.data[0].text] == [["␣a", "b"], ["c", "␣a"]]
    assert list(figure.layout.yaxis.ticktext) == ["x", "x"] and figure.layout.yaxis.range[0] > 0
    assert list(figure.layout.xaxis.ticktext) == ["embeddings", "block 0"]
    assert words(figure).endswith("each of 2 tokens; after ‘x’: embeddings ‘c’ 1.00, block 0 ‘␣a’ 0.00.")


def test_letters_can_be_read_on_every_colour():
    figure = figures.lens_grid([[" a", "b"], ["c", " a"]], GRID, ["x", "x"])
    letters = luminance(figure.data[0].textfont.color)
    cells = [luminance(colour) for _, colour in figure.layout.coloraxis.colorscale]
    assert cells == sorted(cells) and all((cell + 0.05) / (letters + 0.05) >= 4.5 for cell in cells)


def luminance(colour: str) -> float:
    """Relative, as WCAG 2 has it."""
    shares = [part / 255 for part in (unlabel_rgb if colour.startswith("rgb") else hex_to_rgb)(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_several_colourings_get_a_button_each():
    figure = figures.lens_grid([["a", "b"]], {"one": [[0, 1]], "other": [[0.5, 0.5]]}, ["x"])
    (menu,) = figure.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["one", "other"]
    assert np.array_equal(menu.buttons[1].args[0]["z"][0], [[50, 50]])
    assert figure.data[0].z.tolist() == [[0, 100]] and "probability of one" in words(figure)


def test_nothing_in_a_grid_is_read_as_markup():
    figure = figures.lens_grid([[HOSTILE]], {HOSTILE: [[1]], "other": [[0]]}, [HOSTILE])
    drawn = json.loads(figure.to_json())
    del drawn["layout"]["meta"]
    assert "<img" not in json.dumps(drawn) and "$x$" not in json.dumps(drawn)


def test_grids_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="number of rows said is 1"):
        figures.lens_grid([["a", "b"]], GRID, ["x", "y"])
    with pytest.raises(ValueError, match="row 1 of said"):
        figures.lens_grid([["a", "b"], ["a"]], GRID, ["x", "y"])
    with pytest.raises(ValueError, match=r"shape of probabilities\['one'\]"):
        figures.lens_grid([["a", "b"]], {"one": GRID}, ["x"])
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="from 0 to 1"):
            figures.lens_grid([["a"]], [[wrong]], ["x"])


def test_the_cells_are_those_of_the_lens(app):
    model, tok = untrained()
    ids = app.prompt.reading.ids
    layers = torch.stack([logits[0].softmax(-1) for logits in logit_lens(model, ids)], 1)
    came = app.figure.data[0].z
    for t in range(ids.shape[1] - 1):
        np.testing.assert_allclose(came[t], 100 * layers[t, :, ids[0, t + 1]], atol=0.51)
    np.testing.assert_allclose(came[-1], 100 * layers[-1, :, layers[-1, -1].argmax()], atol=0.51)
    assert app.figure.data[0].text[0][1] == tok.pieces([int(layers[0, 1].argmax())])[0].shown
    app.colour.value = SAID
    np.testing.assert_allclose(app.figure.data[0].z, 100 * layers.max(-1).values, atol=0.51)


def test_the_buttons_take_no_forward_pass_and_a_prompt_takes_one(app):
    seen = []
    handle = untrained()[0].blocks[0].register_forward_hook(lambda *_: seen.append(1))
    app.colour.value = SAID
    app.still()
    assert seen == []
    app.prompt.box.value = "The dog"
    handle.remove()
    assert len(seen) == 1
    assert app.figure.data[0].z.shape == (3, 3)


def test_the_still_copy_begins_with_what_the_buttons_say_and_offers_both(app):
    app.colour.value = SAID
    still = app.still()
    assert [button.label for button in still.layout.updatemenus[0].buttons] == [SAID, CAME]
    np.testing.assert_array_equal(still.data[0].z, app.figure.data[0].z)


@pytest.mark.parametrize("prompt", ["", ".", HOSTILE, "\ud83d", "The cat saw the cat. " * 50])
def test_any_prompt_is_drawn(app, prompt):
    app.prompt.box.value = prompt
    assert "did not work" not in app.line.value
    assert len(app.figure.data[0].z) == min(app.prompt.reading.ids.shape[1], MOST_ROWS)
    assert ("Shown are the last" in app.line.value) == (app.prompt.reading.ids.shape[1] > MOST_ROWS)
