"""A figure as a page of its own: whole, alone, the same each time. Whether it draws is for the browser to say."""

import re

import plotly.graph_objects as go
import pytest

from gptlab import figures
from tests.disks import little_room, names_in
from tests.examples import example
from tests.pictures import HOSTILE, words
from tests.unchecked import unchecked


def test_the_page_needs_nothing_else_and_says_in_words_what_is_to_be_seen(tmp_path):
    figure = example("figure_attention_heatmap")
    figures.save_page(figure, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert names_in(tmp_path) == ["page.html"]
    assert not re.search(r"<(script|link|img)[^>]*\s(src|href)=", page)
    assert f"<title>{words(figure)}</title>" in page and f"<figcaption>{words(figure)}</figcaption>" in page


def test_case_131_the_same_figure_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        figures.save_page(example("figure_training_film"), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_case_126_a_token_ends_no_script_and_a_title_no_element(tmp_path):
    pages = []
    for labels in (HOSTILE, ["plain"] * len(HOSTILE)):
        figures.save_page(figures.token_strip(labels, list(range(len(labels)))), tmp_path / "page", title=labels[-1])
        pages.append((tmp_path / "page").read_text(encoding="utf-8"))
    assert [page.count("</script>") for page in pages] == [pages[0].count("</script>")] * 2
    assert "<title>&lt;/script&gt;</title>" in pages[0]
    assert "<img src" not in pages[0]


def test_a_figure_of_plotly_itself_has_no_words_and_a_plain_title(tmp_path):
    figures.save_page(go.Figure(go.Bar(y=[1, 2])), tmp_path / "page")
    page = (tmp_path / "page").read_text(encoding="utf-8")
    assert "<title>gptlab</title>" in page and "<figcaption></figcaption>" in page


def test_what_is_no_figure_is_refused_and_nothing_is_written(tmp_path):
    with unchecked(), pytest.raises(ValueError, match=r"figure is .*still\(\)"):
        figures.save_page([1, 2], tmp_path / "page")
    assert names_in(tmp_path) == []


def test_on_a_full_disk_the_page_that_was_there_stays(tmp_path):
    with little_room(tmp_path / "disk", 1_000_000) as disk:
        (disk / "page").write_text("old")
        with pytest.raises(OSError, match="page was not written"):
            figures.save_page(example("figure_token_strip"), disk / "page")
        assert (disk / "page").read_text() == "old"
        assert names_in(disk) == ["page"]


def test_the_camera_of_every_figure_saves_svg():
    shown = example("figure_token_strip")._repr_mimebundle_()["application/vnd.plotly.v1+json"]
    assert shown["config"]["toImageButtonOptions"]["format"] == "svg"
    assert example("app_token_strip").figure._config["toImageButtonOptions"]["format"] == "svg"
