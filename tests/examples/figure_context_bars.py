"""What comes after "the cat saw the", read back to one word, two and four."""

from gptlab import figures


def example():
    models = {1: [0.3, 0.2, 0.1, 0.4], 2: [0.4, 0.3, 0.1, 0.2], 4: [0.8, 0.1, 0.05, 0.05]}
    labels, words = [" cat", " dog", " tower"], ["the", " cat", " saw", " the"]
    return figures.context_bars(labels, models, words=words, truth=[0.9, 0.1, 0, 0], n_others=97, k=2, still=True)
