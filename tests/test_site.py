"""The static site: what its pages hold, that nothing in them is fetched or run, and how large they are."""

import json
import re
import subprocess
from pathlib import Path

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup

from gptlab import figures
from tests.lessons import FIGURE, LESSONS, ROOT
from website import cells, course, formulas, pages, prose
from website.figures import controls, figure_html, json_for_script

TEACHING = ROOT / "docs" / "teaching.md"
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def lessons() -> list[course.Lesson]:
    return course.lessons(ROOT / "notebooks", TEACHING)


@pytest.fixture(scope="module")
def site(tmp_path_factory, lessons) -> Path:
    folder = tmp_path_factory.mktemp("site")
    pages.write_site(lessons, folder)
    return folder


@pytest.fixture(scope="module")
def soups(site) -> dict[str, BeautifulSoup]:
    return {path.name: read(path.read_text(encoding="utf-8")) for path in site.glob("*.html")}


def read(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


def lesson(*written: nbformat.NotebookNode, number: str = "00", needs: tuple = ()) -> course.Lesson:
    notebook = nbformat.v4.new_notebook(cells=list(written))
    return course.Lesson(number, "A title", 30, list(needs), "Say *why*.", f"{number}_lesson", notebook)


def shows(**data: object) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", data=data)


# The whole site.


def test_each_lesson_has_its_page_with_the_one_before_and_the_one_after(soups, lessons):
    names = [one.page for one in lessons]
    assert set(soups) == {"index.html", *names}
    for place, name in enumerate(names):
        around = {link["rel"][0]: link["href"] for link in soups[name].select(".around a")}
        assert around.get("prev") == (names[place - 1] if place else None)
        assert around.get("next") == (names[place + 1] if place + 1 < len(names) else None)
        assert soups[name].h1 and len(soups[name].find_all("h1")) == 1


def test_the_index_has_each_lesson_with_its_minutes_its_needs_and_its_goals(soups, lessons):
    index = soups["index.html"]
    rows = index.select(".map li")
    assert [row.a["href"] for row in rows] == [one.page for one in lessons]
    for row, one in zip(rows, lessons, strict=True):
        assert one.title in row.text and f"{one.minutes} min" in row.text
        assert all(needed in row.select_one(".minutes").text for needed in one.needs)
    assert len(index.select(".map path")) == sum(len(one.needs) for one in lessons)
    goals = course.goals_by_lesson(TEACHING.read_text(encoding="utf-8"))
    assert goals["00"].startswith("Name the steps from prompt to text")
    assert len(index.select(".cards article p")) == len([one for one in lessons if one.number in goals])


def test_every_link_leads_somewhere(soups):
    for name, soup in soups.items():
        for link in soup.find_all("a"):
            page, _, anchor = link["href"].partition("#")
            if not page.startswith(("http:", "https:")):
                assert (page or name) in soups, link
                assert not anchor or soups[page or name].find(id=anchor), link


def test_nothing_is_fetched_from_another_host_and_plotly_stands_there_once(site, soups):
    for name, soup in soups.items():
        loaded = [one.get("src") for one in soup.find_all(["script", "img", "iframe"]) if one.get("src")]
        loaded += [one["href"] for one in soup.find_all("link")]
        assert all(address.startswith("data:") or (site / address).is_file() for address in loaded), name
        assert not re.search(r"url\(|@import", "".join(style.text for style in soup.find_all("style")))
    assert "url(" not in (site / "assets" / "site.css").read_text()
    assert [path.name for path in site.rglob("*") if path.stat().st_size > 4 * MEGABYTE and path.is_file()] == [
        "plotly.min.js"
    ]


def test_all_of_it_is_under_twenty_megabytes(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 20 * MEGABYTE


@pytest.mark.parametrize("notebook", LESSONS, ids=lambda path: path.stem)
def test_each_figure_of_a_lesson_is_on_its_page_with_its_words_and_its_data(soups, notebook):
    stored = [
        output.data
        for cell in nbformat.read(notebook, as_version=4).cells
        for output in cell.get("outputs", ())
        if FIGURE in output.get("data", {})
    ]
    drawn = soups[f"{notebook.stem}.html"].select("figure.picture")
    assert len(drawn) == len(stored)
    for figure, data in zip(drawn, stored, strict=True):
        assert figure.figcaption.text.removeprefix("At first: ") == data["text/plain"]
        assert figure.select_one("[role=img]")["aria-labelledby"] == figure.figcaption["id"]
        assert json.loads(figure.script.string, parse_constant=pytest.fail)["data"] == data[FIGURE]["data"]
        sliders = data[FIGURE]["layout"].get("sliders", ())
        assert [len(one["steps"]) - 1 for one in sliders] == [int(one["max"]) for one in figure.select("[type=range]")]


def test_every_id_of_a_page_is_its_own_and_every_label_names_something(soups):
    for soup in soups.values():
        ids = [one["id"] for one in soup.select("[id]")]
        assert len(ids) == len(set(ids))
        assert {label["for"] for label in soup.select("label[for]")} <= set(ids)


def test_no_formula_is_left_as_it_was_written(soups):
    for name, soup in soups.items():
        for code in soup.find_all(["pre", "code", "script", "math", "figcaption"]):
            code.extract()
        assert "$" not in soup.text and "\\frac" not in soup.text, name


def test_case_131_the_same_lessons_give_the_same_bytes(site, lessons, tmp_path):
    (tmp_path / "gone.html").write_text("a lesson that is no longer there")
    pages.write_site(lessons, tmp_path)
    ours, theirs = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (site, tmp_path)
    )
    assert ours == theirs


def test_make_site_writes_it_and_the_workflow_publishes_what_it_wrote():
    said = subprocess.run(["make", "--dry-run", "site"], cwd=ROOT, capture_output=True, text=True)
    assert "scripts/make_site.py site" in said.stdout
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text())["jobs"]["build"]["steps"]
    assert {"run": "make site"} in steps
    assert [step["with"]["path"] for step in steps if "pages-artifact" in step.get("uses", "")] == ["site"]
    assert "site/" in (ROOT / ".gitignore").read_text().splitlines()


# The course.


def test_a_notebook_that_does_not_say_what_it_is_is_named(tmp_path):
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "03_nameless.ipynb")
    with pytest.raises(ValueError, match=r"03_nameless.ipynb does not say its .*minutes"):
        course.lessons(tmp_path, TEACHING)


def test_a_lesson_that_needs_a_later_one_is_named(tmp_path):
    about = {"lesson": "03", "title": "T", "minutes": 30, "needs": ["04"]}
    nbformat.write(nbformat.v4.new_notebook(metadata={"gptlab": about}), tmp_path / "03_early.ipynb")
    with pytest.raises(ValueError, match="lesson 03 needs .'04'."):
        course.lessons(tmp_path, TEACHING)


def test_a_map_has_an_arc_for_each_need_from_row_to_row():
    made = pages.course_map([lesson(number="00"), lesson(number="01"), lesson(number="02", needs=("00", "01"))])
    assert len(made["dots"]) == 3 and len(made["arcs"]) == 2
    assert [arc.split(",")[-1] for arc in made["arcs"]] == [str(2 * pages.ROW), str(pages.ROW)]


# Text cells.


def test_a_formula_becomes_mathml_and_one_that_cannot_be_read_is_named():
    assert formulas.mathml("x_i", display=False) == "<math><msub><mi>x</mi><mi>i</mi></msub></math>"
    assert 'display="block"' in formulas.mathml(r"\frac{1}{2}", display=True)
    with pytest.raises(ValueError, match=r"the formula '\\\\nonsense\{x\}' cannot be read"):
        formulas.mathml(r"\nonsense{x}", display=False)


def test_a_formula_keeps_its_full_stop_and_is_read_in_raw_html_too():
    html = prose.Prose().html("Is it $x$ (or $y$)?\n\n<details><summary>Why $k$?</summary>Because $a < b$.</details>")
    assert html.count("<math>") == 4 and "$" not in html
    stuck = [one.text for one in read(html).select(".stuck")]
    assert stuck == ["y)?", "k?", "a<b."]


def test_a_link_to_a_lesson_leads_to_its_page_and_others_stay():
    html = prose.Prose().html("[next](05_many_heads.ipynb#rows) and [a paper](https://example.org/a.ipynb)")
    assert [a["href"] for a in read(html).find_all("a")] == ["05_many_heads.html#rows", "https://example.org/a.ipynb"]


def test_an_image_that_would_be_fetched_is_refused_and_an_attached_one_stands_in_the_page():
    with pytest.raises(ValueError, match=r"'https://example.org/cat.png' would have to be fetched"):
        prose.Prose().html("![a cat](https://example.org/cat.png)")
    html = prose.Prose().html("![a cat](attachment:cat.png)", {"cat.png": {"image/png": "iVBORw0="}})
    assert read(html).img["src"] == "data:image/png;base64,iVBORw0=" and read(html).img["alt"] == "a cat"


def test_headings_get_anchors_of_their_own():
    text = prose.Prose()
    text.html("# Why?\n\n## The $d_k$ of it\n\n## Why?")
    assert [heading.anchor for heading in text.headings] == ["why", "the-dk-of-it", "why-2"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("**Predict first:** which?", "predict"),
        ("Something. **Predict:** which?", "predict"),
        ("*What to notice.* This.", "notice"),
        ("*What the notes say, what is right:* that.", "erratum"),
        ("**What the notes say, what is right.** That.", "erratum"),
    ],
)
def test_the_manner_of_the_lessons_is_seen(words, kind):
    assert read(prose.Prose().html(words)).p["class"] == [kind]


# Code cells.


def test_a_solution_is_folded_and_holds_its_outputs():
    output = nbformat.v4.new_output("execute_result", data={"text/plain": "✓ right"})
    cell = nbformat.v4.new_code_cell("a < b", outputs=[output], metadata={"tags": ["solution", "formula:000-x"]})
    folded = read(cells.cell_html(cell, "cell-1", prose.Prose())).details
    assert not folded.has_attr("open") and folded.summary.text == "A solution"
    assert [pre.text.strip() for pre in folded.find_all("pre")] == ["a < b", "✓ right"]


def test_what_was_printed_and_what_was_raised_is_shown_as_it_is():
    raised = nbformat.v4.new_output("error", ename="E", evalue="no", traceback=["\x1b[31mValueError\x1b[0m: <b>no</b>"])
    printed = nbformat.v4.new_output("stream", name="stdout", text="a & b\n")
    shown = read(cells.outputs_html([printed, raised], "cell-1")).find_all("pre")
    assert [pre.text.strip() for pre in shown] == ["a & b", "ValueError: <b>no</b>"]
    assert shown[1]["class"] == ["output", "error"] and not shown[1].b


def test_beside_a_figure_its_picture_is_left_out_and_alone_it_is_shown():
    figure = {"data": [], "layout": {}}
    html = cells.outputs_html([shows(**{FIGURE: figure, "image/png": "iVBO\n", "text/plain": "words"})], "cell-1")
    assert "iVBO" not in html and read(html).select_one("figure.picture")
    alone = read(cells.outputs_html([shows(**{"image/png": "iVBO\n", "text/plain": "a cat"})], "cell-1"))
    assert alone.img["alt"] == "a cat" and alone.img["src"].endswith("base64,iVBO")


def test_an_output_that_no_page_can_show_is_named():
    with pytest.raises(ValueError, match=r"lesson 00: .*only \['text/latex'\]"):
        cell = nbformat.v4.new_code_cell("x", outputs=[shows(**{"text/latex": "$x$"})])
        pages.lesson_html(lesson(cell), previous=None, next=None, needs=[])


# Figures.


def test_sliders_menus_and_buttons_become_controls_with_their_names():
    steps = [{"label": label, "method": "restyle", "args": [{}]} for label in ("0.5", "&lt;b&gt;")]
    layout = {
        "sliders": [{"steps": steps, "active": 1, "currentvalue": {"prefix": "silent: "}}],
        "updatemenus": [{"buttons": steps}, {"buttons": steps, "type": "buttons", "active": 1}],
    }
    menu, choices, slider = controls(layout)
    assert (slider.name, slider.steps, slider.active, slider.place) == ("silent", ["0.5", "<b>"], 1, "sliders.0")
    page = read(figure_html({"data": [], "layout": layout}, "words", "cell-1"))
    assert page.select_one("[type=range]")["aria-valuetext"] == "<b>"
    assert [option.text for option in page.find_all("option")] == ["0.5", "<b>"]
    assert [radio.has_attr("checked") for radio in page.select("[type=radio]")] == [False, True]
    assert menu.kind == "menu" and choices.kind == "choices"


def test_a_film_has_one_button_and_a_control_that_does_something_unknown_is_refused():
    steps = [{"label": "0", "method": "animate", "args": [["0"]]}]
    layout = {"sliders": [{"steps": steps}], "updatemenus": [{"type": "buttons", "buttons": steps * 2}]}
    film = {"data": [], "layout": layout, "frames": [{"name": "0", "data": []}]}
    page = read(figure_html(film, "words", "cell-1"))
    assert [button["data-plays"] for button in page.select(".play")] == ["sliders.0"]
    with pytest.raises(ValueError, match=r"may call .*restyle.*, not \['animate'\]"):
        figure_html({"data": [], "layout": layout}, "words", "cell-1")


def test_case_126_a_token_that_ends_a_script_spills_nothing_on_to_the_page():
    tokens = ["</script>", "<!--", "<script>", "&lt;", "\u2028", "after"]
    figure = figures.token_strip(tokens)
    bundle = figure._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell(repr(tokens), outputs=[shows(**bundle)])
    html = pages.lesson_html(lesson(cell), previous=None, next=None, needs=[])
    page = read(html)
    data = page.select_one("figure script").string
    assert not set("<>&\u2028") & set(data) and json.loads(data)["data"] == bundle[FIGURE]["data"]
    assert page.figcaption.text.endswith(bundle["text/plain"])
    assert len(page.find_all("script")) == 4  # three files, and this figure's data


def test_case_129_what_is_no_number_is_no_json_either():
    assert json_for_script(["<&>", 1.5]) == '["\\u003c\\u0026\\u003e",1.5]'
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_for_script([float("nan")])
