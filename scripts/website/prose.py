"""A text cell as HTML: Markdown as notebooks read it, formulas as MathML, links between lessons, code in colours.

Raw HTML in a text cell is the lesson's own and stays as it is, but for formulas in it. Nothing may be fetched: an image
must come with the cell.
"""

import re
from dataclasses import dataclass, field
from html import escape, unescape

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from website.formulas import mathml

# The manner of the lessons: what a paragraph begins or ends with says what it is for.
KINDS = {
    "predict": re.compile(r"<strong>Predict\b"),
    "notice": re.compile(r"^<em>What to notice\b"),
    "erratum": re.compile(r"^<(em|strong)>What the notes say\b"),
}
FORMULA = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$\n]+)\$", re.DOTALL)
# A full stop after a formula, or a bracket around it, must not stand on the next line alone.
STUCK = re.compile(r"([(\[]?)(<math>(?:(?!</math>).)*</math>)([.,;:?!)\]]*)", re.DOTALL)
LESSON = re.compile(r"^(?:\./)?(\d\d_\w+)\.ipynb")


@dataclass
class Heading:
    level: int
    anchor: str
    html: str


@dataclass
class Prose:
    """The text cells of one page; `headings` are those met so far, whose anchors are unique."""

    headings: list[Heading] = field(default_factory=list)

    def html(self, markdown: str, attachments: dict | None = None) -> str:
        """A text cell."""
        renderer = _Renderer(self.headings, attachments or {})
        return STUCK.sub(_together, MarkdownWithMath(renderer=renderer).render(markdown))


def code_html(source: str, language: str = "python") -> str:
    """A program in colours, in a box that can be scrolled."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        inner = escape(source, quote=False)
    else:
        inner = highlight(source.rstrip("\n"), lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    return f'<pre class="code"><code>{inner}</code></pre>\n'


def anchor_for(text: str, taken: set[str]) -> str:
    """An id made of a heading's words, not yet taken."""
    words = re.sub(r"[^\w]+", "-", unescape(re.sub(r"<[^>]+>", "", text)).lower()).strip("-") or "section"
    number, anchor = 1, words
    while anchor in taken:
        number += 1
        anchor = f"{words}-{number}"
    return anchor


def _together(met: re.Match) -> str:
    return f'<span class="stuck">{met[0]}</span>' if met[1] or met[3] else met[0]


class _Renderer(IPythonRenderer):
    def __init__(self, headings: list[Heading], attachments: dict) -> None:
        super().__init__(escape=False, attachments=attachments)
        self.headings = headings

    def heading(self, text: str, level: int, **_: object) -> str:
        anchor = anchor_for(text, {heading.anchor for heading in self.headings})
        self.headings.append(Heading(level, anchor, text))
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'

    def paragraph(self, text: str) -> str:
        kinds = [kind for kind, met in KINDS.items() if met.search(text)]
        return f'<p class="{kinds[0]}">{text}</p>\n' if kinds else f"<p>{text}</p>\n"

    def block_code(self, code: str, info: str | None = None) -> str:
        return code_html(code, (info or "").strip().split(" ")[0] or "text")

    def table(self, text: str) -> str:
        return f'<div class="scrolls"><table>\n{text}</table></div>\n'

    def block_math(self, body: str) -> str:
        return f'<span class="display scrolls">{mathml(body.strip(), display=True)}</span>'

    def inline_math(self, body: str) -> str:
        return mathml(body.strip(), display=False)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def block_html(self, html: str) -> str:
        return _with_formulas(html) + "\n"

    def inline_html(self, html: str) -> str:
        return html

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return super().link(text, LESSON.sub(r"\1.html", url), title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        html = super().image(text, url, title)
        if 'src="data:' not in html:
            raise ValueError(f"the image {url!r} would have to be fetched; attach it to the cell instead")
        return html


def _with_formulas(html: str) -> str:
    def formula(met: re.Match) -> str:
        latex = unescape(met["display"] or met["inline"])
        return mathml(latex.strip(), display=met["display"] is not None)

    return FORMULA.sub(formula, html)
