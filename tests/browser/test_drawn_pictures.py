"""Figures drawn to pictures by the browser that is there: legible, see-through, the same bytes each time."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import still_pictures
from tests.browser.chromium import find
from tests.examples import example


@pytest.fixture(scope="module")
def drawn() -> list[bytes]:
    """Two figures, drawn twice, by two browsers."""
    names = ["figure_attention_heatmap", "figure_next_token_bars"]
    figures = [json.loads(example(name).to_json()) for name in names]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER_PATH", find())  # the one that the other tests drive
        with ThreadPoolExecutor(1) as aside:  # in this thread Playwright's event loop may be running
            drawings = [aside.submit(still_pictures.draw, figures).result() for _ in range(2)]
        return [base64.b64decode(png) for drawing in drawings for png in drawing]


def test_the_same_figure_gives_the_same_bytes_and_few_of_them(drawn):
    assert drawn[:2] == drawn[2:]
    assert all(len(png) < 50_000 for png in drawn)


def test_the_paper_is_see_through_and_something_is_on_it(drawn):
    for png, name in zip(drawn, ["figure_attention_heatmap", "figure_next_token_bars"], strict=False):
        pixels = np.asarray(Image.open(BytesIO(png)).convert("RGBA"))
        assert pixels.shape == (example(name).layout.height, still_pictures.WIDTH, 4)
        assert pixels[0, 0, 3] == 0
        assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20
