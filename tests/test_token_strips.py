"""One text cut by several tokenizers: the picture, and the apps that follow what is typed."""

import html

import pytest

from gptlab import apps, figures
from gptlab.tokenizer import Tokenizer
from tests.pictures import speech

TOKS = {"GPT-2": Tokenizer.gpt2(), "small world": Tokenizer.small_world()}
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y}"


def strips(text, toks=TOKS):
    return figures.token_strips({name: tok.pieces(text) for name, tok in toks.items()})


def labels(boxes) -> list[str]:
    return [text.split("<br>")[0] for text in boxes.text]


def test_each_strip_stands_under_its_name_and_number():
    figure = strips("The dragon's cat")
    first, _, second, _, headings = figure.data
    assert labels(first) == ["The", "␣dragon", "'s", "␣cat"]
    assert labels(second) == ["The", "␣", "d", "ra", "g", "on", "'", "s", "␣cat"]
    assert list(headings.text) == ["GPT-2: 4 tokens", "small world: 9 tokens"]
    assert headings.y[0] < min(first.y) <= max(first.y) < headings.y[1] < min(second.y)
    assert figure.layout.barmode == "overlay"


def test_a_strip_of_several_lines_pushes_the_next_one_down():
    short, long = strips("cat").data[-1].y[1], strips("cat " * 60).data[-1].y[1]
    assert long > short + 3


def test_labels_alone_have_no_ids():
    figure = figures.token_strips({"the notes": ["do", "n't"], "GPT-2": TOKS["GPT-2"].pieces("don't")})
    assert list(figure.data[0].text) == ["do", "n't"]
    assert figure.layout.meta["description"] == (
        "the notes: 2 tokens: ‘do’, ‘n't’. GPT-2: 2 tokens: ‘don’ 9099, ‘'t’ 470."
    )


def test_case_69_contractions_are_shown_as_they_are_cut():
    figure = strips("DON'T", {"GPT-2": TOKS["GPT-2"]})
    assert labels(figure.data[0]) == ["DON", "'", "T"]


def test_case_61_tokens_that_are_one_character_together_are_bracketed_in_each_strip():
    figure = strips("I 👍 it")
    for boxes, brackets in (figure.data[:2], figure.data[2:4]):
        assert [text for text in brackets.text if text] == ["👍"]
        assert max(y for y in brackets.y if y is not None) < boxes.y[0]


def test_one_token_is_said_in_the_singular_and_of_many_how_many_are_drawn():
    assert list(strips("cat").data[-1].text) == ["GPT-2: 1 token", "small world: 1 token"]
    figure = figures.token_strips({"many": ["a"] * 1000})
    assert figure.data[-1].text[0] == "many: 1,000 tokens, of which 400 are drawn" and len(figure.data[0].text) == 400


def test_no_strip_is_refused_and_an_empty_one_is_drawn():
    with pytest.raises(ValueError, match="number of strips is 0"):
        figures.token_strips({})
    assert strips("").data[-1].text[0] == "GPT-2: 0 tokens"


def test_names_and_tokens_are_never_read_as_markup():
    figure = figures.token_strips({HOSTILE: [HOSTILE[:20]]})
    heading = figure.data[-1].text[0]
    assert html.unescape(heading) == f"{HOSTILE}: 1 token" and not set("<>$%") & set(heading)
    assert "<img" not in figure.data[0].text[0] + figure.data[0].hovertext[0]


# Apps -------------------------------------------------------------------------------------------------------------


def test_all_strips_follow_what_is_typed():
    app = apps.token_strips(TOKS, "cat")
    app.box.value = "The dragon"
    assert labels(app.figure.data[0]) == ["The", "␣dragon"]
    assert labels(app.figure.data[2]) == ["The", "␣", "d", "ra", "g", "on"]
    assert app.still().to_json() == strips("The dragon").to_json()


def test_a_single_strip_follows_what_is_typed():
    app = apps.token_strip(TOKS["GPT-2"], "cat")
    app.box.value = "The dragon"
    assert labels(app.figure.data[0]) == ["The", "␣dragon"]


def test_case_59_a_typed_end_of_text_is_ordinary_text():
    app = apps.token_strips(TOKS, "<|endoftext|>")
    assert [
        f">{id}<" in text for id, text in zip([27, 91, 437, 1659, 5239, 91, 29], app.figure.data[0].text, strict=True)
    ]
    assert app.still().data[-1].text[0] == "GPT-2: 7 tokens"


@pytest.mark.parametrize("kind", ["token_strip", "token_strips"])
def test_case_65_half_a_character_is_shown_as_its_replacement_and_said(kind):
    app = getattr(apps, kind)(TOKS if kind == "token_strips" else TOKS["GPT-2"], "a")
    assert speech(app) == ""
    app.box.value = "\ud83d"
    assert ">4210<" in app.figure.data[0].text[0] and "surrogates" in speech(app)
    app.box.value = "\ud83d\udc4d"
    assert [str(id) in text for id, text in zip([41840, 235], app.figure.data[0].text, strict=True)] == [True, True]


def test_case_75_blanks_and_line_ends_are_seen():
    app = apps.token_strips(TOKS, "   x\n\n\ty")
    for boxes in (app.figure.data[0], app.figure.data[2]):
        assert not any(label.isspace() or not label for label in labels(boxes))
    assert labels(app.figure.data[0])[:3] == ["␣", "␣", "␣x"]


@pytest.mark.parametrize("text", ["", "\n\n\n", "مرحبا بالعالم", HOSTILE, "word " * 2_000])
def test_any_text_is_drawn(text):
    app = apps.token_strips(TOKS, "cat")
    app.box.value = text
    assert speech(app) == "" and app._repr_mimebundle_()["text/plain"].startswith("GPT-2: ")
