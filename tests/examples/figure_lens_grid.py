"""Two tokens read after the embeddings and after two blocks."""

from gptlab import figures


def example():
    said = [[" the", " cat", " cat"], [" a", " saw", " ran"]]
    came, shown = [[0.02, 0.4, 0.9], [0.01, 0.3, 0.6]], [[0.1, 0.4, 0.9], [0.2, 0.5, 0.6]]
    return figures.lens_grid(said, {"the token that came": came, "the token shown": shown}, ["The", " cat"])
