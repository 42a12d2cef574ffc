"""Slides in a browser, from the disk: they turn by keys, their pictures move, and nothing is asked of anybody."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from slideshow.decks import write_decks
from tests.browser.lab import OPEN_MS
from tests.browser.server import watch
from tests.browser.test_site import drawn, wait_for_change
from tests.lessons import ROOT
from website.course import Lesson, lessons

COURSE = lessons(ROOT / "notebooks", ROOT / "docs" / "teaching.md")
# The number of the first slide with a control of that kind, from 0, and the way there.
TURN_TO = """control => {
    const found = Reveal.getSlides().find(slide => slide.querySelector(control));
    if (found) Reveal.slide(...Object.values(Reveal.getIndices(found)));
    return Boolean(found);
}"""
# Whether a picture is drawn, and as wide as its scale demands.
FITTED = """plot => plot._fullData?.length && plot.style.transform
    && Math.abs(plot._fullLayout.width - Number.parseFloat(plot.style.width)) <= 1"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("slides")
    write_decks(COURSE, folder)
    return folder


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(OPEN_MS)
    page.problems = watch(page)
    yield page
    assert page.problems == []
    context.close()


def open_deck(page: Page, decks: Path, lesson: Lesson = COURSE[0]) -> None:
    page.goto((decks / lesson.page).as_uri())
    page.wait_for_function("window.Reveal?.isReady()")


def where(page: Page) -> tuple[int, int]:
    at = page.evaluate("Reveal.getIndices()")
    return at["h"], at["v"]


def picture_with(page: Page, control: str) -> tuple[Locator, Locator]:
    """Turn to the first picture with such a control, and wait until it is drawn and fits: the control, the picture."""
    assert page.evaluate(TURN_TO, f".picture {control}")
    picture = page.locator("section.present section.present .picture")
    expect(picture.locator(".plot .main-svg").first).to_be_visible()
    page.wait_for_function(FITTED, arg=picture.locator(".plot").element_handle())
    return picture.locator(control).first, picture


def test_slides_turn_by_keyboard_and_the_address_remembers_where(page, decks):
    open_deck(page, decks)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for key, place in [("ArrowRight", (1, 0)), ("ArrowDown", (1, 1)), ("ArrowUp", (1, 0)), ("ArrowLeft", (0, 0))]:
        page.keyboard.press(key)
        assert where(page) == place
    screens = page.evaluate("Reveal.getTotalSlides()")
    for _ in range(screens - 1):
        page.keyboard.press("Space")
    assert page.evaluate("Reveal.isLastSlide()")
    expect(page.get_by_role("heading", name="To take along")).to_be_visible()
    page.wait_for_function("location.hash === `#/${Reveal.getIndices().h}`")  # written once a second at most
    page.reload()
    page.wait_for_function("window.Reveal?.isReady()")
    expect(page.get_by_role("heading", name="To take along")).to_be_visible()


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.stem)
def test_on_the_slides_of_each_lesson_a_slider_moves_its_picture_and_not_the_slide(page, decks, lesson):
    open_deck(page, decks, lesson)
    slider, picture = picture_with(page, "input[type=range]")
    at, before = where(page), drawn(picture)
    slider.press("End" if slider.input_value() != slider.get_attribute("max") else "Home")
    wait_for_change(picture, before)
    slider.press("ArrowLeft")
    slider.press("ArrowRight")
    assert where(page) == at


def test_a_presenters_key_turns_the_slide_from_a_slider_too(page, decks):
    open_deck(page, decks)
    slider, picture = picture_with(page, "input[type=range]")
    at, before, value = where(page), drawn(picture), slider.input_value()
    slider.press("PageDown")
    assert where(page) != at
    page.keyboard.press("PageUp")
    assert where(page) == at
    assert (drawn(picture), slider.input_value()) == (before, value)


def test_the_button_that_plays_a_film_is_seen_and_works(page, decks):
    open_deck(page, decks, next(lesson for lesson in COURSE if lesson.number == "12"))
    play, picture = picture_with(page, ".play")
    seen = play.evaluate(
        "one => (({ opacity, visibility, position }) => [opacity, visibility, position])(getComputedStyle(one))"
    )
    assert seen == ["1", "visible", "static"]
    button, slider = play.bounding_box(), picture.locator("input[type=range]").bounding_box()
    assert button["x"] + button["width"] <= slider["x"] or button["y"] + button["height"] <= slider["y"]
    before = drawn(picture)
    play.click()
    expect(play).to_have_text("Hold")
    wait_for_change(picture, before)


@pytest.mark.parametrize(
    ("number", "size"),  # the lessons with the highest pictures, in the smaller window
    [("00", (1280, 720)), ("00", (1920, 1080)), ("07", (1280, 720)), ("08", (1280, 720)), ("14", (1280, 720))],
    ids=str,
)
def test_every_screen_fits_the_window(page, decks, number, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    open_deck(page, decks, next(lesson for lesson in COURSE if lesson.number == number))
    for _ in range(page.evaluate("Reveal.getTotalSlides()")):
        plots = page.locator("section.present section.present .plot")
        for plot in plots.all():
            page.wait_for_function(FITTED, arg=plot.element_handle())
        page.wait_for_function(
            "(() => { const at = Reveal.getCurrentSlide(); return at.scrollHeight <= at.clientHeight + 1; })()"
        )
        page.keyboard.press("Space")


def test_a_picture_that_was_scaled_still_knows_what_one_points_at(page, decks):
    open_deck(page, decks)
    _, picture = picture_with(page, "input[type=range]")
    place = picture.locator(".plot").evaluate(
        """plot => {
            const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
            const scale = box.width / plot.offsetWidth;
            return [box.x + scale * (xaxis._offset + xaxis.l2p(1)), box.y + scale * (yaxis._offset + yaxis.l2p(4))];
        }"""
    )
    page.mouse.move(*place)
    expect(picture.locator(".hovertext")).to_contain_text("(4) → key")
    expect(picture.locator(".hovertext")).to_contain_text("(1)")


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_paper_is_as_dark_as_the_reader_likes(page, decks, scheme, dark):
    page.emulate_media(color_scheme=scheme)
    open_deck(page, decks)
    paper, ink = (page.evaluate(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color"))
    assert (brightness(paper) < brightness(ink)) is dark


def brightness(colour: str) -> int:
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


def test_the_list_leads_to_each_lesson(page, decks):
    page.goto((decks / "index.html").as_uri())
    assert page.get_by_role("listitem").count() == len(COURSE)
    page.get_by_role("link", name=COURSE[-1].title).click()
    page.wait_for_function("window.Reveal?.isReady()")
