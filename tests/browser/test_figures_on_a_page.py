"""Figures as a browser draws them: texts shown as they are, nothing run, hovers, sliders that need no kernel."""

import json
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Browser, Page, expect
from plotly.offline import get_plotlyjs

from gptlab import figures
from gptlab.tokenizer import Tokenizer
from tests.examples import NAMES, example

HOSTILE = ["<img src=x onerror=alert(1)>", "<b>", "&lt;", "$x$", "%{y}", "<br>", "</script>", "⏎"]
SHORT = ["<img␣src=x␣o…(28)", *HOSTILE[1:]]
# A page of formulas has it, and Plotly would hand it whatever stands between dollar signs.
MATHJAX = """() => {
    window.formulas = 0;
    window.MathJax = {
        version: "3.2.2", config: {svg: {}, options: {}}, startup: {promise: Promise.resolve()},
        get _() { window.formulas += 1; throw new Error("no formulas here"); },
    };
}"""


@pytest.fixture(scope="module")
def loaded(browser: Browser) -> Iterator[Page]:
    """A page with Plotly on it."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.alerts = []
    page.on("dialog", lambda dialog: (page.alerts.append(dialog.message), dialog.dismiss()))
    page.evaluate(MATHJAX)
    page.add_script_tag(content=get_plotlyjs())
    yield page
    page.close()


@pytest.fixture
def page(loaded: Page) -> Iterator[Page]:
    """The same, on which nothing may be run that came with a text."""
    loaded.mouse.move(0, 0)
    loaded.evaluate("window.formulas = 0")
    yield loaded
    assert loaded.alerts == []


def draw(page: Page, figure: go.Figure) -> None:
    page.evaluate(
        """async figure => {
            document.body.innerHTML = "<div id=figure></div>";
            await Plotly.newPlot("figure", figure.data, figure.layout, {responsive: true});
        }""",
        json.loads(figure.to_json()),
    )


def shown(page: Page) -> list[str]:
    """Every text that stands in the figure, a line each."""
    lines = """[...document.querySelectorAll('#figure svg text')].flatMap(text =>
        text.querySelector('tspan.line') ? [...text.querySelectorAll('tspan.line')].map(line => line.textContent)
                                         : [text.textContent])"""
    return [line.replace("\u200b", "") for line in page.evaluate(lines)]


def hover(page: Page, x: float, y: float) -> str:
    """What the figure says when one points at that place of its axes."""
    place = page.evaluate(
        """([x, y]) => {
            const figure = document.getElementById("figure"), {xaxis, yaxis} = figure._fullLayout;
            const box = figure.getBoundingClientRect();
            return [box.x + xaxis._offset + xaxis.l2p(x), box.y + yaxis._offset + yaxis.l2p(y)];
        }""",
        [x, y],
    )
    said = page.locator(".hoverlayer .hovertext")
    page.mouse.move(0, 0)
    expect(said).to_have_count(0)
    page.mouse.move(*place)
    said.wait_for()
    return "\n".join(line.text_content() for line in said.locator("text.nums tspan.line").all()) or said.text_content()


def test_hostile_tokens_are_shown_as_they_are_on_the_axes_and_run_nothing(page):
    weights = np.tri(len(HOSTILE)) / np.arange(1, len(HOSTILE) + 1)[:, None]
    draw(page, figures.attention_heatmap(weights, HOSTILE))
    texts = shown(page)
    assert all(texts.count(token) == 2 for token in SHORT)
    assert page.locator("#figure svg a, #figure img, #figure svg tspan[style*='bold']").count() == 0
    assert page.evaluate("window.formulas") == 0


def test_what_is_not_written_as_entities_would_be_taken_for_a_formula(page):
    """Else the tests around would pass though nothing were escaped."""
    bare = figures.attention_heatmap([[1.0]], ["$x$"]).update_xaxes(ticktext=["$x$"])
    draw(page, bare)
    page.wait_for_function("window.formulas > 0")


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_hostile_tokens_are_shown_as_they_are_in_a_hover(page, place):
    weights = np.tri(len(HOSTILE)) / np.arange(1, len(HOSTILE) + 1)[:, None]
    draw(page, figures.attention_heatmap(weights, HOSTILE))
    said = hover(page, place, len(HOSTILE) - 1)
    assert said == f"query ‘{SHORT[-1]}’ ({len(HOSTILE) - 1}) → key ‘{SHORT[place]}’ ({place}): 13%"


def test_hostile_texts_are_shown_as_they_are_in_bars_strip_and_text(page):
    draw(page, figures.next_token_bars(np.full(8, 1 / 8), HOSTILE, truth=np.full(8, 1 / 8)))
    assert set(SHORT) <= set(shown(page))
    assert hover(page, 0.05, 3.2).startswith("‘$x$’ model: 12.5%") or "‘$x$’" in hover(page, 0.05, 2.8)
    draw(page, figures.token_strip(HOSTILE, list(range(8))))
    assert set(SHORT) <= set(shown(page))
    assert hover(page, 2, 0).startswith(f"‘{SHORT[0]}’")
    text = " ".join(HOSTILE[:3]) + "\n" + " ".join(HOSTILE[3:])
    draw(page, figures.generated_text(text, {0.0: text, 1.0: text}))
    assert " ".join(HOSTILE[:3]) in shown(page)


def test_masked_cells_say_so(page):
    draw(page, example("figure_attention_heatmap"))
    assert hover(page, 3, 1) == "masked: a token does not look at later ones"
    assert hover(page, 1, 3).startswith("query ‘␣the’ (3) → key ‘␣cat’ (1): 10%")
    draw(page, example("figure_attention_heatmap_all_heads"))
    assert hover(page, 3, 1) == "masked: a token does not look at later ones"
    assert hover(page, 0, 4) == "query ‘␣cat’ (4) → key ‘the’ (0): 50 %"


def test_of_512_tokens_each_is_named_when_pointed_at(page):
    weights = np.tri(512) / np.arange(1, 513)[:, None]
    draw(page, figures.attention_heatmap(weights, [f"token{place}" for place in range(512)]))
    assert hover(page, 123, 456).startswith("query ‘token456’ (456) → key ‘token123’ (123)")
    labels = [text for text in shown(page) if text.startswith("token")]
    assert 10 <= len(labels) <= 2 * 26


def test_the_sliders_of_a_still_figure_choose_layer_and_head(page):
    draw(page, example("figure_attention_heatmap_all_heads"))
    assert seen(page) == [5]
    rails = page.locator(".slider-rail-touch-rect")
    for slider, end, expected in ((0, 0.01, 2), (1, 0.01, 0), (0, 0.99, 3), (1, 0.5, 4)):
        box = rails.nth(slider).bounding_box()
        page.mouse.click(box["x"] + end * box["width"], box["y"] + box["height"] / 2)
        page.wait_for_function(f"({SEEN})().join() === '{expected}'")


SEEN = """() => document.getElementById("figure")._fullData.flatMap((trace, index) =>
    trace.type === "heatmap" && trace.visible && trace.opacity && trace.hoverinfo !== "skip" ? [index] : [])
"""


def seen(page: Page) -> list[int]:
    return page.evaluate(SEEN)


def test_the_temperature_slider_of_a_still_figure_moves_the_bars(page):
    draw(page, example("figure_next_token_bars"))
    first = "document.getElementById('figure')._fullData[1].x[0]"
    before = page.evaluate(first)
    box = page.locator(".slider-rail-touch-rect").bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    page.wait_for_function(f"{first} > {before + 0.1}")


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("figure_")])
def test_every_text_is_drawn_with_at_least_16_px(page, name):
    draw(page, example(name))
    sizes = page.evaluate(
        "[...document.querySelectorAll('#figure svg text')].map(text => parseFloat(getComputedStyle(text).fontSize))"
    )
    assert sizes and min(sizes) >= 16


def test_case_61_the_emoji_stands_over_its_two_tokens(page):
    draw(page, figures.token_strip(Tokenizer.gpt2().pieces("I 👍 it")))
    boxes = page.locator(".barlayer .point").evaluate_all("all => all.map(one => one.getBoundingClientRect().x)")
    emoji = page.locator(".scatterlayer text", has_text="👍").bounding_box()
    assert boxes[1] < emoji["x"] + emoji["width"] / 2 < boxes[3]


def test_case_126_a_token_that_ends_a_script_spills_nothing_on_to_an_exported_page(page):
    exported = figures.token_strip(["</script>", "after"]).to_html(include_plotlyjs=False, full_html=False)
    page.evaluate("html => document.body.innerHTML = html", exported)
    assert page.locator("body").inner_text().strip() == ""
