"""The static site in a browser that has no network: what is drawn, moved by keys, read out, and never run."""

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import numpy as np
import plotly.graph_objects as go
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from gptlab import figures
from gptlab.figures._canvas import escaped
from tests.browser.server import watch
from tests.examples import NAMES, example
from tests.lessons import LESSONS, ROOT
from website import course, pages

PAGES = ["index", *[path.stem for path in LESSONS]]
HOSTILE = ["<img src=x onerror=alert(1)>", "<b>", "&lt;", "$x$", "%{y}", "<br>", "</script>"]
SHORT = ["<img␣src=x␣o…(28)", *HOSTILE[1:]]
# All that is folded; of the tables of numbers, which can be large, one is enough.
UNFOLD = """[...document.querySelectorAll('details:not(.numbers)'), document.querySelector('.numbers')]
    .forEach(details => details?.setAttribute('open', ''))"""
# Inside a picture with words there is nothing to read out, and FAINT looks at its texts; what is large would take long.
OUTSIDE = {"exclude": [[".plot svg"]]}
ALONE = {"preload": False}  # axe would fetch the style sheets, which the pages forbid
SLOW_MS = 120_000  # of a busy machine
# What a figure shows, in as far as a control can change it.
DRAWN = """figure => JSON.stringify([
    figure._fullData.map(({visible, opacity, x, y, z, text, marker, line, xaxis, customdata}) =>
        [visible, opacity, x, y, z, text, marker?.color, line?.color, xaxis, customdata]),
    figure.layout.shapes, figure.layout.annotations, figure._fullLayout.xaxis?.range, figure._fullLayout.yaxis?.range,
    figure._fullLayout.xaxis?.domain, figure._fullLayout.yaxis?.title?.text,
], (_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value)"""

# Texts of the pictures whose contrast to the page is under 4.5 : 1, but for black ones, which stand on light boxes.
FAINT = """() => {
    const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const paper = light(getComputedStyle(document.documentElement).backgroundColor);
    const where = ".xtick, .ytick, [class*=title], .legend, .annotation, .textpoint, .bartext-outside, .cbaxis";
    return [...document.querySelectorAll(`.plot svg :is(${where}) :is(text, tspan)`)].filter(one => {
        const { fill, opacity } = getComputedStyle(one), ink = light(fill);
        return fill !== "rgb(17, 17, 17)" && Number(opacity) && Math.max(ink, paper) / Math.min(ink, paper) < 4.5;
    }).map(one => [one.textContent, getComputedStyle(one).fill]);
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    pages.write_site(course.lessons(ROOT / "notebooks", ROOT / "docs" / "teaching.md"), folder)
    return folder


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A function that opens a file where no network is; what goes wrong is in the page's `problems`."""
    contexts = []

    def open_(path: Path, **options: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, "offline": True} | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SLOW_MS)
        page.problems = watch(page)
        page.on("dialog", lambda dialog: (page.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def page_of(opened: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """A function that puts figures, and a text, into a lesson of its own and opens its page."""

    def open_(*shown: go.Figure, text: str = "", **options: object) -> Page:
        outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []
        outputs += [nbformat.v4.new_output("display_data", data=figure._repr_mimebundle_()) for figure in shown]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(repr(text), outputs=outputs)])
        pages.write_site([course.Lesson("00", "T", 30, [], "", "00_t", notebook)], tmp_path)
        return opened(tmp_path / "00_t.html", **options)

    return open_


def draw_all(page: Page) -> list[Locator]:
    """Go past all pictures of a page, and give them when they are drawn."""
    pictures = page.locator("figure.picture").all()
    for picture in pictures:
        picture.scroll_into_view_if_needed()
        expect(picture.locator(".under")).to_be_visible(timeout=SLOW_MS)
    return pictures


def drawn(picture: Locator) -> str:
    return picture.locator(".plot").evaluate(DRAWN)


def wait_for_change(picture: Locator, before: str) -> None:
    plot = picture.locator(".plot").element_handle()
    picture.page.wait_for_function(f"([plot, before]) => ({DRAWN})(plot) !== before", arg=[plot, before])


def numbers(picture: Locator) -> list[list[str]]:
    """The rows of the table below a picture, unfolded."""
    details = picture.locator(".numbers")
    if not details.evaluate("details => details.open"):
        details.locator("summary").press("Enter")
    expect(details.locator(".tables p")).to_contain_text("shown")
    return details.evaluate("d => [...d.querySelectorAll('tr')].map(row => [...row.cells].map(one => one.textContent))")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_with_no_network_and_each_slider_and_menu_changes_its_figure_by_keys(site, opened, name):
    page = opened(site / f"{name}.html")
    for picture in draw_all(page):
        assert picture.locator(".plot .main-svg").count() > 0
        assert picture.locator(".plot :is(.slider-container, .updatemenu-container)").count() == 0
        for slider in picture.locator("input[type=range]").all():
            before, at = drawn(picture), slider.input_value()
            slider.press("End" if at == "0" else "Home")
            assert slider.input_value() != at
            wait_for_change(picture, before)
        for choice in picture.locator("select, input:checked").all():
            before = drawn(picture)
            choice.press("ArrowDown")
            wait_for_change(picture, before)
    assert_nothing_is_lost_at_200_per_cent(page)
    assert page.problems == []


def assert_nothing_is_lost_at_200_per_cent(page: Page) -> None:
    """What is wider than the page is in a box of its own that keys can scroll."""
    page.set_viewport_size({"width": 640, "height": 360})
    page.evaluate(UNFOLD)
    lost = """[...document.querySelectorAll('main *')].filter(one => {
        const box = one.getBoundingClientRect();
        return box.width && box.right > innerWidth + 1 && !one.closest('[tabindex="0"], svg, .unseen, .skip');
    })"""
    page.wait_for_function(f"document.documentElement.scrollWidth <= innerWidth && {lost}.length === 0")


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_in_light_and_in_dark_with_all_of_it_unfolded(site, opened, name):
    page = opened(site / f"{name}.html", color_scheme="light")
    pictures = draw_all(page)
    page.evaluate(UNFOLD)
    page.wait_for_function("[...document.querySelectorAll('[open] > .tables')].every(one => one.querySelector('tr'))")
    assert (serious(page), page.evaluate(FAINT)) == ([], [])
    page.emulate_media(color_scheme="dark")
    for picture in pictures:
        expect(picture).to_have_attribute("data-theme", "dark", timeout=SLOW_MS)
    assert (serious(page), page.evaluate(FAINT)) == ([], [])
    assert page.problems == []


def serious(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds that keeps people out: the rule, and the first element that breaks it."""
    found = Axe().run(page, OUTSIDE, ALONE).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]


def test_axe_would_find_a_picture_without_words_and_text_that_is_too_faint(page_of):
    page = page_of(example("figure_line_chart"), text="faint")
    draw_all(page)
    page.evaluate("document.querySelector('[role=img]').removeAttribute('aria-labelledby')")
    page.evaluate("document.querySelector('pre.output').style.color = '#aaa'")
    page.evaluate("document.querySelector('svg .xtick text').style.fill = '#aaa'")
    assert {rule for rule, _ in serious(page)} == {"role-img-alt", "color-contrast"}
    assert len(page.evaluate(FAINT)) == 1


def hostile_figures() -> list[go.Figure]:
    weights = np.tri(len(HOSTILE)) / np.arange(1, len(HOSTILE) + 1)[:, None]
    probabilities = np.full(len(HOSTILE), 1 / len(HOSTILE))
    strip = figures.token_strip(HOSTILE)
    steps = [{"label": escaped(one), "method": "restyle", "args": [{"opacity": 1}]} for one in HOSTILE]
    strip.update_layout(sliders=[{"steps": steps, "currentvalue": {"prefix": "&lt;b&gt; "}}])
    return [figures.attention_heatmap(weights, HOSTILE), figures.next_token_bars(probabilities, HOSTILE), strip]


def test_case_126_hostile_tokens_stand_on_the_page_as_they_are_and_run_nothing(page_of):
    page = page_of(*hostile_figures(), text="\n".join(HOSTILE))
    heatmap, bars, strip = draw_all(page)
    expect(page.locator("pre.output")).to_have_text("\n".join(HOSTILE))
    assert repr(HOSTILE[0])[1:-1] in page.locator("pre.code").inner_text()
    for picture in (heatmap, bars, strip):
        texts = picture.locator("svg text").all_text_contents()
        assert all(any(token in text.replace("\u200b", "") for text in texts) for token in SHORT)
        assert any(token in cell for row in numbers(picture) for cell in row for token in SHORT)
    slider = strip.locator("input[type=range]")
    assert strip.locator("label").inner_text() == "<b>"
    for token in HOSTILE[1:]:
        slider.press("ArrowRight")
        expect(strip.locator(".value")).to_have_text(token)
        assert slider.get_attribute("aria-valuetext") == token
    assert page.evaluate("document.images.length") == 0
    assert page.locator("figure :is(b, a, svg a)").count() == 0
    assert page.locator("main").inner_text().count("</script>") > 3  # and the page goes on behind them
    assert page.problems == []


def test_a_token_left_as_it_is_would_be_seen_by_the_test_above(page_of, tmp_path):
    page = page_of(text="MARK")
    path = tmp_path / "00_t.html"
    path.write_text(path.read_text().replace("MARK", HOSTILE[0]).replace("script-src-attr 'none'", ""))
    with page.expect_event("dialog"):
        page.goto(path.as_uri())
    assert "dialog: 1" in page.problems


def test_the_numbers_are_those_of_the_figure_and_follow_its_slider(page_of):
    page = page_of(example("figure_next_token_bars"))
    (picture,) = draw_all(page)
    head, first, *_ = numbers(picture)
    assert head[1:] == ["model", "after temperature, top-k, top-p", "truth"]
    assert first == ["␣cat", "60.9%", "60.9%", "50.0%"]  # softmax of 2, 1, 0.5, -1
    picture.locator("input[type=range]").press("Home")  # temperature 0.5
    expect(picture.locator(".tables")).to_contain_text("84.2%")
    expect(picture.locator("figcaption")).to_contain_text("At first: ")


def test_of_many_numbers_some_are_shown_and_how_many_is_said(page_of):
    weights = np.tri(90) / np.arange(1, 91)[:, None]
    (picture,) = draw_all(page_of(figures.attention_heatmap(weights, [f"t{place}" for place in range(90)])))
    rows = numbers(picture)
    assert len(rows) == 61 and {len(row) for row in rows} == {41}
    assert (rows[1][0], rows[-1][0]) == ("t0", "t89")
    expect(picture.locator(".tables")).to_contain_text("40 of 90 columns")
    expect(picture.locator(".tables")).to_contain_text("60 of 90 rows are shown.")


def test_every_figure_has_numbers_below_it(page_of):
    names = [name for name in NAMES if name.startswith("figure_")]
    page = page_of(*map(example, names))
    for name, picture in zip(names, draw_all(page), strict=True):
        rows = numbers(picture)
        assert len(rows) > 1 and all(any(row) for row in rows), name
        assert not any("undefined" in cell or "NaN" in cell or "%{" in cell for row in rows for cell in row), name
    assert page.problems == []


def test_a_figure_takes_the_colours_of_the_theme_and_keeps_what_was_chosen(page_of):
    page = page_of(example("figure_next_token_bars"), color_scheme="light")
    (picture,) = draw_all(page)
    before = drawn(picture)
    picture.locator("input[type=range]").press("Home")
    wait_for_change(picture, before)
    ink = "document.querySelector('svg .ytick text').style.fill"
    bars = "[...document.querySelector('.plot')._fullData[1].x]"
    light, chosen = page.evaluate(ink), page.evaluate(bars)
    page.emulate_media(color_scheme="dark")
    expect(picture).to_have_attribute("data-theme", "dark")
    assert page.evaluate(ink) != light and page.evaluate(bars) == chosen
    assert page.problems == []


def test_sliders_say_what_is_shown_where_one_that_moves_puts_the_others_back(site, opened):
    page = opened(site / "08_decoding.html")
    picture = page.locator("figure.picture:has([data-control='sliders.2'])")  # of temperature, top-k and top-p
    picture.scroll_into_view_if_needed()
    expect(picture.locator(".under")).to_be_visible(timeout=SLOW_MS)
    temperature, top_k, top_p = picture.locator("input[type=range]").all()
    begun = standing(picture)
    for moved in (temperature, top_p, top_k):
        before = drawn(picture)
        moved.press("End" if moved.input_value() != moved.get_attribute("max") else "Home")
        wait_for_change(picture, before)
        now, name = standing(picture), moved.get_attribute("id")
        assert {other: said for other, said in now.items() if said != begun[other]} == {name: now[name]}
        assert all(label == spoken for _, label, spoken in now.values())
    shown = drawn(picture)
    dark_then_light(page, picture)  # which shows again what was moved
    assert (drawn(picture), standing(picture)) == (shown, now)
    assert page.problems == []


def standing(picture: Locator) -> dict[str, list[str]]:
    """Of each slider: where it stands, what is written beside it, what is read out."""
    return picture.evaluate(
        """one => Object.fromEntries([...one.querySelectorAll('.slider')].map(slider => {
            const input = slider.querySelector('input');
            return [input.id, [input.value, slider.querySelector('.value').textContent, input.ariaValueText]];
        }))"""
    )


def dark_then_light(page: Page, picture: Locator) -> None:
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        expect(picture).to_have_attribute("data-theme", scheme, timeout=SLOW_MS)


TELEPHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.mark.parametrize(
    ("lesson", "things", "scales"),
    [
        ("00_start_here", ["attention"], ["training"]),
        ("04_causal_attention", ["heatmap", "reader", "leak-arcs"], ["leak-curves"]),
        ("13_seeing", ["examples", "patch-train", "field-app"], ["signal-lines"]),
    ],
)
def test_on_a_telephone_tokens_and_panels_side_by_side_keep_their_width_and_scroll(
    site, opened, lesson, things, scales
):
    page = opened(site / f"{lesson}.html", **TELEPHONE)
    cells = [cell.id for cell in nbformat.read(ROOT / "notebooks" / f"{lesson}.ipynb", as_version=4).cells]
    for name in things + scales:
        picture = page.locator(f"#cell-{cells.index(name)}-1")
        picture.scroll_into_view_if_needed()
        expect(picture.locator(".main-svg").first).to_be_visible(timeout=SLOW_MS)
        room, width = picture.locator(".scrolls").evaluate("one => [one.clientWidth, one.scrollWidth]")
        assert width >= 800 if name in things else width <= room, name
    assert page.evaluate("document.documentElement.scrollWidth") == TELEPHONE["viewport"]["width"]
    assert page.problems == []


@pytest.mark.parametrize("name", PAGES[1:])
def test_a_page_says_at_its_top_what_works_there_and_leads_to_how_the_rest_is_had(site, opened, name):
    page = opened(site / f"{name}.html")
    told = page.get_by_text("boxes and buttons that need Python")
    assert told.bounding_box()["y"] < page.get_by_role("heading", level=1).bounding_box()["y"]
    told.get_by_role("link", name="the lesson itself").click()
    expect(page.get_by_role("heading", name="How to read these pages")).to_be_in_viewport()


FRAMES = 1000


def film() -> go.Figure:
    """A point that moves to the right in some minutes, with a slider and buttons that play and hold."""
    figure = example("figure_line_chart")
    at_once = {"mode": "immediate", "transition": {"duration": 0}, "frame": {"duration": 0, "redraw": False}}
    figure.frames = [{"name": str(x), "data": [{"x": [x], "y": [0]}], "traces": [0]} for x in range(FRAMES)]
    steps = [{"label": str(x), "method": "animate", "args": [[str(x)], at_once]} for x in range(FRAMES)]
    buttons = [{"label": label, "method": "animate", "args": [None, at_once]} for label in ("Play", "Hold")]
    return figure.update_layout(sliders=[{"steps": steps}], updatemenus=[{"type": "buttons", "buttons": buttons}])


def test_a_film_stands_still_until_it_is_played_and_is_held_by_a_key(page_of):
    page = page_of(film())
    (picture,) = draw_all(page)
    slider, play = picture.locator("input[type=range]"), picture.locator(".play")
    assert (slider.input_value(), play.inner_text()) == ("0", "Play")
    play.press("Enter")
    expect(play).to_have_text("Hold")
    page.wait_for_function("slider => Number(slider.value) >= 2", arg=slider.element_handle())
    slider.press("Home")
    expect(play).to_have_text("Play")
    expect(slider).to_have_value("0")
    at = picture.locator(".plot").element_handle()
    page.wait_for_function("plot => plot._fullData[0].x[0] === 0", arg=at)
    for key in ("End", "ArrowLeft", "ArrowLeft"):
        slider.press(key)
    play.press("Enter")
    expect(slider).to_have_value(str(FRAMES - 1))
    expect(play).to_have_text("Play")
    page.wait_for_function(f"plot => plot._fullData[0].x[0] === {FRAMES - 1}", arg=at)
    assert page.problems == []


def test_who_asked_for_less_motion_gets_the_slider_alone(page_of):
    page = page_of(film(), reduced_motion="reduce")
    (picture,) = draw_all(page)
    expect(picture.locator(".play")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    before = drawn(picture)
    picture.locator("input[type=range]").press("End")
    wait_for_change(picture, before)


def test_a_figure_is_saved_as_svg(page_of):
    (picture,) = draw_all(page_of(example("figure_token_strip")))
    with picture.page.expect_download() as download:
        picture.locator(".save").press("Enter")
    assert download.value.suggested_filename == "cell-0-1.svg"
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("<svg")


def test_without_scripts_the_words_of_each_picture_are_there(site, opened):
    page = opened(site / "00_start_here.html", java_script_enabled=False)
    assert page.locator("figcaption").first.is_visible() and page.locator(".controls, .under").first.is_hidden()
