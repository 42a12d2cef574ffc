"""How long a slider move takes to reach the picture, in a real JupyterLab.

From the key's own time stamp in the page to the last change of the figure. Aimed at: median under 60 ms, 95 % within
120 ms.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._measure import OURS, Comparison
from tests.browser.lab import press
from tests.browser.server import opened, running_browser, running_lab

LESSON = "00_start_here.ipynb"
MOVES = 60
WARM_UP = 10
CONTROLS = [("temperature", "bar"), ("layer", "heatmap")]

WATCH = """figure => {
    const probe = window.probe = {key: Infinity, last: -Infinity};
    document.addEventListener('keydown', event => { probe.key = event.timeStamp; probe.last = -Infinity; }, true);
    new MutationObserver(() => { probe.last = performance.now(); })
        .observe(figure, {subtree: true, childList: true, attributes: true, characterData: true});
}"""
SETTLED = "probe.last > probe.key && performance.now() - probe.last > 150"


def measure(page, app, figure, control: str, moves: int) -> list[float]:
    """Milliseconds of each move; the slider goes to and fro, so every move is a change."""
    figure.evaluate(WATCH)
    taken = []
    for number in range(WARM_UP + moves):
        press(app, control, "ArrowRight" if number % 2 == 0 else "ArrowLeft")
        page.wait_for_function(SETTLED, polling=20, timeout=10_000)
        taken.append(page.evaluate("probe.last - probe.key"))
    return taken[WARM_UP:]


def slider() -> Iterator[Comparison]:
    with (
        tempfile.TemporaryDirectory() as home,
        tempfile.TemporaryDirectory() as folder,
        running_lab(Path(home), Path(folder)) as server,
        running_browser() as browser,
    ):
        for control, kind in CONTROLS:
            with opened(server, browser, server.copy(LESSON)) as lab:
                lab.run_all()
                for number in lab.figure_cells():  # JupyterLab draws a cell when one first comes near it
                    lab.figures(number)
                taken = measure(lab.page, *lab.app_with(control, kind), control, MOVES)
            yield Comparison(f"a move of the {control} slider until the picture has changed", "ms", {OURS: taken})
