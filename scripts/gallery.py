"""Put the smallest example of each figure and app on one page, to be looked at in light and in dark.

    python scripts/gallery.py [folder]

Apps show what a page without a kernel shows of them. Plotly is written once, beside the page; nothing is fetched.
"""

import json
import sys
from html import escape
from pathlib import Path

import plotly.graph_objects as go
from plotly.io import to_html
from plotly.offline import get_plotlyjs

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.examples import NAMES, example  # noqa: E402 (the folder is on the path only now)

FIGURE = "application/vnd.plotly.v1+json"
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>gptlab: figures and apps</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 16px sans-serif; margin: 1em; background: light-dark(#fff, #111); color: light-dark(#111, #eee); }}
</style>
<script src="plotly.min.js"></script>
<button onclick="const s = document.documentElement.style; s.colorScheme = s.colorScheme === 'dark' ? 'light' : 'dark'">
light or dark</button>
{sections}
</html>
"""


def main(folder: Path) -> Path:
    """Write the page and Plotly into a folder; the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    page = folder / "index.html"
    page.write_text(PAGE.format(sections="\n".join(map(section, NAMES))), encoding="utf-8")
    return page


def section(name: str) -> str:
    """One example: its name, its picture, its alternative text."""
    shown = example(name)
    if isinstance(shown, go.Figure):
        figure, words = json.loads(shown.to_json()), shown.layout.meta["description"]
    else:
        output = shown._repr_mimebundle_()
        figure, words = output[FIGURE], output["text/plain"]
    options = {"include_plotlyjs": False, "include_mathjax": False, "full_html": False, "auto_play": False}
    picture = to_html(figure, **options, div_id=name)
    return f"<h2>{name}</h2>\n{picture}\n<p>{escape(words)}</p>"


if __name__ == "__main__":
    page = main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site" / "gallery")
    print(page)
