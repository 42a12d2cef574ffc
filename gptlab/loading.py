"""Load a model from wherever it lies, save it in whichever layout: our own checkpoints, Hugging Face's, and its hub."""

import os

import torch
from torch import nn

from gptlab import checkpoint, huggingface
from gptlab._refuse import refuse
from gptlab.hub import PREFIX, PUBLISHED, fetch
from gptlab.huggingface_tokenizer import read_tokenizer, write_tokenizer
from gptlab.model import GPT
from gptlab.storage import standing
from gptlab.tokenizer import Tokenizer
from gptlab.wrapped_tokenizer import WrappedTokenizer

LAYOUTS = ("gptlab", "huggingface")


def load(name_or_path: str | os.PathLike) -> tuple[GPT, Tokenizer | None]:
    """A model and its tokenizer.

    Args:
        name_or_path: a folder that `save` wrote, or one in Hugging Face's layout of a GPT-1 or GPT-2; the name of a
            model that comes with the package ("small-world"); or one to be fetched from the hub: "gpt2",
            "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt1", or "hub:owner/name".
    Returns:
        the model in float32 and in evaluation mode, and its tokenizer, or None where none was saved.
    Raises:
        ValueError: in one line with the path, for what does not exist, is damaged or does not fit together.
        ConnectionError, ImportError: a sentence that says what to do, for what the hub cannot give now.

    A network is asked for names of the hub alone, and no pickle is ever opened.
    """
    if isinstance(name_or_path, str) and (name_or_path in PUBLISHED or name_or_path.startswith(PREFIX)):
        folder = fetch(name_or_path)
    else:
        folder = standing(name_or_path)
        if not huggingface.is_theirs(folder):
            return checkpoint.load(name_or_path)
    model = huggingface.read_model(folder)
    return model.eval(), read_tokenizer(folder, "gpt2" if model.config.norm == "pre" else "openai-gpt")


def save(
    path: str | os.PathLike,
    model: nn.Module,
    tok: Tokenizer | None = None,
    dtype: torch.dtype | None = None,
    *,
    layout: str = "gptlab",
) -> None:
    """Write a GPT and its tokenizer to the folder `path`, which takes the old one's place when it is complete.

    Interrupted, killed or out of disk at any moment, what was there before stays and can be loaded. Other files in
    the folder are kept. dtype is what the weights are stored in, their own type if None: torch.float16 halves the
    file and keeps three digits. layout "huggingface" is GPT-2's of that name, for pre-norm, or GPT-1's, for post-norm,
    which `transformers` opens. ValueError for a path that is a file or has folders in it, for a dtype that cannot hold
    the weights, and for a model that the layout cannot hold; OSError where the disk does not take them.
    """
    if layout not in LAYOUTS:
        raise refuse("layout", layout, " or ".join(map(repr, LAYOUTS)))
    if isinstance(tok, WrappedTokenizer):
        raise refuse("tok", tok, "a tokenizer of gptlab's own, or None: a wrapped one is kept by copying its files")
    if layout == "gptlab":
        checkpoint.save(path, model, tok, dtype)
        return

    def write(folder: checkpoint.Path) -> None:
        huggingface.write_model(folder, model, None if tok is None else tok.end_of_text, dtype)
        if tok is not None:
            write_tokenizer(folder, tok)

    checkpoint.write_checkpoint(path, write)
