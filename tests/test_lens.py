"""The logit lens against plain loops, and against the model's own last word."""

from itertools import product

import pytest
import torch
from torch import nn

from gptlab.config import GPTConfig
from gptlab.lens import logit_lens
from gptlab.model import GPT
from tests.references import transformer

SIZES = {"vocab_size": 11, "context_length": 16, "n_layers": 3, "n_heads": 2, "d_model": 8}
T, L, V = 6, 3, 11


def lively(**options):
    """A model whose norms and biases do something too."""
    torch.manual_seed(0)
    model = GPT(GPTConfig(**SIZES, **options))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model


@pytest.fixture
def ids():
    return torch.randint(V, (1, T), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("norm", "tied"), list(product(["pre", "post"], [True, False])))
def test_each_layer_is_read_as_plain_loops_read_it(norm, tied, ids):
    model = lively(norm=norm, tie_weights=tied)
    weights = transformer.weights_of(model.state_dict(), model.config)
    run = transformer.run(ids[0].tolist(), weights, n_heads=2, norm=norm, activation="gelu")
    seen = [logits[0] for logits in logit_lens(model, ids)]
    assert len(seen) == L + 1
    for logits, stream in zip(seen, run["residual"], strict=True):
        if weights["final_norm"] is not None:
            stream = [transformer.layer_norm(x, *weights["final_norm"]) for x in stream]
        read = [transformer.linear(x, weights["W_u"]) for x in stream]
        torch.testing.assert_close(logits, torch.tensor(read), atol=2e-5, rtol=1e-5)


def test_the_last_layer_says_what_the_model_says_and_no_gradient_is_recorded(ids):
    model = lively()
    *_, last = logit_lens(model, ids)
    torch.testing.assert_close(last, model(ids))
    assert not last.requires_grad
    assert torch.is_grad_enabled()


def test_the_first_layer_knows_nothing_of_the_tokens_before(ids):
    model, other = lively(), ids.clone()
    other[0, 0] = (other[0, 0] + 1) % V
    first, *_, last = logit_lens(model, ids)
    first_of_other, *_, last_of_other = logit_lens(model, other)
    assert torch.equal(first[0, -1], first_of_other[0, -1])
    assert not torch.allclose(last[0, -1], last_of_other[0, -1])


def test_ids_that_the_model_refuses_are_refused_at_the_door(ids):
    with pytest.raises(ValueError, match="context_length"):
        logit_lens(lively(), ids.repeat(1, 4))
    with pytest.raises(ValueError, match="last is 0"):
        logit_lens(lively(), ids, last=0)


def test_the_last_tokens_alone_are_read_alike(ids):
    model = lively()
    for every, last in zip(logit_lens(model, ids), logit_lens(model, ids, last=2), strict=True):
        torch.testing.assert_close(last, every[:, -2:])
