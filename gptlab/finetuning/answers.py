"""Answers to prompts: what is learned from, what is scored, what is sampled.

A row is `<|endoftext|>` + prompt + answer + `<|endoftext|>`. Only the answer and its end are targets: the prompt is
given, the model is not to learn to write prompts, and padding behind the end is nothing at all. The probability of an
answer is the product over its tokens, π(y | x) = Π_t π(y_t | x, y_<t), so its logarithm is a sum over targets.

Axes: B rows, T tokens of the longest row, V vocabulary.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.corpus import IGNORE, Batch
from gptlab.decoding import prompt_ids, sample
from gptlab.model import GPT, evaluation_mode
from gptlab.tokenizer import Tokenizer

Ids = Sequence[int]


class Example(NamedTuple):
    """A prompt and the answer that is to follow it; the answer begins with its blank."""

    prompt: str
    answer: str


def answer_batch(examples: Sequence[Example], tok: Tokenizer, *, context_length: int | None = None) -> Batch:
    """Prompts with their answers, side by side: inputs and targets (B,T), IGNORE wherever no answer is.

    Each answer is followed by the end-of-text token, which is a target too: else no model would learn to stop.
    ValueError for no example, an empty answer, and a row that does not fit into `context_length` tokens of input.
    """
    for number, example in enumerate(examples):
        if not example.answer:
            raise refuse(f"the answer of example {number}", example.answer, "some text: nothing could be learned")
    prompts = [prompt_ids(tok, example.prompt)[0].tolist() for example in examples]
    answers = [[*tok.encode(example.answer), tok.end_of_text] for example in examples]
    return masked_batch(prompts, answers, context_length=context_length)


def masked_batch(prompts: Sequence[Ids], answers: Sequence[Ids], *, context_length: int | None = None) -> Batch:
    """The same from ids: each prompt begins with end-of-text, each answer holds its end if it has one.

    For what a model has sampled: its text, encoded anew, might be cut into other tokens than those it drew.
    """
    if not prompts or len(prompts) != len(answers):
        raise refuse("the numbers of prompts and answers", (len(prompts), len(answers)), "equal, and at least 1")
    longest = max(len(prompt) + len(answer) for prompt, answer in zip(prompts, answers, strict=True)) - 1
    if context_length is not None and longest > context_length:
        raise refuse(
            "the length of a prompt with its answer", longest, f"at most the context of {context_length} tokens"
        )
    inputs = torch.zeros(
        len(prompts), longest, dtype=torch.long
    )  # padding comes last, where no target looks back at it
    targets = torch.full((len(prompts), longest), IGNORE)
    for row, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
        if not prompt or not answer:
            raise refuse(f"row {row}", (list(prompt), list(answer)), "a prompt and an answer of a token each at least")
        ids = torch.tensor([*prompt, *answer])
        inputs[row, : len(ids) - 1] = ids[:-1]
        targets[row, len(prompt) - 1 : len(ids) - 1] = ids[len(prompt) :]
    return Batch(inputs, targets)


def token_log_probs(model: GPT, batch: Batch) -> Float[Tensor, "B T"]:
    """log π of each target given all before it, in nats; 0 where there is none. Carries the model's gradient.

    Only hidden vectors in front of a target are turned into logits, which spares most of the work in the vocabulary.
    """
    counted = batch.targets != IGNORE
    logits = model.unembed(model.hidden(batch.inputs)[counted])
    found = -F.cross_entropy(logits, batch.targets[counted], reduction="none")
    return torch.zeros(counted.shape, dtype=found.dtype).masked_scatter(counted, found)


def answer_log_probs(model: GPT, batch: Batch) -> Float[Tensor, " B"]:
    """log π(y | x) of each row's answer, its end included: a sum, so a longer answer is less probable."""
    return token_log_probs(model, batch).sum(1)


@torch.no_grad()
def answer_kl(model: GPT, reference: GPT, batch: Batch) -> Float[Tensor, " B"]:
    """Σ_t KL(π‖π_ref) of the next token, over the targets of each row, exact at each.

    If the rows were sampled from `model`, the mean is an estimate of KL between the answers' distributions (chain rule:
    Cover and Thomas 2006, theorem 2.5.3). Never negative.
    """
    counted = batch.targets != IGNORE
    with evaluation_mode(model), evaluation_mode(reference):
        log_p, log_q = (one.unembed(one.hidden(batch.inputs)[counted]).log_softmax(-1) for one in (model, reference))
    kl = (log_p.exp() * (log_p - log_q)).sum(-1).clamp(min=0)
    return torch.zeros(counted.shape, dtype=kl.dtype).masked_scatter(counted, kl).sum(1)


@torch.no_grad()
def exact_matches(model: GPT, batch: Batch) -> Bool[Tensor, " B"]:
    """Whether greedy decoding would write each row's answer, its end included, token for token.

    It would just when each token is the likeliest behind those before it, so one pass over the answers suffices.
    """
    counted = batch.targets != IGNORE
    with evaluation_mode(model):
        likeliest = model.unembed(model.hidden(batch.inputs)[counted]).argmax(-1)
    right = torch.ones_like(counted).masked_scatter(counted, likeliest == batch.targets[counted])
    return right.all(1)


def sample_answers(
    model: GPT,
    tok: Tokenizer,
    prompts: Sequence[str],
    max_new_tokens: int,
    *,
    temperature: float | int = 1.0,
    generator: torch.Generator | int | None = None,
) -> list[list[int]]:
    """An answer for each prompt, as ids, the end-of-text token last where the model came to it.

    Prompts of equal length are read side by side, with one cache. `generator` as in `gptlab.sample`.
    """
    if not isinstance(generator, torch.Generator):
        seed, generator = generator, torch.Generator()
        generator.seed() if seed is None else generator.manual_seed(seed)
    rows = [prompt_ids(tok, prompt)[0] for prompt in prompts]
    of_length = defaultdict(list)
    for number, row in enumerate(rows):
        of_length[len(row)].append(number)
    answers: list[list[int]] = [[] for _ in rows]
    for length, numbers in of_length.items():
        ids = torch.stack([rows[number] for number in numbers])
        texts = sample(model, ids, max_new_tokens, temperature, generator=generator, stop_token=tok.end_of_text)
        for number, new in zip(numbers, texts[:, length:].tolist(), strict=True):
            end = new.index(tok.end_of_text) + 1 if tok.end_of_text in new else len(new)
            answers[number] = new[:end]
    return answers
