"""Beam search, and the search through everything, over a table of next-token probabilities: lists and dicts only.

A table maps a tuple of new tokens to the probabilities of the token that follows.
"""

from math import log


def beam(table, n_tokens, width, end=None, length_penalty=0.0):
    """(tokens, log-probability), best first: the hypotheses that `width` places let through."""

    def quality(hypothesis):
        return -hypothesis[1] / max(1, len(hypothesis[0])) ** length_penalty

    open_ones, ended = [((), 0.0)], []
    for _ in range(n_tokens):
        continued = []
        for place, (tokens, log_prob) in enumerate(open_ones):
            for token, p in enumerate(table(tokens)):
                if p > 0:
                    continued.append((-(log_prob + log(p)), place, token, tokens))
        continued.sort()
        open_ones = []
        for minus_log_prob, _, token, tokens in continued[:width]:
            (ended if token == end else open_ones).append(((*tokens, token), -minus_log_prob))
    return sorted(ended + open_ones, key=quality)[:width]


def everything(table, n_tokens, end=None, length_penalty=0.0):
    """(tokens, log-probability) of every text of n_tokens, or shorter with the end mark last; best first."""

    def quality(hypothesis):
        return -hypothesis[1] / max(1, len(hypothesis[0])) ** length_penalty

    done, going_on = [], [((), 0.0)]
    for _ in range(n_tokens):
        longer = [
            ((*tokens, token), log_prob + log(p))
            for tokens, log_prob in going_on
            for token, p in enumerate(table(tokens))
            if p > 0
        ]
        done += [hypothesis for hypothesis in longer if hypothesis[0][-1] == end]
        going_on = [hypothesis for hypothesis in longer if hypothesis[0][-1] != end]
    return sorted(done + going_on, key=quality)
