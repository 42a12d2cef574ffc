"""The neighbours of two words, of which a slider shows one."""

from gptlab import figures


def example():
    neighbours = [[" cat", " horse", " red"], [" green", " blue", " dog"]]
    return figures.neighbour_bars([" dog", " red"], neighbours, [[0.9, 0.7, 0.2], [0.8, 0.6, 0.2]])
