"""A tokenizer of Hugging Face's `tokenizers` with the methods of ours, for what tiktoken cannot do.

GPT-1's is of this kind: it lowers all letters, parts at blanks and punctuation, and marks the end of a word.
"""

from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex

from gptlab._refuse import refuse
from gptlab.labels import label
from gptlab.tokenizer import END_OF_TEXT, Piece, Tokenizer

END_OF_WORD = "</w>"


class WrappedTokenizer(Tokenizer):
    """Turns text into ids and ids into text as the wrapped tokenizer does; what it drops (capitals) stays dropped."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._inner.encode_special_tokens = True  # that library's name for: read them as ordinary text

    @property
    def vocab_size(self) -> int:
        return self._inner.get_vocab_size()

    @property
    def end_of_text(self) -> int | None:
        """The id of ``<|endoftext|>``; None where there is none, as in GPT-1."""
        return self._inner.token_to_id(END_OF_TEXT)

    def __repr__(self) -> str:
        return f"<WrappedTokenizer: {self.vocab_size:,} tokens>"

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """The ids of a text; special tokens in it are ordinary text unless `special`."""
        self._inner.encode_special_tokens = not special
        try:
            return self._inner.encode(text, add_special_tokens=False).ids
        finally:
            self._inner.encode_special_tokens = True

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of some ids."""
        return self._inner.decode(self._known(ids), skip_special_tokens=False)

    def decode_bytes(self, ids: Iterable[SupportsIndex]) -> bytes:
        """The bytes of some ids, end to end."""
        return b"".join(map(self.token_bytes, ids))

    def token_bytes(self, id: SupportsIndex) -> bytes:
        """The bytes of one token; the mark that ends a word is a blank."""
        token = self._inner.id_to_token(self._known([id])[0])
        return (token.removesuffix(END_OF_WORD) + " " * token.endswith(END_OF_WORD)).encode()

    def pieces(self, text_or_ids: str | Iterable[SupportsIndex]) -> list[Piece]:
        """A text, or ids, as the pieces that a picture shows."""
        ids = self.encode(text_or_ids) if isinstance(text_or_ids, str) else self._known(text_or_ids)
        tokens = [self.token_bytes(id) for id in ids]
        return [Piece(id, token, label(token), token.decode()) for id, token in zip(ids, tokens, strict=True)]

    def _known(self, ids: Iterable[SupportsIndex]) -> list[int]:
        ids = [index(id) for id in ids]
        for place, id in enumerate(ids):
            if not 0 <= id < self.vocab_size:
                raise refuse(f"ids[{place}]", id, f"a token id, a whole number from 0 to {self.vocab_size - 1}")
        return ids
