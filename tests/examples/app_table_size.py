"""The table of all texts, as they grow longer."""

from gptlab import apps


def example():
    return apps.table_size({"small world": 2_385, "GPT-2": 50_257})
