"""Three states of a text that is read by byte-pair encoding, with a slider over them."""

from gptlab import figures


def example():
    words = [[[b"a", b"a", b"a"], [b" ", b"a", b"a"]], [[b"aa", b"a"], [b" ", b"aa"]], [[b"aaa"], [b" ", b"aa"]]]
    pairs = [[(b"a", b"a", 3), (b" ", b"a", 1)], [(b"aa", b"a", 1), (b" ", b"aa", 1)], [(b" ", b"aa", 1)]]
    return figures.merge_steps(words, pairs, merges=1)
