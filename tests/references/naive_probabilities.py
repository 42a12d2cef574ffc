"""Temperature, top-k and top-p as a reader would do them by hand: Python floats, one row, one token at a time."""

from math import exp, inf

# Where the mass before a token differs from top_p by less, rounding may decide; tests keep away from it.
CLOSE = 1e-4


def ranked(logits):
    """Token ids, the likeliest first; of equal ones the lowest id first."""
    return sorted(range(len(logits)), key=lambda token: (-logits[token], token))


def probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """The probabilities as a list, and whether a mass came too close to top_p to say which set is right."""
    best = ranked(logits)[0]
    kept = [best] if temperature == 0 else ranked(logits)[:top_k]
    weights = {}
    for token in kept:
        distance = logits[best] - logits[token]
        if distance == 0 or temperature in (0, inf):
            weights[token] = 1.0 if distance < inf else 0.0
        else:
            weights[token] = exp(-distance / temperature)
    total = sum(weights.values())
    weights = {token: weight / total for token, weight in weights.items()}

    close_call = False
    if top_p is not None and top_p < 1:
        mass, nucleus = 0.0, {}
        for token in kept:
            close_call = close_call or abs(mass - top_p) < CLOSE
            if mass >= top_p:
                break
            nucleus[token] = weights[token]
            mass += weights[token]
        weights = {token: weight / mass for token, weight in nucleus.items()}
    return [weights.get(token, 0.0) for token in range(len(logits))], close_call
