"""Attention over a window: what plain loops give, for any length; nothing from beyond the window comes through."""

import pytest
import torch

import gptlab
from gptlab.cache import Cache
from gptlab.model import GPT
from gptlab.relatives.windowed import WindowedGPT, window_attention, window_mask
from tests.references import recurrent as plain

CONFIG = gptlab.GPTConfig(13, context_length=8, n_layers=2, n_heads=2, d_model=8)


def made(window=3, config=CONFIG):
    torch.manual_seed(0)
    model = WindowedGPT(config, window)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    return model


def ids_of(tokens, rows=2):
    return torch.randint(0, 13, (rows, tokens), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("tokens", "window"), [(1, 1), (1, 5), (7, 1), (7, 3), (8, 4), (9, 4), (5, 5), (5, 9)])
def test_it_is_that_of_plain_loops(tokens, window):
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 3, tokens, 4, generator=generator, dtype=torch.float64)
    given = window_attention(q, k, v, window)
    for row in range(2):
        for head in range(3):
            expected = plain.window_attention(*(x[row, head].tolist() for x in (q, k, v)), window)
            torch.testing.assert_close(given[row, head], torch.tensor(expected, dtype=torch.float64))


def test_the_mask_of_three_tokens_back():
    assert window_mask(4, 2).int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert window_mask(3, 3).equal(torch.ones(3, 3).tril().bool())


def test_a_text_longer_than_the_table_of_positions_is_read_and_its_rows_come_again():
    model = made()
    ids = ids_of(8).repeat(1, 4)
    logits = model(ids)
    assert logits.shape == (2, 32, 13)
    torch.testing.assert_close(logits[:, 16:24], logits[:, 24:])  # the same window, the same rows of the table


def test_the_written_out_formula_gives_the_same():
    model, ids = made(), ids_of(21)
    fused = model(ids)
    for block in model.blocks:
        block.attention.fused = False
    torch.testing.assert_close(model(ids), fused)


def test_two_layers_reach_two_windows_back_and_no_farther():
    model, ids = made(window=3), ids_of(12, rows=1)
    reached = []
    for place in range(12):
        other = ids.clone()
        other[0, place] = (other[0, place] + 1) % 13
        reached.append(not torch.equal(model(other)[0, 11], model(ids)[0, 11]))
    assert reached == [place >= 11 - 2 * (3 - 1) for place in range(12)]


def test_a_window_that_holds_everything_is_a_gpt():
    model, ids = made(window=8), ids_of(8)
    gpt = GPT(CONFIG)
    gpt.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(ids), gpt(ids))


@pytest.mark.parametrize("window", [0, 9])
def test_a_window_that_does_not_fit_is_refused(window):
    with pytest.raises(ValueError, match=f"window is {window}"):
        WindowedGPT(CONFIG, window)


def test_wrong_ids_and_a_cache_are_refused():
    model = made()
    for wrong in (torch.zeros(1, 0, dtype=torch.int64), torch.full((1, 20), 13), torch.zeros(1, 4)):
        with pytest.raises(ValueError, match="ids"):
            model(wrong)
    with pytest.raises(ValueError, match="cache"):
        model(ids_of(4), Cache(2, 8))
