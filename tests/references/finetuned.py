"""Losses of fine-tuning as plain float64 loops: no tensors, no library but math."""

import math


def softmax(z):
    top = max(z)
    powers = [math.exp(x - top) for x in z]
    return [p / sum(powers) for p in powers]


def answer_log_prob(logits, prompt, answer):
    """log π(answer | prompt) of one row: logits[i] predicts the token behind position i of prompt + answer."""
    ids = [*prompt, *answer]
    return sum(math.log(softmax(logits[i - 1])[ids[i]]) for i in range(len(prompt), len(ids)))


def answer_loss(rows):
    """Mean over all answer tokens of all rows (logits, prompt, answer)."""
    total = sum(-answer_log_prob(*row) for row in rows)
    return total / sum(len(answer) for _, _, answer in rows)


def kl(p_logits, q_logits):
    p, q = softmax(p_logits), softmax(q_logits)
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def log_sigmoid(x):
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


def bradley_terry(chosen, rejected):
    return -sum(log_sigmoid(a - b) for a, b in zip(chosen, rejected, strict=True)) / len(chosen)


def dpo(policy_w, policy_l, reference_w, reference_l, beta):
    total = 0.0
    for pw, pl, rw, rl in zip(policy_w, policy_l, reference_w, reference_l, strict=True):
        total -= log_sigmoid(beta * ((pw - rw) - (pl - rl)))
    return total / len(policy_w)


def advantages(rewards, delta=1e-8):
    """Of one group."""
    mean = sum(rewards) / len(rewards)
    deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / len(rewards))
    if max(rewards) == min(rewards):
        return [0.0] * len(rewards)
    return [(r - mean) / (deviation + delta) for r in rewards]


def grpo(new, old, reference, advantage, counted, epsilon, beta):
    total = 0.0
    for i in range(len(new)):
        row = []
        for t in range(len(new[i])):
            if not counted[i][t]:
                continue
            r = math.exp(new[i][t] - old[i][t])
            clipped = min(max(r, 1 - epsilon), 1 + epsilon)
            rho = math.exp(reference[i][t] - new[i][t])
            gain = min(r * advantage[i], clipped * advantage[i])
            row.append(gain - beta * (rho - math.log(rho) - 1))
        total += sum(row) / len(row)
    return -total / len(new)
