"""Loss, gradient and AdamW in plain loops over Python floats (float64); no code of the package's.

Symbols are those of the papers: X is one-hot, P what the model gives, θ a parameter, g its gradient.
"""

import math


def probabilities(logits):
    """A row of P: softmax of a row of logits."""
    largest = max(logits)
    powers = [math.exp(z - largest) for z in logits]
    return [power / sum(powers) for power in powers]


def text_loss(logits, ids):
    """L_p = −Σ_{i=0}^{N−2} Σ_j X_{i+1,j} log P_{i,j}: a sum over positions (GPT-1's equation 1)."""
    total = 0.0
    for i in range(len(ids) - 1):
        P = probabilities(logits[i])
        for j in range(len(P)):
            X = 1.0 if ids[i + 1] == j else 0.0
            if X:
                total -= X * math.log(P[j])
    return total


def text_loss_gradient(logits, ids):
    """∂L_p/∂Z_{i,j} = P_{i,j} − X_{i+1,j}, and 0 in the last row, which predicts nothing."""
    rows = []
    for i in range(len(ids) - 1):
        P = probabilities(logits[i])
        rows.append([P[j] - (1.0 if ids[i + 1] == j else 0.0) for j in range(len(P))])
    return [*rows, [0.0] * len(logits[-1])]


def adamw(theta, gradients, rates, beta1, beta2, decay, epsilon=1e-8):
    """One number θ after as many steps of AdamW as there are gradients (Loshchilov & Hutter 2019, algorithm 2)."""
    m = v = 0.0
    for t, (g, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        theta = theta - rate * decay * theta - rate * m_hat / (math.sqrt(v_hat) + epsilon)
    return theta
