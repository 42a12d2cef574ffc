"""Softmax by plain loops in float64, for pictures of probabilities."""

import math


def softmax(logits, temperature=1.0):
    powers = [math.exp(logit / temperature) for logit in logits]
    return [power / sum(powers) for power in powers]
