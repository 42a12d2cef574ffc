"""Which tokenizer a word on the command line means."""

from pathlib import Path
from typing import TYPE_CHECKING

from gptlab._refuse import refuse

if TYPE_CHECKING:  # tiktoken costs the others their quick start
    from gptlab.tokenizer import Tokenizer

WHICH = "gpt2, small-world, a tokenizer's file or a model's folder"


def tokenizer(name: str) -> "Tokenizer":
    """GPT-2's, the small world's, one from a file, or that of a model."""
    from gptlab.tokenizer import Tokenizer

    if name == "gpt2":
        return Tokenizer.gpt2()
    if name == "small-world":
        return Tokenizer.small_world()
    if Path(name).is_file():
        return Tokenizer.load(name)
    if not Path(name).is_dir():
        raise refuse("--tokenizer", name, f"{WHICH}; there is nothing of that name")

    from gptlab.loading import load

    tok = load(name)[1]
    if tok is None:
        raise refuse("--tokenizer", name, "a model that was saved with its tokenizer")
    return tok
