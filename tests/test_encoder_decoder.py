"""The encoder–decoder against plain loops, what each half may see, and what is refused."""

import pytest
import torch
from torch import nn

from gptlab.config import GPTConfig
from gptlab.relatives.encoder_decoder import CrossAttention, EncoderDecoder, cross_attention, greedy_translation
from tests.references import encoder_decoder

SHAPE = {"context_length": 8, "n_layers": 2, "n_heads": 2, "d_model": 8}
SOURCE = GPTConfig(11, causal=False, **SHAPE)
TARGET = GPTConfig(13, **SHAPE)


@pytest.fixture
def model():
    """Every weight matters: at GPT-2's 0.02 a wrong formula could pass for a rounding error."""
    model = EncoderDecoder(SOURCE, TARGET).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model


@pytest.fixture
def source():
    return torch.randint(11, (2, 5))


@pytest.fixture
def target():
    return torch.randint(13, (2, 4))


def test_logits_and_looks_are_those_of_plain_loops(model, source, target):
    looks = cross_attention(model, source, target)
    for row in range(2):
        expected, seen = encoder_decoder.translate(
            source[row].tolist(), target[row].tolist(), model.encoder.state_dict(), SOURCE,
            model.decoder.state_dict(), TARGET, n_heads=2,
        )  # fmt: skip
        expected = torch.tensor(expected)
        assert expected.std() > 0.1
        torch.testing.assert_close(model(source, target)[row], expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(looks[:, row], torch.tensor(seen), atol=1e-5, rtol=1e-5)


def test_cross_attention_is_torchs_own_with_the_same_weights():
    ours, theirs = CrossAttention(TARGET), nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.q.weight, ours.kv.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.q.bias, ours.kv.bias]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)
    x, memory = torch.randn(3, 4, 8), torch.randn(3, 6, 8)
    torch.testing.assert_close(ours(x, memory), theirs(x, memory, memory)[0], atol=1e-5, rtol=1e-5)


def test_a_later_word_of_the_target_changes_nothing_before_it(model, source, target):
    other = target.clone()
    other[:, 2] = (target[:, 2] + 1) % 13
    before, after = model(source, target), model(source, other)
    assert torch.equal(before[:, :2], after[:, :2])
    assert (before[:, 2:] != after[:, 2:]).any(-1).all()


def test_any_word_of_the_source_changes_every_memory_and_every_logit(model, source, target):
    other = source.clone()
    other[:, -1] = (source[:, -1] + 1) % 11
    assert (model.encode(source) != model.encode(other)).any(-1).all()
    assert (model(source, target) != model(other, target)).any(-1).all()


def test_rows_of_a_batch_know_nothing_of_each_other(model, source, target):
    both = model(source, target)
    for row in (0, 1):
        alone = model(source[row : row + 1], target[row : row + 1])
        torch.testing.assert_close(both[row : row + 1], alone, atol=1e-5, rtol=1e-5)


def test_looks_sum_to_1_and_watching_changes_nothing(model, source, target):
    before = model(source, target)
    model.train()
    looks = cross_attention(model, source, target)
    assert looks.shape == (2, 2, 2, 4, 5)
    torch.testing.assert_close(looks.sum(-1), torch.ones(2, 2, 2, 4))
    assert model.training and torch.equal(model.eval()(source, target), before)
    points = [block.cross_attention.pattern_point for block in model.decoder.blocks]
    assert not any(point._forward_hooks for point in points)


def test_greedy_translation_takes_the_likeliest_at_each_step_until_every_row_has_ended(model, source):
    told = greedy_translation(model, source, end=0)
    for row in range(2):
        so_far = [0]
        while len(so_far) < SHAPE["context_length"]:
            so_far.append(int(model(source[row : row + 1], torch.tensor([so_far]))[0, -1].argmax()))
            if so_far[-1] == 0:
                break
        ids = told[row].tolist()
        assert ids[: len(so_far)] == so_far
        assert set(ids[len(so_far) :]) <= {0}
    assert greedy_translation(model, source, end=0, max_tokens=1).tolist() == [[0], [0]]


@pytest.mark.parametrize("max_tokens", [0, -1, 9])
def test_a_limit_out_of_range_is_refused(model, source, max_tokens):
    with pytest.raises(ValueError, match=f"max_tokens is {max_tokens}, but must be from 1 to the decoder's context, 8"):
        greedy_translation(model, source, end=0, max_tokens=max_tokens)


@pytest.mark.parametrize(
    ("source", "target", "named"),
    [
        ({"causal": True}, {}, "source.causal is True, but must be False: an encoder sees both ways"),
        ({}, {"causal": False}, "target.causal is False"),
        ({}, {"d_model": 16}, "target.d_model is 16, but must be the source's, 8"),
        ({"norm": "post"}, {}, "source.norm is 'post'"),
        ({}, {"norm": "post"}, "target.norm is 'post'"),
    ],
)
def test_halves_that_do_not_fit_are_refused(source, target, named):
    with pytest.raises(ValueError, match=named):
        EncoderDecoder(
            GPTConfig.from_dict(SOURCE.to_dict() | source),
            GPTConfig.from_dict(TARGET.to_dict() | target | {"d_ff": 32}),
        )


@pytest.mark.parametrize(
    ("source", "target", "named"),
    [
        ([[0, 11]], [[0]], r"ids\[0, 1\] is 11, but must be a token id from 0 to 10"),
        ([[0]], [[13]], r"ids\[0, 0\] is 13, but must be a token id from 0 to 12"),
        ([[0] * 9], [[0]], "the number of tokens is 9"),
        ([[0]], [[0] * 9], "the number of tokens is 9"),
        ([[0], [1]], [[0]], "the number of targets is 1, but must be that of the sources, 2"),
        ([[0.5]], [[0]], "ids' type"),
    ],
)
def test_ids_that_do_not_fit_are_refused(model, source, target, named):
    with pytest.raises(ValueError, match=named):
        model(torch.tensor(source), torch.tensor(target))


def test_it_starts_as_a_gpt_does():
    model = EncoderDecoder(GPTConfig(500, 16, 2, 2, 64, causal=False), GPTConfig(400, 16, 2, 2, 64))
    block = model.decoder.blocks[0]
    assert block.cross_attention.q.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert block.cross_attention.output.weight.std().item() == pytest.approx(0.01, rel=0.1)
    assert not block.cross_attention.q.bias.any()
    logits = model(torch.randint(500, (4, 9)), torch.randint(400, (4, 7)))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), torch.randint(400, (28,)))
    assert loss.item() == pytest.approx(torch.tensor(400.0).log().item(), abs=0.1)
