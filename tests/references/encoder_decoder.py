"""An encoder–decoder in plain loops: the decoder's second attention, whose keys and values come from another text.

It builds on the loops of `tests.references.transformer` and shares no code with the package.
"""

from tests.references.transformer import (
    activate,
    add,
    attention,
    heads_of,
    layer_norm,
    linear,
    run,
    weights_of,
)


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def cross_weights_of(state, config):
    """The second attention of each decoder block, by the papers' names."""
    state = {name: tensor.double().tolist() for name, tensor in state.items()}
    d, found = config.d_model, []
    for layer in range(config.n_layers):
        at = f"blocks.{layer}.cross_"
        kv, b_kv = state[at + "attention.kv.weight"], state[at + "attention.kv.bias"]
        found.append({
            "norm": (state[at + "norm.weight"], state[at + "norm.bias"]),
            "W_Q": transposed(state[at + "attention.q.weight"]), "b_Q": state[at + "attention.q.bias"],
            "W_K": transposed(kv[:d]), "b_K": b_kv[:d],
            "W_V": transposed(kv[d:]), "b_V": b_kv[d:],
            "W_O": transposed(state[at + "attention.output.weight"]), "b_O": state[at + "attention.output.bias"],
        })  # fmt: skip
    return found


def joined(heads, length):
    return [sum((heads[h][t] for h in range(len(heads))), []) for t in range(length)]


def translate(source, target, encoder_state, encoder_config, decoder_state, decoder_config, n_heads):
    """Logits after each token of the target, and the cross-attention of each layer: [layer][head][t][s]."""
    encoder = weights_of(encoder_state, encoder_config)
    ran = run(source, encoder, n_heads=n_heads, norm="pre", activation="gelu", causal=False)
    memory = [layer_norm(a, *encoder["final_norm"]) for a in ran["residual"][-1]]

    weights, looks = weights_of(decoder_state, decoder_config), []
    x = [add(weights["W_e"][token], weights["W_p"][t]) for t, token in enumerate(target)]
    for w, c in zip(weights["blocks"], cross_weights_of(decoder_state, decoder_config), strict=True):
        entering = [layer_norm(a, *w["norm_1"]) for a in x]
        q, k, v = (heads_of([linear(a, w["W_" + m], w["b_" + m]) for a in entering], n_heads) for m in "QKV")
        own = joined([attention(q[h], k[h], v[h], True)[2] for h in range(n_heads)], len(x))
        x = [add(a, linear(z, w["W_O"], w["b_O"])) for a, z in zip(x, own, strict=True)]

        entering = [layer_norm(a, *c["norm"]) for a in x]
        q = heads_of([linear(a, c["W_Q"], c["b_Q"]) for a in entering], n_heads)
        k, v = (heads_of([linear(m, c["W_" + n], c["b_" + n]) for m in memory], n_heads) for n in "KV")
        heads = [attention(q[h], k[h], v[h], False) for h in range(n_heads)]
        looks.append([head[1] for head in heads])
        across = joined([head[2] for head in heads], len(x))
        x = [add(a, linear(z, c["W_O"], c["b_O"])) for a, z in zip(x, across, strict=True)]

        for t, a in enumerate([layer_norm(a, *w["norm_2"]) for a in x]):
            wide = [activate("gelu", b) for b in linear(a, w["W_up"], w["b_up"])]
            x[t] = add(x[t], linear(wide, w["W_down"], w["b_down"]))
    x = [layer_norm(a, *weights["final_norm"]) for a in x]
    return [linear(a, weights["W_u"]) for a in x], looks
