"""The stretch of a text that a model reads, and how it comes to the logits of the next token.

Axes: B batch, T tokens so far, V vocabulary.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from numbers import Integral
from sys import maxsize

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from gptlab._refuse import refuse
from gptlab.cache import Cache
from gptlab.fast_decoding import OneMore, suitable_threads
from gptlab.model import evaluation_mode
from gptlab.probabilities import is_a

Model = Callable[..., Tensor]


class Window:
    """The stretch of a text that the model reads, and how much of it stands in the cache already.

    Of a prompt longer than the model's context length C the last C tokens are read. When the text grows past C, the
    oldest quarter of the window is dropped and the cache is built anew, so that most steps stay cheap. Without a
    cache the same stretch is read anew at every step, which gives the same logits. `on_slide` is told the first
    time that the beginning falls out of sight, in a sentence.

    `model` may be any function from (B,T) ids to (B,T,V) logits: without `config` it has no context length, without
    `hidden` no cache. One new token a row is read the short way where `OneMore` does what the model would; `rows` tells
    it how many rows there will be, if not as many as `ids` has, and `precision` how to read weights.
    """

    def __init__(
        self,
        model: Model,
        ids: Tensor,
        max_new_tokens: int,
        cache: bool,
        precision: str,
        on_slide: Callable[[str], object],
        rows: int | None = None,
    ) -> None:
        if not isinstance(ids, Tensor) or ids.ndim != 2 or ids.numel() == 0:
            shape = tuple(ids.shape) if isinstance(ids, Tensor) else type(ids)
            raise refuse("ids' shape", shape, "(batch, tokens), a tensor with a token a row at least: say end-of-text")
        if not is_a(Integral, max_new_tokens) or max_new_tokens < 0:
            raise refuse("max_new_tokens", max_new_tokens, "a whole number of at least 0")
        if precision not in ("float32", "bfloat16"):
            raise refuse("precision", precision, "'float32' or 'bfloat16'")
        config = getattr(model, "config", None)
        self._model, self._on_slide = model, on_slide
        self._context = config.context_length if config else maxsize
        self._text = torch.cat([ids, ids.new_zeros(len(ids), max_new_tokens)], dim=1)  # room for what comes
        self._start, self._end = 0, ids.shape[1]
        self._cache = self._one_more = None
        if cache and hasattr(model, "hidden"):
            self._cache = Cache(config.n_layers, min(self._context, self._text.shape[1]))
            if OneMore.takes(model):
                self._one_more = OneMore(model, self._cache, rows or len(ids), max_new_tokens, precision == "bfloat16")
        if self._end > self._context:
            self._drop(self._end - self._context)

    @property
    def text(self) -> Int64[Tensor, "B T"]:
        """Prompt and new tokens so far."""
        return self._text[:, : self._end]

    def next_logits(self) -> Float[Tensor, "B V"]:
        """Logits of the token after the text; the model reads what it has not read yet."""
        if self._end - self._start > self._context:
            self._drop(max(1, self._context // 4))
        n_read = 0 if self._cache is None else self._cache.length
        unread = self._text[:, self._start + n_read : self._end]
        if n_read > 0 and unread.shape[1] == 1 and self._one_more and self._one_more.stands_for():
            return self._one_more(unread[:, 0])
        with torch.no_grad():
            if self._cache is None:
                return self._model(unread)[:, -1]
            return self._model.unembed(self._model.hidden(unread, self._cache)[:, -1])

    def append(self, tokens: Int64[Tensor, " B"]) -> None:
        """One more token a row."""
        self._text.select(1, self._end).copy_(tokens)
        self._end += 1

    def fill(self, token: int) -> None:
        """The room that is left, with one token."""
        self._text[:, self._end :] = token
        self._end = self._text.shape[1]

    def select(self, rows: Int64[Tensor, " rows"]) -> None:
        """Make row i what row rows[i] was; a row may come twice or not at all (beam search)."""
        self._text = self._text[rows]
        if self._cache is not None:
            self._cache.select(rows)

    def _drop(self, n_tokens: int) -> None:
        if self._start == 0:
            self._on_slide(f"The text is longer than the model's context of {self._context} tokens; it reads the end.")
        self._start += n_tokens
        if self._cache is not None:
            self._cache.reset()


@contextmanager
def decoding_mode(model: Model) -> Iterator[None]:
    """The model's evaluation mode, and as many threads as it is worth; a plain function has no mode."""
    with suitable_threads(model), evaluation_mode(model) if isinstance(model, nn.Module) else nullcontext():
        yield
