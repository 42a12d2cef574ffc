"""Labels of tokens: always something to see, and never the same for two tokens."""

from hypothesis import given
from hypothesis import strategies as st

from gptlab.labels import label


@given(st.one_of(st.text().map(str.encode), st.binary()).filter(bool), st.binary(min_size=1))
def test_case_75_labels_of_different_tokens_differ(one, other):
    assert label(one).strip() == label(one) != ""
    assert (label(one) == label(other)) == (one == other)


def test_case_75_marks_met_in_a_text_are_not_taken_for_blanks():
    assert label("␣".encode()) == "⟨U+2423⟩" != label(b" ")
    assert label("⟨8D⟩".encode()) == "⟨U+27E8⟩8D⟨U+27E9⟩" != label(b"\x8d")
    assert label("\u0301\u0301e\u0301".encode()) == "⟨U+0301⟩⟨U+0301⟩e\u0301"
    assert label("\u200d\u3164".encode()) == "⟨U+200D⟩⟨U+3164⟩"
    assert label(b"<b>&lt;$x$%{y}") == "<b>&lt;$x$%{y}"
