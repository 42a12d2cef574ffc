"""Where the parameters of GPT-3 are."""

from gptlab import apps


def example():
    return apps.parameter_counter("gpt3")
