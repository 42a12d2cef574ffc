"""N-grams by going through the texts anew for every question: slow, and without a table."""


def followed(rows, context, token=None):
    """How often the context was followed by that token, or by any."""
    k, times = len(context), 0
    for row in rows:
        for t in range(1, len(row)):
            if t >= k and list(row[t - k : t]) == list(context) and token in (None, row[t]):
                times += 1
    return times


def probability(rows, token, context, n, vocab_size, strength):
    """The formula from its longest context downwards; no context at all comes after the equal shares."""
    context = list(context)[max(0, len(context) - (n - 1)) :]
    shorter = probability(rows, token, context[1:], n, vocab_size, strength) if context else 1 / vocab_size
    seen = followed(rows, context)
    if seen + strength == 0:
        return shorter
    return (followed(rows, context, token) + strength * shorter) / (seen + strength)
