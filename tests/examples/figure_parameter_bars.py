"""The parts of two models, of which a menu shows one."""

from gptlab import figures
from gptlab.config import GPTConfig


def example():
    counts = {name: GPTConfig.preset(name).parameter_count() for name in ("gpt1", "gpt2")}
    return figures.parameter_bars(counts, name="gpt2")
