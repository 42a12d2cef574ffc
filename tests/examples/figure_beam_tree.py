"""Two words by searches of width 1 and 2, where the likelier first word is the beginning of the less likely text."""

import torch

from gptlab import figures
from gptlab.beam import BeamTree, beam_search

WORDS = ["cat", "dog", "sat", "ran", "slept", "barked"]
AFTER = {"cat": {"sat": 0.34, "ran": 0.33, "slept": 0.33}, "dog": {"barked": 0.9, "ran": 0.1}}


def example():
    return figures.beam_tree({width: grown(width).nodes for width in (1, 2)}, [f"␣{word}" for word in WORDS], width=2)


def grown(width):
    tree = BeamTree()
    beam_search(table, torch.tensor([[2]]), 2, width, on_step=tree.grow)
    return tree


def table(ids):
    """Any first token is followed by cat or dog, and these by what AFTER says."""
    p = torch.zeros(len(WORDS), len(WORDS))
    p[2, :2] = torch.tensor([0.6, 0.4])
    for word, following in AFTER.items():
        for next_word, probability in following.items():
            p[WORDS.index(word), WORDS.index(next_word)] = probability
    return p[ids].log()
