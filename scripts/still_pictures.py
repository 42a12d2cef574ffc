"""A small PNG of each stored figure, for pages that run no script: GitHub, mail, a file browser.

Kaleido draws with the chromium or Chrome that is there, started once for all figures of a lesson. The paper stays
see-through, so that a picture fits a light page and a dark one; 256 colours suffice, and take a fifth of the bytes.
The same figure gives the same bytes on the same machine. Fonts and chromium differ between machines, so a picture
that a lesson has already of exactly this figure is kept.
"""

import asyncio
import base64
import json
from io import BytesIO

import numpy as np
from kaleido import Kaleido
from nbformat import NotebookNode
from PIL import Image

from gptlab.commands._saved_notebook import FIGURE, PICTURE

WIDTH, HEIGHT = 800, 420  # in pixels; a figure that says how high it is is as high
SECONDS = 300  # for one figure, on a machine with other things to do
OPAQUE, FAINT = 192, 64  # colours


def add_pictures(notebook: NotebookNode, kept: dict[str, str]) -> int:
    """Give each stored figure its picture, one of `kept` or a new one, in place; how many are new."""
    bundles = figure_bundles(notebook)
    new = {key(bundle): bundle[FIGURE] for bundle in bundles if key(bundle) not in kept}
    pictures = kept | dict(zip(new, draw(list(new.values())), strict=True))
    for bundle in bundles:
        bundle[PICTURE] = pictures[key(bundle)]
    return len(new)


def stored_pictures(notebook: NotebookNode) -> dict[str, str]:
    """The pictures that a notebook has, by what they are of."""
    return {key(bundle): bundle[PICTURE] for bundle in figure_bundles(notebook) if PICTURE in bundle}


def figure_bundles(notebook: NotebookNode) -> list[NotebookNode]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.data for output in outputs if FIGURE in output.get("data", {})]


def key(bundle: NotebookNode) -> str:
    return json.dumps(bundle[FIGURE], sort_keys=True)


def draw(figures: list[dict]) -> list[str]:
    """Figures as PNG in base64. One browser draws them all, none if there are none."""
    return [base64.b64encode(fewer_colours(png)).decode() for png in asyncio.run(_draw(figures))] if figures else []


async def _draw(figures: list[dict]) -> list[bytes]:
    async with Kaleido(n=1, timeout=SECONDS, mathjax=False) as browser:  # MathJax would come from a server
        return [await browser.calc_fig(_bare(figure), opts=_size(figure)) for figure in figures]


def _bare(figure: dict) -> dict:
    return {part: figure[part] for part in ("data", "layout")}


def _size(figure: dict) -> dict:
    return {"format": "png", "width": WIDTH, "height": figure["layout"].get("height", HEIGHT), "scale": 1}


def fewer_colours(png: bytes) -> bytes:
    """A PNG with a palette: most colours for what is opaque, as a heatmap is; the others for the edges of letters."""
    image = Image.open(BytesIO(png)).convert("RGBA")
    plain = image.convert("RGB").quantize(OPAQUE, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    faint = image.quantize(FAINT, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    opaque = np.asarray(image)[..., 3] == 255
    indices = np.where(opaque, np.asarray(plain), OPAQUE + np.asarray(faint)).astype(np.uint8)
    colours = np.zeros((OPAQUE + FAINT, 4), np.uint8)
    for start, palette in ((0, plain.getpalette("RGBA")), (OPAQUE, faint.getpalette("RGBA"))):
        colours[start : start + len(palette) // 4] = np.reshape(palette, (-1, 4))
    small, saved = Image.fromarray(indices, "P"), BytesIO()
    small.putpalette(colours[:, :3].tobytes())
    small.save(saved, "png", optimize=True, transparency=colours[:, 3].tobytes())
    return saved.getvalue()
