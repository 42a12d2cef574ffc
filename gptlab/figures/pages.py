"""A figure as a page of its own: one file with all that it needs, for whoever has a browser and no network.

Plotly stands in the page (some 5 MB), sliders and menus work, the alternative text stands below. Nothing in a page is
random or dated: the same figure gives the same bytes.
"""

import os
from html import escape

from plotly.basedatatypes import BaseFigure
from plotly.io import to_html

from gptlab._refuse import refuse
from gptlab.figures._canvas import CONFIG

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 1rem/1.5 'Open Sans', 'Segoe UI', 'DejaVu Sans', sans-serif; margin: 1rem auto; max-width: 75rem;
         padding: 0 1rem; background: light-dark(#fff, #111); color: light-dark(#222, #ddd); }}
  figure {{ margin: 0; }}
</style>
</head>
<body>
<figure>
{picture}
<figcaption>{words}</figcaption>
</figure>
</body>
</html>
"""


def save_page(figure: BaseFigure, path: str | os.PathLike, *, title: str | None = None) -> None:
    """Save a figure as an HTML page that needs no network; of an app save its `still()`.

    Args:
        figure: a figure of `gptlab.figures`, or any other of Plotly.
        path: where to; written whole or not at all, in place of what is there.
        title: of the page; without one the figure's alternative text.
    Raises:
        ValueError: for what is no figure.
        OSError: naming the path, where the disk does not take it.
    """
    if not isinstance(figure, BaseFigure):
        raise refuse("figure", figure, "a figure of gptlab.figures, or of an app its still()")
    words = (figure.layout.meta or {}).get("description", "")
    picture = to_html(
        figure,
        config=CONFIG,
        auto_play=False,  # who wants less motion is not surprised by any
        include_plotlyjs=True,
        include_mathjax=False,
        full_html=False,
        div_id="figure",  # else a random one
    )
    page = _PAGE.format(title=escape(title or words or "gptlab"), picture=picture, words=escape(words))

    from gptlab.storage import write_whole  # brings torch, which a figure can do without

    write_whole(path, lambda unfinished: unfinished.write_text(page, encoding="utf-8"))
