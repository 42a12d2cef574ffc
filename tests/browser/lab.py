"""One notebook open in JupyterLab, and what a person does there: run, look, press keys, save.

Waiting is for a state, never for a time: JupyterLab's own commands tell when they are done, and a figure is read
from the data that Plotly has drawn, not from its pixels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, expect

OPEN_MS = 60_000
RUN_MS = 300_000  # ten times what a lesson may take
CHANGE_MS = 20_000

NOTEBOOK = "jupyterapp.shell.currentWidget"
# What Plotly has drawn on an element, in plain lists.
DRAWN = """figure => {
    const plain = value => ArrayBuffer.isView(value) ? Array.from(value) : Array.isArray(value) ? value.map(plain) : value;
    return (figure._fullData || []).map(({type, x, y, z, text}) => ({
        type, x: plain(x) ?? null, y: plain(y) ?? null, z: plain(z) ?? null, text: plain(text) ?? null
    }));
}"""


@dataclass
class Lab:
    """The page, with what went wrong on it so far in `problems`."""

    page: Page
    problems: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.set_default_timeout(OPEN_MS)
        self.page.wait_for_function(f"window.jupyterapp && {NOTEBOOK}?.content?.model?.cells?.length")
        expect(self.page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()
        self.page.evaluate("jupyterapp.restored")

    # What one does.

    def wait_for_kernel(self) -> None:
        self.page.wait_for_function(f"{NOTEBOOK}.sessionContext.session?.kernel?.status === 'idle'")

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
        self.page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'start')")

    # What one sees.

    @property
    def cells(self) -> list[dict]:
        return self.page.evaluate(f"{NOTEBOOK}.content.model.toJSON().cells")

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

    def output(self, number: int) -> Locator:
        """The output of a cell, scrolled to."""
        self.show_cell(number)
        output = self.page.locator(f".jp-Cell[data-windowed-list-index='{number}'] .jp-Cell-outputWrapper")
        expect(output).to_be_visible()
        return output

    def figures(self, number: int) -> Locator:
        """The figures in the output of a cell, drawn."""
        figures = self.output(number).locator(".js-plotly-plot")
        expect(figures.locator(".main-svg").first).to_be_visible()
        return figures


def drawn(figure: Locator) -> list[dict]:
    """The traces that a figure shows: type, x, y, z, text."""
    return figure.evaluate(DRAWN)


def wait_for_change(figure: Locator, before: list[dict]) -> list[dict]:
    """Until a figure shows something else than before; what it shows then."""
    figure.page.wait_for_function(
        f"([figure, before]) => JSON.stringify(({DRAWN})(figure)) !== before",
        arg=[figure.element_handle(), figure.evaluate(f"figure => JSON.stringify(({DRAWN})(figure))")]
        if before is None
        else [figure.element_handle(), figure.page.evaluate("JSON.stringify", before)],
        timeout=CHANGE_MS,
    )
    return drawn(figure)
