"""Token by token to a text: greedy, sampled, or streamed as it comes.

All three ask a `Window` on the text, which knows what the model has read already, for the next logits.
Axes: B batch, T tokens of the prompt, n new tokens, total = T + n, V vocabulary.
"""

import logging
from collections.abc import Callable, Iterator
from math import isfinite
from numbers import Integral

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.probabilities import Number, drawn, in_full, is_a, refuse_bad_shaping, shaped, usable_logits
from gptlab.tokenizer import TextStream, Tokenizer
from gptlab.window import Model, Window, decoding_mode

Choice = Callable[[Tensor], Tensor]

_log = logging.getLogger(__name__)


def refuse_bad_stop_token(stop_token: Number | None) -> None:
    """ValueError unless it is a token id or None."""
    if stop_token is not None and (not is_a(Integral, stop_token) or stop_token < 0):
        raise refuse("stop_token", stop_token, "a token id, or None, which never ends a text")


def greedy(
    model: Model,
    ids: Tensor,
    max_new_tokens: int,
    *,
    stop_token: int | None = None,
    cache: bool = True,
    precision: str = "float32",
    on_slide: Callable[[str], object] = _log.warning,
) -> Int64[Tensor, "B total"]:
    """Append the likeliest token (of several, the lowest id) again and again: (B,T) int64 ids to (B,T+n).

    The prompt comes first. A row that reaches `stop_token` has ended: stop tokens fill it up, and the other rows go
    on; None never ends one. `cache` keeps keys and values rather than reading the text anew, the tokens are the same.
    `precision` "bfloat16" lets weights be read in half precision where that is faster: logits then err by about 1 % of
    their spread, and a near tie may fall otherwise. Past the context length the window slides (see `Window`) and
    `on_slide` is told so, once; by default it logs a warning. The model is left in the mode it was in. ValueError for
    ids the model refuses, for no token to start from, and for logits of NaN.
    """
    window = Window(model, ids, max_new_tokens, cache, precision, on_slide)
    return _complete(model, window, max_new_tokens, _likeliest, stop_token)


def sample(
    model: Model,
    ids: Tensor,
    max_new_tokens: int,
    temperature: Number = 1.0,
    top_k: Number | None = None,
    top_p: Number | None = None,
    generator: torch.Generator | int | None = None,
    *,
    stop_token: int | None = None,
    cache: bool = True,
    precision: str = "float32",
    on_slide: Callable[[str], object] = _log.warning,
) -> Int64[Tensor, "B total"]:
    """Append tokens drawn from `next_token_probabilities` again and again: (B,T) int64 ids to (B,T+n).

    Each token costs one uniform number u of [0, 1): it is the first whose probability, added to those of all ids before
    it, exceeds u.
    generator: a seed or a torch.Generator, so that a call can be repeated; None draws differently each time. torch's
    global random state is neither read nor changed. Temperature 0 is `greedy` and draws nothing. The other options,
    and what is refused, as in `greedy` and `next_token_probabilities`.
    """
    choose = _sampler(temperature, top_k, top_p, generator)
    window = Window(model, ids, max_new_tokens, cache, precision, on_slide)
    return _complete(model, window, max_new_tokens, choose, stop_token)


def stream(
    model: Model,
    tok: Tokenizer,
    prompt: str,
    max_new_tokens: int = 100,
    temperature: Number = 1.0,
    top_k: Number | None = None,
    top_p: Number | None = None,
    generator: torch.Generator | int | None = None,
    *,
    stop: bool = True,
    cache: bool = True,
    precision: str = "float32",
    on_slide: Callable[[str], object] = _log.warning,
) -> Iterator[str]:
    """What `sample` appends to a prompt, as text, a piece as soon as it can be read.

    A character of several tokens comes when its last one has come: the pieces joined are `tok.decode` of the new
    tokens. The model reads `prompt_ids(tok, prompt)`, so an empty prompt begins a text. At end-of-text the stream is
    over, and the mark not part of it; stop=False writes it out and goes on. Between two pieces the model is in the
    mode that the caller gave it. Bad input is refused by the call itself, as in `sample`.
    """
    choose = _sampler(temperature, top_k, top_p, generator)
    window = Window(model, prompt_ids(tok, prompt), max_new_tokens, cache, precision, on_slide)
    steps = _steps(window, max_new_tokens, choose, tok.end_of_text if stop else None)
    return _readable(model, tok, steps, tok.end_of_text if stop else None)


def prompt_ids(tok: Tokenizer, prompt: str) -> Int64[Tensor, "1 T"]:
    """The ids of a prompt behind end-of-text, which is what a model in training sees before a text begins.

    A tokenizer without that token (GPT-1's) has nothing to begin an empty prompt with: ValueError.
    """
    ids = [*([] if tok.end_of_text is None else [tok.end_of_text]), *tok.encode(prompt)]
    if not ids:
        raise refuse("prompt", prompt, "some text: this tokenizer has no token that begins a text")
    return torch.tensor([ids])


def _readable(
    model: Model, tok: Tokenizer, steps: Iterator[Int64[Tensor, " 1"]], stop_token: int | None
) -> Iterator[str]:
    text = TextStream(tok)
    while True:
        with decoding_mode(model):
            tokens = next(steps, None)
        if tokens is None or int(tokens) == stop_token:
            break
        if piece := text.push(int(tokens)):
            yield piece
    if rest := text.finish():
        yield rest


def _complete(
    model: Model, window: Window, max_new_tokens: int, choose: Choice, stop_token: int | None
) -> Int64[Tensor, "B total"]:
    with decoding_mode(model):
        for _ in _steps(window, max_new_tokens, choose, stop_token):
            pass
    if stop_token is not None:
        window.fill(stop_token)
    return window.text


def _steps(
    window: Window, max_new_tokens: int, choose: Choice, stop_token: int | None
) -> Iterator[Int64[Tensor, " B"]]:
    """One token a row at a time, until all rows have ended; an ended row gets stop tokens."""
    refuse_bad_stop_token(stop_token)
    ended = torch.zeros(len(window.text), dtype=torch.bool, device=window.text.device)
    for _ in range(max_new_tokens):
        tokens = choose(window.next_logits())
        if stop_token is not None:
            tokens = tokens.masked_fill(ended, stop_token)
            ended |= tokens == stop_token
        window.append(tokens)
        yield tokens
        if stop_token is not None and ended.all():
            return


def _likeliest(logits: Float[Tensor, "B V"]) -> Int64[Tensor, " B"]:
    highest, tokens = logits.max(-1)  # torch: the first of several
    finite = isfinite(highest if highest.numel() == 1 else highest.sum())
    return tokens if finite else usable_logits(logits).argmax(-1)


def _sampler(
    temperature: Number, top_k: Number | None, top_p: Number | None, generator: torch.Generator | int | None
) -> Choice:
    refuse_bad_shaping(temperature, top_k, top_p)
    if temperature == 0:
        return _likeliest
    if not isinstance(generator, torch.Generator):
        seed, generator = generator, torch.Generator()
        if seed is not None and not is_a(Integral, seed):
            raise refuse("generator", seed, "a torch.Generator, a whole number as its seed, or None")
        generator.seed() if seed is None else generator.manual_seed(seed)

    def draw(logits: Float[Tensor, "B V"]) -> Int64[Tensor, " B"]:
        numbers = torch.rand(len(logits), 1, dtype=torch.float64, generator=generator, device=generator.device)
        tokens = drawn(shaped(in_full(logits), temperature, top_k, top_p), numbers)
        # Looked at closely only where nothing could be drawn: that is rare, and each look costs a small model much.
        return drawn(shaped(usable_logits(logits), temperature, top_k, top_p), numbers) if tokens is None else tokens

    return draw
