"""Recurrent models: their cells are the formulas, the state is all that is handed on, a file gives the model back."""

import pytest
import torch
from torch import nn

import gptlab
from gptlab.corpus import Batch
from gptlab.relatives.recurrent import (
    CELLS,
    Carried,
    RecurrentConfig,
    RecurrentLM,
    cut,
    load_recurrent,
    save_recurrent,
)
from tests.references import recurrent as plain


def made(cell="lstm", n_layers=1):
    torch.manual_seed(0)
    return RecurrentLM(RecurrentConfig(cell, vocab_size=11, d_model=3, d_state=5, n_layers=n_layers))


def ids_of(rows=2, tokens=7):
    return torch.randint(0, 11, (rows, tokens), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("cell", CELLS)
def test_the_states_are_those_of_the_formulas_in_plain_loops(cell):
    model, ids = made(cell).double(), ids_of()
    weights = [getattr(model.cell, f"{name}_l0").tolist() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    hidden, _ = model.hidden(ids)
    for row, states in zip(model.token_embedding(ids), hidden, strict=True):
        expected = getattr(plain, cell)(row.tolist(), *weights)
        torch.testing.assert_close(states, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("cell", CELLS)
def test_logits_are_inner_products_with_the_embeddings(cell):
    model, ids = made(cell), ids_of()
    hidden, _ = model.hidden(ids)
    expected = hidden @ model.output.weight.T @ model.token_embedding.weight.T
    torch.testing.assert_close(model(ids), expected)
    assert model(ids).shape == (2, 7, 11)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("n_layers", [1, 2])
def test_a_state_that_is_handed_on_is_as_good_as_the_text_before(cell, n_layers):
    model, ids = made(cell, n_layers), ids_of()
    whole, _ = model.hidden(ids)
    first, state = model.hidden(ids[:, :4])
    second, _ = model.hidden(ids[:, 4:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), whole)


@pytest.mark.parametrize("cell", CELLS)
def test_no_later_token_changes_an_earlier_logit(cell):
    model, ids = made(cell), ids_of()
    other = ids.clone()
    other[:, 4] = (other[:, 4] + 1) % 11
    before, after = model(ids), model(other)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.equal(before[:, 4:], after[:, 4:])


def test_forget_gates_begin_by_remembering():
    model = made("lstm", n_layers=2)
    for layer in range(2):
        assert getattr(model.cell, f"bias_hh_l{layer}")[5:10].tolist() == [1.0] * 5


@pytest.mark.parametrize(
    ("field", "value"),
    [("cell", "transformer"), ("vocab_size", 0), ("d_model", 1.5), ("d_state", True), ("n_layers", 0)],
)
def test_a_config_is_valid_or_does_not_exist(field, value):
    settings = {"cell": "gru", "vocab_size": 11, "d_model": 3, "d_state": 5, "n_layers": 1}
    with pytest.raises(ValueError, match=field):
        RecurrentConfig(**settings | {field: value})


def test_carried_goes_on_in_training_and_begins_anew_outside_it():
    model = made("lstm")
    carried, ids = Carried(model).train(), ids_of()
    pieces = torch.cat([carried(ids[:, :4]), carried(ids[:, 4:])], 1)
    torch.testing.assert_close(pieces, model(ids))
    carried.eval()
    torch.testing.assert_close(carried(ids[:, 4:]), model(ids[:, 4:]))


def test_carried_hands_on_the_state_and_no_gradient():
    carried, ids = Carried(made("rnn")).train(), ids_of()
    first, second = ids.split([4, 3], dim=1)
    carried(first)
    early = carried.model.token_embedding.weight
    only_early = set(first.unique().tolist()) - set(second.unique().tolist())
    states, _ = carried.model.hidden(second, carried.state)
    (gradient,) = torch.autograd.grad(states.sum(), early)
    assert only_early and all(gradient[token].abs().sum() == 0 for token in only_early)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_cut_state_has_the_same_numbers(cell):
    _, state = made(cell).hidden(ids_of())
    parts = [state] if cell == "gru" else list(state)
    for part, same in zip(parts, [cut(state)] if cell == "gru" else cut(state), strict=True):
        assert torch.equal(part, same) and not same.requires_grad


@pytest.mark.parametrize("cell", CELLS)
def test_a_file_gives_the_model_back(tmp_path, cell):
    model = made(cell, n_layers=2)
    save_recurrent(tmp_path / "model.safetensors", model, torch.float32)
    state = torch.get_rng_state()
    loaded = load_recurrent(tmp_path / "model.safetensors")
    assert torch.equal(state, torch.get_rng_state())
    assert loaded.config == model.config and not loaded.training
    for one, other in zip(model.state_dict().values(), loaded.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_half_a_file_and_a_file_of_something_else_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_recurrent(path, made())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="cut short"):
        load_recurrent(path)
    gptlab.save(tmp_path / "gpt", gptlab.GPT(gptlab.GPTConfig(11, 4, 1, 1, 4)))
    with pytest.raises(ValueError, match="recurrent"):
        load_recurrent(tmp_path / "gpt" / "model.safetensors")
    with pytest.raises(ValueError, match="path is"):
        load_recurrent(tmp_path / "nothing")


class Digits:
    """What a token is, is known from the token before it."""

    held_out, settings = None, {}

    def batch(self, step):
        starts = torch.randint(0, 11, (16, 1), generator=torch.Generator().manual_seed(step))
        rows = (starts + torch.arange(9)) % 11
        return Batch(rows[:, :-1], rows[:, 1:])


@pytest.mark.parametrize("cell", CELLS)
def test_it_learns_by_the_loop_that_trains_a_gpt(cell):
    model = made(cell)
    *_, last = gptlab.train(model, Digits(), 150, learning_rate=3e-2)
    assert last.loss < 0.2


def test_two_layers_are_two_passes():
    model = made("rnn", n_layers=2)
    lower, upper = nn.RNN(3, 5, batch_first=True), nn.RNN(5, 5, batch_first=True)
    weights = model.cell.state_dict()
    lower.load_state_dict({name: weight for name, weight in weights.items() if name.endswith("l0")})
    upper.load_state_dict({name.replace("l1", "l0"): weight for name, weight in weights.items() if name.endswith("l1")})
    x = model.token_embedding(ids_of())
    torch.testing.assert_close(upper(lower(x)[0])[0], model.cell(x)[0])
