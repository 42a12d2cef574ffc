"""How a token looks in a picture: never blank, never like another token, never to be taken for text it is not.

A blank is drawn ␣, a line end ⏎, a tab ⇥. Whatever else cannot be seen stands as ⟨U+00A0⟩, and bytes that are only a
part of a character as ⟨F0 9F 91⟩. These marks themselves, met in a text, are written ⟨U+2423⟩, so that no two tokens
share a label.
"""

import regex

_MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
_LOOK_BLANK = r"\u115f\u1160\u2800\u3164\uffa0"  # letters and a symbol by their category, yet nothing is to be seen
_UNSEEN = regex.compile(
    r"[\udc80-\udcff]+"  # bytes that belong to no whole character, as decoding with surrogateescape leaves them
    r"|^\p{M}+"  # accents that would sit on whatever stands before the label
    rf"|[\p{{C}}\p{{Z}}{_LOOK_BLANK}⟨⟩{''.join(_MARKS.values())}]"
)


def label(token: bytes) -> str:
    """The visible form of a token's bytes."""
    return _UNSEEN.sub(_mark, token.decode(errors="surrogateescape"))


def _mark(found: regex.Match) -> str:
    unseen = found.group()
    if unseen in _MARKS:
        return _MARKS[unseen]
    if "\udc80" <= unseen[0] <= "\udcff":
        return f"⟨{unseen.encode(errors='surrogateescape').hex(' ').upper()}⟩"
    return "".join(f"⟨U+{ord(character):04X}⟩" for character in unseen)
