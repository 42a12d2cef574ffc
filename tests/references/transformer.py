"""A transformer in plain loops over Python floats (float64): slow, and so short that it can be checked by eye.

It shares no code with the package and names its weights after the papers. A vector is a list, a matrix a list of
rows, and a vector meets a matrix from the left: y_j = Σ_i x_i W[i][j] + b_j.
"""

import math


def softmax(numbers):
    """exp(x_i) / Σ exp(x_j), shifted by the largest; -inf counts as 0."""
    largest = max(numbers)
    powers = [math.exp(x - largest) for x in numbers]
    return [power / sum(powers) for power in powers]


def linear(x, W, b=None):
    out = []
    for j in range(len(W[0])):
        total = 0.0 if b is None else b[j]
        for i in range(len(x)):
            total += x[i] * W[i][j]
        out.append(total)
    return out


def add(x, y):
    return [a + b for a, b in zip(x, y, strict=True)]


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def layer_norm(x, scale, shift):
    """(x - mean) / √(variance + 1e-5), scaled and shifted; the variance is the population's."""
    mean = sum(x) / len(x)
    variance = sum((a - mean) ** 2 for a in x) / len(x)
    return [(a - mean) / math.sqrt(variance + 1e-5) * s + t for a, s, t in zip(x, scale, shift, strict=True)]


def activate(name, x):
    if name == "relu":
        return x if x > 0 else 0.0
    if name == "gelu":  # x times the normal distribution's mass below x
        return x * (1 + math.erf(x / math.sqrt(2))) / 2
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def sinusoid(position, d):
    row = []
    for dimension in range(d):
        angle = position / 10000 ** (2 * (dimension // 2) / d)
        row.append(math.sin(angle) if dimension % 2 == 0 else math.cos(angle))
    return row


def attention(q, k, v, causal):
    """One head: scores before the mask, pattern, and for each token the weighted sum of values."""
    scores, pattern, out = [], [], []
    for i in range(len(q)):
        scores.append([dot(q[i], k[j]) / math.sqrt(len(q[i])) for j in range(len(k))])
        pattern.append(softmax([s if j <= i or not causal else -math.inf for j, s in enumerate(scores[i])]))
        mixed = [0.0] * len(v[0])
        for j in range(len(v)):
            mixed = add(mixed, [pattern[i][j] * a for a in v[j]])
        out.append(mixed)
    return scores, pattern, out


def heads_of(vectors, n_heads):
    """Each vector cut into n_heads pieces: [token][d] to [head][token][d / n_heads]."""
    width = len(vectors[0]) // n_heads
    return [[x[h * width : (h + 1) * width] for x in vectors] for h in range(n_heads)]


def run(ids, weights, *, n_heads, norm, activation, causal=True):
    """The forward pass over one sequence; everything computed on the way is given back by name.

    weights: W_e [V][d]; W_p [T][d] or None for sinusoids; W_u [d][V]; final_norm (scale, shift) or None; blocks, each
    a dict of W_Q b_Q W_K b_K W_V b_V W_O b_O, norm_1, W_up b_up W_down b_down, norm_2.
    """
    d = len(weights["W_e"][0])
    x = []
    for t, token in enumerate(ids):
        position = sinusoid(t, d) if weights["W_p"] is None else weights["W_p"][t]
        x.append(add(weights["W_e"][token], position))
    seen = {name: [] for name in ("attention", "scores", "q", "k", "v", "mlp")} | {"residual": [x]}

    for w in weights["blocks"]:
        entering = [layer_norm(a, *w["norm_1"]) for a in x] if norm == "pre" else x
        q, k, v = (heads_of([linear(a, w["W_" + m], w["b_" + m]) for a in entering], n_heads) for m in "QKV")
        heads = [attention(q[h], k[h], v[h], causal) for h in range(n_heads)]
        concatenated = [sum((heads[h][2][t] for h in range(n_heads)), []) for t in range(len(ids))]
        x = [add(a, linear(z, w["W_O"], w["b_O"])) for a, z in zip(x, concatenated, strict=True)]
        if norm == "post":
            x = [layer_norm(a, *w["norm_1"]) for a in x]

        entering = [layer_norm(a, *w["norm_2"]) for a in x] if norm == "pre" else x
        mlp = []
        for a in entering:
            wide = [activate(activation, b) for b in linear(a, w["W_up"], w["b_up"])]
            mlp.append(linear(wide, w["W_down"], w["b_down"]))
        x = [add(a, b) for a, b in zip(x, mlp, strict=True)]
        if norm == "post":
            x = [layer_norm(a, *w["norm_2"]) for a in x]

        found = {"q": q, "k": k, "v": v, "mlp": mlp}
        found |= {"scores": [head[0] for head in heads], "attention": [head[1] for head in heads]}
        for name, value in found.items():
            seen[name].append(value)
        seen["residual"].append(x)

    if weights["final_norm"] is not None:
        x = [layer_norm(a, *weights["final_norm"]) for a in x]
    return seen | {"logits": [linear(a, weights["W_u"]) for a in x]}


def weights_of(state, config):
    """The package's tensors, by its names, as the lists that `run` takes (plain indexing, no arithmetic)."""
    state = {name: tensor.double().tolist() for name, tensor in state.items()}
    d = config.d_model

    def transposed(matrix):
        return [list(column) for column in zip(*matrix, strict=True)]

    def bias(name, width):
        return state.get(name, [0.0] * width)

    blocks = []
    for layer in range(config.n_layers):
        at = f"blocks.{layer}."
        w = {}
        for number, name in enumerate("QKV"):
            rows = slice(number * d, (number + 1) * d)
            w["W_" + name] = transposed(state[at + "attention.qkv.weight"][rows])
            w["b_" + name] = bias(at + "attention.qkv.bias", 3 * d)[rows]
        for name, theirs, width in (
            ("O", "attention.output", d),
            ("up", "mlp.up", config.d_ff),
            ("down", "mlp.down", d),
        ):
            w["W_" + name] = transposed(state[f"{at}{theirs}.weight"])
            w["b_" + name] = bias(f"{at}{theirs}.bias", width)
        for name, theirs in (("norm_1", "attention_norm"), ("norm_2", "mlp_norm")):
            w[name] = (state[f"{at}{theirs}.weight"], bias(f"{at}{theirs}.bias", d))
        blocks.append(w)
    return {
        "W_e": state["token_embedding.weight"],
        "W_p": state.get("position_embedding"),
        "W_u": transposed(state["token_embedding.weight" if config.tie_weights else "unembedding.weight"]),
        "final_norm": (state["final_norm.weight"], bias("final_norm.bias", d)) if config.norm == "pre" else None,
        "blocks": blocks,
    }
