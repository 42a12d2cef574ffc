"""Cells as HTML, as they stand in a committed notebook: nothing is run.

`outputs_html` alone is what somebody needs who wants a cell's results on a page of another kind; a page with figures
must load the three scripts of `assets`.
"""

from collections.abc import Iterable
from html import escape

from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from website.figures import figure_html
from website.prose import Prose, code_html

FIGURE = "application/vnd.plotly.v1+json"
FORMULAS_OF_KIND = "formula:"  # a tag that says which formula a cell teaches; no reader needs it


def cell_html(cell: NotebookNode, name: str, prose: Prose) -> str:
    """A cell with what it gave; `name` is unique on the page, `prose` is the page's."""
    if cell.cell_type == "markdown":
        return f'<div class="prose">{prose.html(cell.source, cell.get("attachments"))}</div>\n'
    if cell.cell_type != "code":
        return ""
    tags = [tag for tag in cell.metadata.get("tags", ()) if not tag.startswith(FORMULAS_OF_KIND)]
    inner = code_html(cell.source) + outputs_html(cell.outputs, name)
    if "solution" in tags:
        return f'<details class="cell solution"><summary>A solution</summary>\n{inner}</details>\n'
    return f'<div class="{" ".join(["cell", *tags])}">\n{inner}</div>\n'


def outputs_html(outputs: Iterable[NotebookNode], name: str) -> str:
    """What a code cell gave; figures bear the name, with a number behind it."""
    return "".join(_output_html(output, f"{name}-{number}") for number, output in enumerate(outputs, start=1))


def _output_html(output: NotebookNode, name: str) -> str:
    if output.output_type == "stream":
        return _text_html(output.text, output.name)
    if output.output_type == "error":
        return _text_html(strip_ansi("\n".join(output.traceback)), "error")
    if FIGURE in output.data:
        return figure_html(output.data[FIGURE], output.data["text/plain"], name)
    if "image/png" in output.data:
        words, png = escape(output.data.get("text/plain", "")), output.data["image/png"].replace("\n", "")
        return f'<figure><img src="data:image/png;base64,{png}" alt="{words}"></figure>\n'
    if "text/plain" in output.data:
        return _text_html(output.data["text/plain"], "result")
    raise ValueError(f"a page can show a figure, a picture or text, and an output has only {sorted(output.data)}")


def _text_html(text: str, kind: str) -> str:
    return f'<pre class="output {kind}">{escape(text, quote=False)}</pre>\n'
