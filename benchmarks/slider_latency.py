"""How long a slider move takes to reach the picture, in a real JupyterLab: median and 95th percentile.

    python benchmarks/slider_latency.py [moves]

From the key's own time stamp in the page to the last change of the figure. Nothing is asserted: the figures depend on
the machine and on what else it does. Aimed at: median under 60 ms, 95th percentile under 120 ms.
"""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from tests.browser.lab import press
from tests.browser.server import opened, running_browser, running_lab

LESSON = "00_start_here.ipynb"
MOVES = 200
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


def main(moves: int) -> None:
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
                taken = measure(lab.page, *lab.app_with(control, kind), control, moves)
            p95 = statistics.quantiles(taken, n=20)[-1]
            print(f"{control:12} {moves} moves: median {statistics.median(taken):5.1f} ms, 95 % within {p95:5.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MOVES)
