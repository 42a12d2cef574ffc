"""Supervised fine-tuning: go on training, on prompts with the answers that people wrote for them.

Nothing of the training changes but the text, and that only answers count: it is `gptlab.train` on an `AnswerCorpus`.

Axes: B rows, T tokens, V vocabulary.
"""

import random
import zlib
from collections.abc import Callable
from functools import cached_property

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from gptlab._refuse import refuse
from gptlab.corpus import IGNORE, Batch, HeldOut
from gptlab.finetuning.answers import Example, answer_batch
from gptlab.recipe import check_whole
from gptlab.tokenizer import Tokenizer


def sft_loss(logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """−log π(y_t | x, y_<t), the mean over all answer tokens of the batch, in nats.

    targets: IGNORE (-100) at prompts and padding; each token that counts weighs the same, whatever row it stands in.
    ValueError if none counts. Source: Radford et al. 2018, section 3.2; Ouyang et al. 2022, section 3.5.
    """
    if bool((targets == IGNORE).all()):
        raise refuse("targets", f"{IGNORE} throughout", "such that some answer token counts: is a prompt too long?")
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten().long(), ignore_index=IGNORE)


class AnswerCorpus:
    """Fresh examples of a task without end, for `gptlab.train`.

    `draw` makes an example of a `random.Random`. A batch is `batch_size` of them, a function of the seed and the step;
    the held-out examples are drawn from seeds that training does not use. There is no floor: of answers that may be
    given in several manners nobody says how likely each is. ValueError for a row longer than `context_length`.
    """

    def __init__(
        self,
        draw: Callable[[random.Random], Example],
        tok: Tokenizer,
        *,
        context_length: int | None = None,
        batch_size: int = 16,
        held_out_examples: int = 64,
        seed: int = 0,
    ):
        check_whole("batch_size", batch_size, at_least=1)
        check_whole("held_out_examples", held_out_examples, at_least=0)
        self.draw, self.tok, self.context_length = draw, tok, context_length
        self.batch_size, self.held_out_examples, self.seed = batch_size, held_out_examples, seed

    @property
    def settings(self) -> dict:
        drawn = "".join("".join(example) for example in self._examples("settings", 10))
        return {
            "kind": "answers",
            "checksum": zlib.crc32(drawn.encode()),
            "batch_size": self.batch_size,
            "seed": self.seed,
        }

    def batch(self, step: int) -> Batch:
        """The batch of step 0, 1, 2, …"""
        return self._batch(self._examples(f"step {step}", self.batch_size))

    @cached_property
    def held_out(self) -> HeldOut | None:
        if self.held_out_examples == 0:
            return None
        examples = self._examples("held out", self.held_out_examples)
        size = self.batch_size
        return HeldOut([self._batch(examples[i : i + size]) for i in range(0, len(examples), size)], floor=None)

    def _examples(self, name: str, count: int) -> list[Example]:
        rng = random.Random(f"{self.seed} {name}")
        return [self.draw(rng) for _ in range(count)]

    def _batch(self, examples: list[Example]) -> Batch:
        return answer_batch(examples, self.tok, context_length=self.context_length)
