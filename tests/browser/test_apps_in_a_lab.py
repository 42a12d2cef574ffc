"""Apps in a real JupyterLab: drawn wherever they are shown, followed by every keystroke, never a traceback."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.lab import drawn, press_and_read, wait_for_change
from tests.browser.server import ROOT, opened

HOSTILE = "<img src=x onerror=alert(1)> <b> &lt; $x$ %{y} </script>"
# Figures are made in one cell and shown in others, by which a page that is slow could be left with empty axes.
CELLS = [
    f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
    "from gptlab import apps, world\n"
    "from tests.examples._model import untrained\n"
    "machine = apps.Machine(*untrained(64), 'The cat saw the cat', truth=world, max_new_tokens=12)",
    "machine.tokens",
    "machine.attention",
    "machine.next_token",
    "machine.text",
    "late = apps.Machine(*untrained(64), 'The cat saw the cat', truth=world)\n"
    "display(late.tokens)\n"
    "late.prompt.box.value = 'The old'",
]
TOKENS, ATTENTION, NEXT_TOKEN, TEXT, LATE = 1, 2, 3, 4, 5
LAST_VALUE_MS = 3_000  # ten times what is promised


@pytest.fixture(scope="module")
def lab(server, browser):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, server.folder / "apps.ipynb")
    with opened(server, browser, "apps.ipynb") as lab:
        lab.alerts = []
        lab.page.on("dialog", lambda dialog: (lab.alerts.append(dialog.message), dialog.dismiss()))
        lab.run_all()
        yield lab
        assert lab.errors == lab.problems == lab.alerts == []
    server.shut_down("apps.ipynb")


def test_figures_made_in_one_cell_are_drawn_in_others_as_wide_as_these(lab):
    for number, kind in ((TOKENS, "bar"), (ATTENTION, "heatmap"), (NEXT_TOKEN, "bar")):
        figure = lab.figures(number).first
        assert drawn(figure)[0]["type"] == kind
        place, picture = figure.bounding_box(), figure.locator(".main-svg").first.bounding_box()
        assert place["width"] > 800
        assert picture["width"] == pytest.approx(place["width"], abs=2)


def test_what_changed_before_a_figure_was_first_drawn_is_in_it(lab):
    figure = lab.figures(LATE).first
    lab.page.wait_for_function("figure => figure._fullData[0].text?.length === 3", arg=figure.element_handle())


def test_a_figure_becomes_as_wide_as_its_place_when_that_changes(lab):
    figure = lab.figures(ATTENTION).first
    before = figure.bounding_box()["width"]
    lab.page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
    lab.page.wait_for_function(
        """([figure, before]) => {
            const picture = figure.querySelector(".main-svg").getBoundingClientRect().width;
            return Math.abs(picture - before) > 50 && Math.abs(picture - figure.clientWidth) < 3;
        }""",
        arg=[figure.element_handle(), before],
    )


def test_plotly_is_on_the_page_once_for_all_live_figures(lab):
    assert lab.page.evaluate("gptlabPlotly.then(module => typeof module.default)") == "function"


@pytest.mark.parametrize("prompt", ["", ".", "\u0645\u0631\u062d\u0628\u0627", "The dragon zzz", "a " * 5_000, HOSTILE])
def test_what_is_typed_is_drawn_as_it_is_or_answered_in_a_sentence(lab, prompt):
    figure = lab.figures(TOKENS).first
    box = lab.output(TOKENS).locator("input[type=text]")
    box.fill("The old")
    lab.page.wait_for_function("figure => figure._fullData[0].text?.length === 3", arg=figure.element_handle())
    before = drawn(figure)
    box.fill(prompt)
    wait_for_change(figure, before)
    said = lab.output(TOKENS).get_by_role("status").first
    assert "cannot be read" not in said.text_content()
    if prompt == HOSTILE:
        expect(said).to_contain_text("‘<’, ‘img’, ‘␣src’")
        strip = figure.locator(".barlayer text").all_text_contents()
        assert all(any(text.startswith(sign) for text in strip) for sign in "<&$%")
        expect(figure.locator("img, script")).to_have_count(0)


def test_the_last_of_200_slider_moves_is_shown_soon_after(lab):
    figure = lab.figures(NEXT_TOKEN).first
    handle = lab.output(NEXT_TOKEN).locator(".noUi-handle").first
    handle.press("Home")
    lab.page.wait_for_function("figure => figure._fullData[1].x[0] === 1", arg=figure.element_handle())
    for _ in range(10):
        for key in ["ArrowRight"] * 10 + ["ArrowLeft"] * 10:
            lab.page.keyboard.press(key)
    lab.page.wait_for_function(
        "figure => figure._fullData[1].x[0] === 1", arg=figure.element_handle(), timeout=LAST_VALUE_MS
    )
    assert lab.output(NEXT_TOKEN).locator(".widget-readout").first.text_content() == "0.00"


def test_the_button_lets_the_text_grow_and_says_what_it_would_do(lab):
    output = lab.output(TEXT)
    button = output.locator("button.widget-button")
    before = output.locator(".widget-html-content").last.text_content()
    press_and_read(button, "Stop", "Write on")
    assert output.locator(".widget-html-content").last.text_content() != before
