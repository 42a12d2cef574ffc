"""A text at three temperatures."""

from gptlab import figures


def example():
    texts = {0.0: " sat on the mat.", 1.0: " saw a dog in the garden.", 2.0: " twelve spoon was. Garden?"}
    return figures.generated_text("The cat", texts)
