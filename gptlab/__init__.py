"""gptlab: how a GPT works, in a small package that the lessons compute with.

Every name here is imported when it is first used, so that ``import gptlab`` costs nothing.
"""

from importlib import import_module

_HOME = {
    "GPTConfig": "config",
    "GPT": "model",
    "Tokenizer": "tokenizer",
    "trace": "tracing",
    "intervene": "tracing",
    "next_token_probabilities": "probabilities",
    "greedy": "decoding",
    "sample": "decoding",
    "stream": "decoding",
    "beam_search": "beam",
    "load": "loading",
    "save": "loading",
    "next_token_loss": "training",
    "train": "training",
    "recorded_curve": "record",
    "check": "exercises",
    "progress": "exercises",
}
_SUBMODULES = ("world", "figures", "apps", "exercises", "finetuning")

__all__ = [*_HOME, *_SUBMODULES]


def __getattr__(name: str):
    if name in _HOME:
        return getattr(import_module(f"gptlab.{_HOME[name]}"), name)
    if name in _SUBMODULES:
        return import_module(f"gptlab.{name}")
    raise AttributeError(f"gptlab has no name {name!r}; it has {', '.join(sorted(__all__))}")


def __dir__():
    return sorted(__all__)
