"""One notebook open in JupyterLab, and what a person does there: run, look, press keys, save.

Waiting is for a state, never for a time: JupyterLab's own commands tell when they are done, and a figure is read
from the data that Plotly has drawn, not from its pixels.
"""

import re
import time
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, TimeoutError, expect

# Until something must have happened, on a machine with other things to do.
OPEN_MS = 180_000
RUN_MS = 300_000  # ten times what a lesson may take
CHANGE_MS = 60_000
expect.set_options(timeout=CHANGE_MS)
SCROLL_MS = 2_000

BROKEN = "Error displaying widget"
PANEL = "jupyterapp.shell.currentWidget"
# The elements by which a kind of figure is known once it is drawn.
DRAWN_AS = {
    "bar": ".barlayer .bars",
    "heatmap": ".heatmaplayer .hm",
    "scatter": ".scatterlayer .trace",
    None: ".main-svg",
}
# What Plotly has drawn on an element, in plain lists.
DRAWN = """figure => {
    const plain = v => ArrayBuffer.isView(v) ? Array.from(v) : Array.isArray(v) ? v.map(plain) : v;
    return (figure._fullData || []).map(({type, x, y, z, text}) => ({
        type, x: plain(x) ?? null, y: plain(y) ?? null, z: plain(z) ?? null, text: plain(text) ?? null
    }));
}"""


@dataclass
class Lab:
    """The page, with what went wrong on it so far in `problems`."""

    page: Page
    notebook: str
    problems: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.wait_for_function(f"window.jupyterapp && {PANEL}?.context?.path === '{self.notebook}'")
        self.page.evaluate(f"Promise.all([jupyterapp.restored, {PANEL}.context.ready, {PANEL}.revealed])")
        expect(self.page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()

    # What one does.

    def wait_for_kernel(self) -> None:
        self.page.wait_for_function(f"{PANEL}.sessionContext.session?.kernel?.status === 'idle'")

    def run_all(self) -> None:
        """Run all cells and wait for the last; whether one failed is for `errors` to say."""
        self.wait_for_kernel()
        self.page.set_default_timeout(RUN_MS)
        self.page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.set_default_timeout(OPEN_MS)

    def save(self) -> None:
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")

    def show_cell(self, number: int) -> None:
        """Scroll to a cell; JupyterLab draws those far from the window only when they come near."""
        self.page.evaluate(f"{PANEL}.content.scrollToItem({number}, 'start')")

    # What one sees.

    @property
    def cells(self) -> list[dict]:
        return self.page.evaluate(f"{PANEL}.content.model.toJSON().cells")

    @property
    def errors(self) -> list[str]:
        """What the cells wrote to stderr, or raised."""
        outputs = [output for cell in self.cells for output in cell.get("outputs", ())]
        raised = [f"{output['ename']}: {output['evalue']}" for output in outputs if output["output_type"] == "error"]
        return raised + ["".join(output["text"]) for output in outputs if output.get("name") == "stderr"]

    def figure_cells(self) -> list[int]:
        """The cells whose output holds a figure."""
        kind = "application/vnd.plotly.v1+json"
        return [
            number
            for number, cell in enumerate(self.cells)
            if any(kind in output.get("data", {}) for output in cell.get("outputs", ()))
        ]

    def cell_with(self, words: str) -> int:
        """The first cell with these words in its source."""
        return next(number for number, cell in enumerate(self.cells) if words in "".join(cell["source"]))

    def output(self, number: int) -> Locator:
        """The output of a cell, scrolled to; JupyterLab learns how high cells are as it draws them, so not at once."""
        output = self.page.locator(f".jp-Cell[data-windowed-list-index='{number}'] .jp-Cell-outputWrapper")
        for _ in range(10):
            self.show_cell(number)
            with suppress(TimeoutError):
                output.wait_for(timeout=SCROLL_MS)
                break
        expect(output).to_be_visible()
        return output

    def figures(self, number: int) -> Locator:
        """The figures in the output of a cell, each drawn with at least one trace; of a live app there may be none."""
        output = self.output(number)
        expect(output.locator(".js-plotly-plot, .jupyter-widgets").first).to_be_visible()
        for figure in output.locator(".js-plotly-plot").all():
            self.page.wait_for_function("figure => figure._fullData?.length", arg=figure.element_handle())
        return output.locator(".js-plotly-plot")

    def app_with(self, control: str, kind: str | None = None) -> tuple[Locator, Locator]:
        """The first live output that has a control with that word in its label, and its first figure of that kind."""
        app = self.page.locator(".jp-Cell-outputWrapper").filter(has=labelled(self.page, control)).first
        figure = app.locator(".js-plotly-plot").filter(has=self.page.locator(DRAWN_AS[kind])).first
        figure.scroll_into_view_if_needed()
        expect(figure).to_be_visible()
        return app, figure

    def app_of(self, call: str, control: str, kind: str | None = None) -> tuple[Locator, Locator]:
        """The app that the cell with this call shows, scrolled to; by which control and figure it is known."""
        self.show_cell(self.cell_with(call))
        return self.app_with(control, kind)

    def still_figure(self, call: str) -> Locator:
        """The first figure of the cell with this call, before any run, on the way there from the top of the lesson.

        JupyterLab only guesses where what it never drew would be.
        """
        last = self.cell_with(call)
        *_, figure = (self.figures(number).first for number in self.figure_cells() if number <= last)
        return figure


def assert_it_ran(lab: Lab, *, figures: int) -> None:
    """No cell failed, at least so many figures are drawn, and nothing went wrong on the page."""
    assert lab.errors == []
    deadline = time.monotonic() + OPEN_MS / 1000
    while sum(lab.figures(number).count() for number in lab.figure_cells()) < figures:
        assert time.monotonic() < deadline, f"{figures} figures were expected"  # on a busy machine they come one by one
        lab.page.wait_for_timeout(500)
    expect(lab.page.get_by_text(BROKEN)).to_have_count(0)
    assert lab.problems == []


def labelled(where: Page | Locator, control: str) -> Locator:
    """The label of a control of ipywidgets."""
    return where.locator(".widget-label", has_text=re.compile(control, re.IGNORECASE))


def press(app: Locator, control: str, key: str) -> None:
    """Press a key on a slider, found by a word of its label."""
    slider = app.locator(".widget-slider").filter(has=labelled(app.page, control))
    slider.locator(".noUi-handle").last.press(key)


def press_and_read(button: Locator, *texts: str) -> None:
    """Press a button, whose text then becomes each of these in turn, however soon the next one comes."""
    button.evaluate(
        """button => {
            button.read = [];
            const read = changes => button.read.push(...changes.flatMap(({addedNodes}) => [...addedNodes]));
            new MutationObserver(read).observe(button, {childList: true});
        }"""
    )
    button.press("Enter")
    button.page.wait_for_function(
        "([button, texts]) => JSON.stringify(button.read.map(node => node.textContent)) === JSON.stringify(texts)",
        arg=[button.element_handle(), texts],
    )


def drawn(figure: Locator) -> list[dict]:
    """The traces that a figure shows: type, x, y, z, text."""
    return figure.evaluate(DRAWN)


def wait_for_change(figure: Locator, before: list[dict]) -> list[dict]:
    """Until a figure shows something else than before; what it shows then."""
    wait_until(figure, "JSON.stringify(drawn) !== JSON.stringify(wanted)", before)
    return drawn(figure)


def wait_for_words(figure: Locator, words: list[str]) -> None:
    """Until all the words stand in a figure."""
    wait_until(figure, "wanted.every(word => JSON.stringify(drawn).includes(word))", words)


def wait_until(figure: Locator, condition: str, wanted: object) -> None:
    figure.page.wait_for_function(
        f"([figure, wanted]) => {{ const drawn = ({DRAWN})(figure); return {condition}; }}",
        arg=[figure.element_handle(), wanted],
        timeout=CHANGE_MS,
    )
