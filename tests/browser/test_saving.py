"""Figures taken along: as SVG from the toolbar, still and live, and as a page of their own that needs no network."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from gptlab import figures
from tests.browser.lab import drawn, wait_for_change
from tests.examples import example
from tests.pictures import HOSTILE

LESSON = "00_start_here.ipynb"
TEXT_OUTSIDE = """() => {
    const body = document.body.cloneNode(true);
    body.querySelectorAll("svg, style, script, figcaption").forEach(element => element.remove());
    return body.textContent.trim();
}"""
SVG = "{http://www.w3.org/2000/svg}"


def downloaded(figure: Locator) -> tuple[str, ElementTree.Element]:
    """Press the camera in a figure's toolbar: the name and the content of the file that arrives."""
    figure.scroll_into_view_if_needed()
    figure.hover()
    with figure.page.expect_download() as download:
        figure.locator(".modebar-btn[data-title^='Download plot']").click()
    return download.value.suggested_filename, ElementTree.parse(download.value.path()).getroot()


def texts(picture: ElementTree.Element) -> str:
    return " ".join("".join(text.itertext()) for text in picture.iter(f"{SVG}text"))


def test_a_lesson_that_was_not_run_shows_figures_not_their_pictures_and_they_save_as_svg(open_notebook):
    lab = open_notebook(LESSON)
    number = lab.cell_with("machine.next_token")
    figure = lab.figures(number).first
    expect(lab.output(number).locator("img")).to_be_hidden()
    name, picture = downloaded(figure)
    assert name == "gptlab-figure.svg"
    assert picture.tag == f"{SVG}svg" and "probability" in texts(picture)
    assert lab.problems == []


def test_a_live_figure_saves_as_svg_too(open_notebook):
    lab = open_notebook(LESSON)
    lab.run_all()
    _, figure = lab.app_of("machine.next_token", "temperature", "bar")
    name, picture = downloaded(figure)
    assert name == "gptlab-figure.svg"
    assert "probability" in texts(picture)
    assert lab.problems == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that may ask for files only."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.problems = []
    page.on("request", lambda sent: sent.url.startswith(("file:", "data:", "blob:")) or page.problems.append(sent.url))
    page.on("console", lambda said: said.type == "error" and page.problems.append(said.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("dialog", lambda dialog: (page.problems.append(dialog.message), dialog.dismiss()))
    yield page
    page.close()


def test_a_saved_page_draws_alone_and_its_slider_works(page, tmp_path: Path):
    figures.save_page(example("app_next_token").still(), tmp_path / "page.html")
    page.goto((tmp_path / "page.html").as_uri())
    figure = page.locator(".js-plotly-plot")
    expect(figure.locator(".barlayer .bars").first).to_be_visible()
    before = drawn(figure)
    grip = figure.locator(".slider-grip-rect").first.bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(grip["x"] + 300, grip["y"], steps=5)
    page.mouse.up()
    wait_for_change(figure, before)
    assert page.problems == []


def test_case_126_on_a_saved_page_no_token_runs_or_spills(page, tmp_path: Path):
    figures.save_page(figures.token_strip(HOSTILE, list(range(len(HOSTILE)))), tmp_path / "page.html")
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".main-svg").first).to_be_visible()
    assert page.evaluate(TEXT_OUTSIDE) == ""
    assert page.locator("img").count() == 0
    assert page.problems == []
