"""The entries of a table of all texts of four words, in three vocabularies."""

from gptlab import figures


def example():
    vocabularies = {"our example": 3, "small world": 2_385, "GPT-2": 50_257}
    return figures.table_sizes(vocabularies, length=4, lengths=range(1, 21))
