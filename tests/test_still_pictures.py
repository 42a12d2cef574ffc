"""Pictures beside stored figures: whose they are, when they are drawn anew, what they cost. Drawing needs the browser.

tests/browser/test_drawn_pictures.py draws for real; here a stand-in paints.
"""

import asyncio
import base64
import copy
from io import BytesIO

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

import run_notebooks
import still_pictures
from gptlab.commands._saved_notebook import FIGURE, PICTURE, FiguresFirst, before_saving

WORDS = "text/plain"


def shown(height: int, **more: str) -> nbformat.NotebookNode:
    figure = {"data": [], "layout": {"height": height}, "config": {}}
    return new_code_cell("", outputs=[new_output("display_data", {FIGURE: figure, WORDS: "a figure"} | more)])


@pytest.fixture
def drawn(monkeypatch) -> list[int]:
    """The heights of the figures that were drawn, in order; a picture of height h reads "h"."""
    heights = []

    def draw(figures):
        heights.extend(figure["layout"]["height"] for figure in figures)
        return [str(figure["layout"]["height"]) for figure in figures]

    monkeypatch.setattr(still_pictures, "draw", draw)
    return heights


def pictures(notebook: nbformat.NotebookNode) -> list[str | None]:
    return [output.data.get(PICTURE) for cell in notebook.cells for output in cell.outputs]


def test_each_figure_gets_its_picture_and_an_equal_one_is_drawn_once(drawn):
    notebook = new_notebook(cells=[shown(300), shown(400), shown(300), new_code_cell("1")])
    assert still_pictures.add_pictures(notebook, {}) == 2
    assert drawn == [300, 400]
    assert pictures(notebook) == ["300", "400", "300"]


def test_a_figure_that_is_still_the_same_keeps_its_picture_wherever_it_moves(drawn):
    stored = new_notebook(cells=[shown(300, **{PICTURE: "old 300"}), shown(400, **{PICTURE: "old 400"})])
    fresh = new_notebook(cells=[shown(500), shown(400), shown(300)])
    assert still_pictures.add_pictures(fresh, still_pictures.stored_pictures(stored)) == 1
    assert drawn == [500]
    assert pictures(fresh) == ["500", "old 400", "old 300"]


def test_without_a_figure_no_browser_is_started():
    notebook = new_notebook(cells=[new_code_cell("1", outputs=[new_output("execute_result", {WORDS: "1"})])])
    assert still_pictures.add_pictures(notebook, {}) == 0
    assert pictures(notebook) == [None]


def test_a_run_keeps_pictures_of_figures_that_did_not_change_and_pictures_alone_runs_nothing(
    drawn, tmp_path, monkeypatch
):
    notebook = new_notebook(cells=[shown(300, **{PICTURE: "old"})])
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    ran = []
    monkeypatch.setattr(run_notebooks, "run", lambda notebook, folder: ran.append(folder) or notebook)
    assert run_notebooks.main([str(tmp_path / "lesson.ipynb")]) == 0
    assert (ran, drawn) == ([tmp_path], [])
    assert run_notebooks.main(["--pictures", str(tmp_path / "lesson.ipynb")]) == 0
    assert (ran, drawn) == ([tmp_path], [300])
    assert pictures(nbformat.read(tmp_path / "lesson.ipynb", as_version=4)) == ["300"]


def test_fewer_colours_keep_the_scale_of_a_heatmap_and_what_shines_through():
    pixels = np.zeros((64, 256, 4), np.uint8)
    pixels[:32] = np.stack([np.arange(256), 255 - np.arange(256), np.full(256, 80), np.full(256, 255)], 1)
    pixels[48:] = [121, 121, 121, 0]
    pixels[48:, :, 3] = np.arange(256) // 2  # the soft edge of a letter
    png = BytesIO()
    Image.fromarray(pixels).save(png, "png")
    small = still_pictures.fewer_colours(png.getvalue())
    assert small == still_pictures.fewer_colours(png.getvalue())
    again = np.asarray(Image.open(BytesIO(small)).convert("RGBA")).astype(int)
    assert np.abs(again[:32] - pixels[:32]).max() <= 4
    assert (again[32:48, :, 3] == 0).all()
    assert np.abs(again[48:, :, 3] - pixels[48:, :, 3]).max() <= 16


def test_jupyterlab_opens_and_saves_a_lesson_without_pictures_of_figures_and_leaves_others(tmp_path):
    """Else its Plotly would show the picture, and the figure only when a mouse passes over it."""
    photo = new_code_cell("", outputs=[new_output("display_data", {PICTURE: "photo", WORDS: "a photo"})])
    notebook = new_notebook(cells=[shown(300, **{PICTURE: base64.b64encode(b"png").decode()}), photo])
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    before = (tmp_path / "lesson.ipynb").read_bytes()
    model = asyncio.run(FiguresFirst(root_dir=str(tmp_path)).get("lesson.ipynb"))
    assert pictures(model["content"]) == [None, "photo"]
    assert (tmp_path / "lesson.ipynb").read_bytes() == before
    saved = {"type": "notebook", "content": copy.deepcopy(notebook)}
    before_saving(saved)
    assert pictures(saved["content"]) == [None, "photo"]


def test_a_folder_and_a_notebook_without_its_content_open_too(tmp_path):
    nbformat.write(new_notebook(), tmp_path / "lesson.ipynb")
    files = FiguresFirst(root_dir=str(tmp_path))
    assert asyncio.run(files.get(""))["type"] == "directory"
    assert asyncio.run(files.get("lesson.ipynb", content=False))["content"] is None
