"""How a token looks in a picture: never blank, never like another token, never to be taken for text it is not.

A blank is drawn ␣, a line end ⏎, a tab ⇥. Whatever else cannot be seen stands as ⟨U+00A0⟩, and bytes that are only a
part of a character as ⟨F0 9F 91⟩. These marks themselves, met in a text, are written ⟨U+2423⟩, so that no two tokens
share a label.
"""

import unicodedata
from itertools import groupby, takewhile

_MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_BRACKETS = "⟨⟩"
_LOOK_BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a symbol by their category, yet nothing is to be seen


def label(token: bytes) -> str:
    """The visible form of a token's bytes."""
    text = token.decode(errors="surrogateescape")  # makes a byte that belongs to no whole character U+DC80 … U+DCFF
    accents = "".join(takewhile(_is_accent, text))  # would sit on whatever stands before the label
    shown = "".join(map(_code_point, accents))
    for broken, run in groupby(text[len(accents) :], key=lambda character: "\udc80" <= character <= "\udcff"):
        if broken:
            shown += f"⟨{''.join(run).encode(errors='surrogateescape').hex(' ').upper()}⟩"
        else:
            shown += "".join(map(_visible, run))
    return shown


def _visible(character: str) -> str:
    if character in _MARKS:
        return _MARKS[character]
    of_ours = character in _BRACKETS or character in _MARKS.values()
    if of_ours or character in _LOOK_BLANK or not character.isprintable():
        return _code_point(character)
    return character


def _is_accent(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _code_point(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"
