"""Training as a generator: what a step says, that it learns, stops and goes on bit for bit, and what it refuses."""

import itertools
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import gptlab
from gptlab import GPT, GPTConfig, next_token_loss, train
from gptlab.corpus import StoryCorpus, TextCorpus
from gptlab.loss import mean_loss
from gptlab.optimizer import AdamW, cosine_schedule
from tests.disks import little_room, names_in
from tests.references.coin_world import CoinTokenizer, CoinWorld

CONFIG = GPTConfig(vocab_size=3, context_length=128, n_layers=1, n_heads=2, d_model=8, dropout=0.2)


def new_model(seed=0, **changed):
    torch.manual_seed(seed)
    return GPT(replace(CONFIG, **changed))


def stories(**options):
    return StoryCorpus(CoinWorld(), CoinTokenizer(), **{"tokens_per_batch": 60, "held_out_stories": 10} | options)


def weights(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def same(one, other):
    return len(one) == len(other) and all(map(torch.equal, one, other))


def after(steps, model=None, data=None, **options):
    """The weights after some steps."""
    model = model or new_model()
    for _ in train(model, data or stories(), steps, **options):
        pass
    return weights(model)


# What a step says


def test_a_step_says_where_training_stands():
    data, model = stories(), new_model()
    steps = list(train(model, data, 12, learning_rate=0.01, final_learning_rate=0.002, warmup=3, validate_every=5))
    counts = [data.batch(i).n_targets for i in range(12)]
    assert [step.number for step in steps] == list(range(1, 13))
    assert [step.tokens_seen for step in steps] == list(itertools.accumulate(counts))
    rates = [cosine_schedule(i, peak=0.01, final=0.002, warmup=3, decay=12) for i in range(12)]
    assert [step.learning_rate for step in steps] == pytest.approx(rates)
    assert [step.number for step in steps if step.val_loss is not None] == [5, 10, 12]
    assert all(step.floor == data.held_out.floor for step in steps)
    assert all(step.tokens_per_second > 0 and step.gradient_norm > 0 and step.earlier_steps == 0 for step in steps)
    assert steps[-1].val_loss == pytest.approx(mean_loss(model.eval(), data.held_out.batches))


def test_the_loss_is_that_of_the_batch_before_the_update():
    data, model = stories(), new_model(dropout=0.0)
    batch = data.batch(0)
    ids = torch.cat([batch.inputs[:, :1], batch.targets], dim=1)
    logits = model(torch.cat([batch.inputs, batch.inputs[:, :1]], dim=1))
    expected = next_token_loss(logits, ids).item()
    assert next(train(model, data, 3)).loss == pytest.approx(expected, abs=1e-6)


def test_the_first_update_is_one_of_adamw_on_the_clipped_gradient():
    data, model, peer = stories(), new_model(dropout=0.0), new_model(dropout=0.0)
    step = next(train(model, data, 1, learning_rate=0.01, warmup=0, clip=0.05, weight_decay=0.3))
    batch = data.batch(0)
    logits = peer(batch.inputs)
    nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=-100).backward()
    length = nn.utils.clip_grad_norm_(peer.parameters(), 0.05)
    matrices = [p for p in peer.parameters() if p.ndim >= 2]
    others = [p for p in peer.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.3}, {"params": others, "weight_decay": 0.0}]
    torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.95)).step()
    assert step.gradient_norm == pytest.approx(length.item(), rel=1e-5) and step.gradient_norm > 0.05
    for ours, theirs in zip(weights(model), weights(peer), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


def test_a_small_model_learns_its_world_down_to_the_floor():
    model = new_model(dropout=0.0, d_model=16)
    last = list(train(model, stories(tokens_per_batch=500, held_out_stories=500), 200, learning_rate=0.02))[-1]
    assert -0.005 < last.val_loss - last.floor < 0.02


def test_any_text_can_be_learned_and_has_no_floor():
    tok = gptlab.Tokenizer.train("so many words and so on", 260)
    data = TextCorpus("so many words and so on. " * 40, tok, context_length=32, batch_size=4)
    steps = list(train(new_model(vocab_size=tok.vocab_size), data, 60, learning_rate=0.01))
    assert steps[-1].loss < steps[0].loss / 2
    assert steps[-1].floor is None and steps[-1].val_loss is not None


def test_any_module_that_gives_logits_can_be_trained():
    model = nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 3))
    steps = list(train(model, stories(), 60, learning_rate=0.05))
    assert steps[-1].val_loss < steps[0].loss


def test_frozen_weights_stay():
    model = new_model()
    model.position_embedding.requires_grad_(False)
    before = model.position_embedding.clone()
    after(3, model, learning_rate=0.1)
    assert torch.equal(model.position_embedding, before)
    assert not same(weights(model), weights(new_model()))


@pytest.mark.parametrize("precision", ["bfloat16", "auto"])
def test_half_precision_is_in_the_products_not_in_the_weights(precision):
    model, exact = new_model(dropout=0.0), new_model(dropout=0.0)
    ours = [step.loss for step in train(model, stories(), 5, precision=precision)]
    theirs = [step.loss for step in train(exact, stories(), 5)]
    assert ours == pytest.approx(theirs, rel=0.02)
    assert all(parameter.dtype == torch.float32 for parameter in model.parameters())


def test_the_faster_precision_is_chosen_without_touching_the_weights():
    model = new_model()
    state, before = torch.get_rng_state(), weights(model)
    train(model, stories(), 5, precision="auto")
    assert same(weights(model), before) and torch.equal(torch.get_rng_state(), state)


# What a step leaves alone


@pytest.mark.parametrize("mode", [True, False])
def test_the_mode_found_is_the_mode_left_after_each_step_and_after_a_failure(mode):
    model = new_model().train(mode)
    model.blocks[0].mlp.train(not mode)
    before = [module.training for module in model.modules()]
    for _ in train(model, stories(), 3, validate_every=1):
        assert [module.training for module in model.modules()] == before

    def fail(module, ids):
        assert module.training
        raise RuntimeError("broken")

    model.register_forward_pre_hook(fail)
    with pytest.raises(RuntimeError, match="broken"):
        next(train(model, stories(), 3))
    assert [module.training for module in model.modules()] == before


def test_dropout_is_on_whatever_the_mode_and_follows_its_own_seed():
    one, same_seed, other_seed = (after(3, new_model().eval(), seed=seed) for seed in (0, 0, 1))
    without = after(3, new_model(dropout=0.0))
    assert same(one, same_seed) and not same(one, other_seed) and not same(one, without)


def test_dropout_is_another_at_each_step():
    data = stories()
    first = data.batch(0)
    data.batch = lambda step: first
    losses = [step.loss for step in train(new_model(), data, 4, learning_rate=0)]
    assert len(set(losses)) == 4
    assert len({step.loss for step in train(new_model(dropout=0.0), data, 4, learning_rate=0)}) == 1


def test_the_global_random_state_is_neither_used_nor_changed():
    one, state = after(3), torch.get_rng_state()
    model = new_model()
    torch.manual_seed(77)
    for step in train(model, stories(), 3):
        assert torch.equal(torch.get_rng_state(), torch.Generator().manual_seed(77).get_state()), step
    assert same(weights(model), one)
    assert not torch.equal(state, torch.get_rng_state())


def test_without_dropout_the_random_state_of_other_threads_is_left_alone(monkeypatch):
    touched = []
    monkeypatch.setattr(torch.random, "fork_rng", lambda *_: touched.append(1) or nullcontext())
    after(2, new_model(dropout=0.0))
    assert not touched
    after(2, new_model())
    assert len(touched) == 2
    by_hand = new_model(dropout=0.0)
    by_hand.blocks[0].dropout = by_hand.blocks[0].mlp.dropout = nn.Dropout(0.5)
    after(2, by_hand)
    after(2, nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 3)))  # which might draw in a way that cannot be seen
    assert len(touched) == 6


def test_no_gradient_is_left_in_the_model():
    model = new_model()
    after(2, model)
    assert all(parameter.grad is None for parameter in model.parameters())


# Nothing to do, and too much


def test_zero_steps_are_none():
    model = new_model()
    assert list(train(model, stories(), 0)) == []
    assert same(weights(model), weights(new_model()))


def test_a_learning_rate_of_zero_changes_nothing():
    assert same(after(4, learning_rate=0), weights(new_model()))


def test_nothing_happens_before_the_first_step_is_asked_for():
    model = new_model()
    run = train(model, stories(), 4)
    assert same(weights(model), weights(new_model()))
    next(run)
    assert not same(weights(model), weights(new_model()))


def test_a_loss_that_is_no_number_stops_training_and_keeps_the_last_good_weights():
    model = new_model()
    rate = f"{cosine_schedule(2, peak=0.3, final=0.03, warmup=0, decay=6):g}"
    run = train(model, stories(), 6, learning_rate=0.3, warmup=0)
    next(run), next(run)
    good = weights(model)
    handle = model.register_forward_hook(lambda module, ids, logits: logits * math.nan)
    with pytest.raises(FloatingPointError, match=f"loss is nan at step 3, learning rate {rate}; .* weights of step 2"):
        next(run)
    handle.remove()
    assert same(weights(model), good)


def test_a_gradient_that_is_no_number_stops_training_too():
    class Steep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient * math.inf

    model = new_model()
    model.register_forward_hook(lambda module, ids, logits: Steep.apply(logits))
    with pytest.raises(FloatingPointError, match="gradient's length is (nan|inf) at step 1"):
        next(train(model, stories(), 3))
    assert same(weights(model), weights(new_model()))


def test_a_learning_rate_much_too_high_ends_in_words_not_in_nan_weights():
    model = new_model()
    with pytest.raises(FloatingPointError, match=r"at step \d+, learning rate [\d.]+e\+29"):
        list(train(model, stories(), 50, learning_rate=1e30, warmup=0, clip=None))
    assert all(parameter.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"steps": -1}, "steps is -1"),
        ({"steps": True}, "steps is True"),
        ({"warmup": -1}, "warmup is -1"),
        ({"learning_rate": -0.1}, "learning_rate is -0.1"),
        ({"learning_rate": math.nan}, "learning_rate is nan"),
        ({"learning_rate": math.inf}, "learning_rate is inf"),
        ({"final_learning_rate": -1.0}, "final_learning_rate is -1.0"),
        ({"weight_decay": -1}, "weight_decay is -1"),
        ({"betas": (0.9, 1.0)}, r"betas is \(0.9, 1.0\)"),
        ({"clip": 0}, "clip is 0"),
        ({"clip": math.nan}, "clip is nan"),
        ({"precision": "float16"}, "precision is 'float16'"),
        ({"validate_every": 0}, "validate_every is 0"),
        ({"checkpoint_every": 0, "checkpoint": "x"}, "checkpoint_every is 0"),
        ({"checkpoint_every": 5}, "checkpoint is None"),
        ({"resume": True}, "checkpoint is None"),
    ],
)
def test_settings_out_of_range_are_refused_before_the_first_step(options, named):
    with pytest.raises(ValueError, match=named):
        train(new_model(), stories(), **{"steps": 3} | options)


def test_ids_that_the_model_does_not_know_are_refused():
    with pytest.raises(ValueError, match=r"targets\[0, \d+\] is 2, .* 0 to 1|ids\[0, 0\] is 2"):
        next(train(new_model(vocab_size=2), stories(held_out_stories=0), 3))


# Stopping and going on


def test_case_98_a_second_run_goes_on_from_the_first_and_says_so():
    model = new_model()
    run = train(model, stories(), 50)
    for _ in range(37):
        step = next(run)
    run.close()
    assert step.earlier_steps == 0
    again = list(train(model, stories(), 2))
    assert [(step.number, step.earlier_steps) for step in again] == [(1, 37), (2, 37)]
    assert next(train(new_model(), stories(), 1)).earlier_steps == 0


def test_case_98_a_model_built_anew_takes_the_same_steps():
    first, second = (list(train(new_model(), stories(), 4)) for _ in range(2))
    assert [step.loss for step in first] == [step.loss for step in second]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_case_99_ten_steps_are_five_and_five_bit_for_bit(tmp_path, precision):
    options = {"learning_rate": 0.02, "precision": precision, "checkpoint": tmp_path / "run.safetensors"}
    unbroken = list(train(model := new_model(), stories(), 10, **options | {"checkpoint": None}))
    run = train(new_model(), stories(), 10, **options)
    first = [next(run) for _ in range(5)]
    run.close()
    other = new_model(seed=5)  # its weights are to be overwritten
    second = list(train(other, stories(), 10, resume=True, **options))
    assert [step.number for step in second] == [6, 7, 8, 9, 10]
    for one, step in zip(unbroken, first + second, strict=True):
        assert replace(one, tokens_per_second=0.0) == replace(step, tokens_per_second=0.0)
    assert same(weights(model), weights(other))


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    path = tmp_path / "run.safetensors"
    done = after(4, checkpoint=path)
    model = new_model(seed=5)
    assert list(train(model, stories(), 4, checkpoint=path, resume=True)) == []
    assert same(weights(model), done)


def test_resuming_without_a_file_begins(tmp_path):
    path = tmp_path / "deeper" / "run.safetensors"
    assert same(after(4, checkpoint=path, resume=True), after(4))
    assert names_in(path.parent) == ["run.safetensors"]


def test_auto_goes_on_in_the_precision_it_began_with(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    run = train(new_model(), stories(), 6, checkpoint=path, precision="auto")
    next(run)
    run.close()

    def choose(run):
        raise AssertionError("chosen again")

    monkeypatch.setattr("gptlab.training._Run.choose_precision", choose)
    assert len(list(train(new_model(), stories(), 6, checkpoint=path, precision="auto", resume=True))) == 5


def test_checkpoints_come_when_they_are_due(tmp_path):
    path = tmp_path / "run.safetensors"
    there = []
    for _ in train(new_model(), stories(), 7, checkpoint=path, checkpoint_every=3):
        there.append(path.exists())
        path.unlink(missing_ok=True)
    assert there == [False, False, True, False, False, True, True]


@pytest.mark.parametrize("place", ["batch", "forward", "update", "save", "between"])
def test_ctrl_c_at_any_moment_leaves_a_checkpoint_that_goes_on_bit_for_bit(tmp_path, monkeypatch, place):
    """Interrupted in the middle of an update nothing is written, but the last checkpoint stays."""
    path = tmp_path / "run.safetensors"
    options = {"learning_rate": 0.02, "checkpoint": path, "checkpoint_every": 2}
    unbroken = after(8, learning_rate=0.02)
    model, data = new_model(), stories()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        for step in train(model, data, 8, **options):
            if step.number == 5:
                if place == "batch":
                    patch.setattr(data, "batch", interrupt)
                elif place == "forward":
                    model.register_forward_pre_hook(interrupt)
                elif place == "update":  # after the first of the parameters
                    patch.setattr(torch.Tensor, "addcdiv_", interrupt_second(torch.Tensor.addcdiv_))
                elif place == "save":
                    patch.setattr(os, "fsync", interrupt)
                else:
                    raise KeyboardInterrupt
    assert names_in(tmp_path) == ["run.safetensors"]
    expected_next = {"batch": 6, "forward": 6, "update": 5, "save": 5, "between": 6}[place]
    other = new_model(seed=5)
    steps = list(train(other, stories(), 8, resume=True, **options))
    assert steps[0].number == expected_next
    assert same(weights(other), unbroken)


def interrupt_second(method):
    calls = itertools.count()

    def interrupting(*args, **kwargs):
        if next(calls):
            raise KeyboardInterrupt
        return method(*args, **kwargs)

    return interrupting


KILLED_WHILE_SAVING = """
import sys, itertools
sys.path.insert(0, {root!r})
from tests.test_training import new_model, stories, train
print("ready", flush=True)
for step in train(new_model(), stories(), 10_000, checkpoint={path!r}, checkpoint_every=1, resume=True):
    print(step.number, flush=True)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_again_and_again_goes_on(tmp_path, end):
    path, root = tmp_path / "run.safetensors", os.getcwd()
    program = KILLED_WHILE_SAVING.format(root=root, path=str(path))
    reached, first = 0, None
    for extra in (3, 8, 5):
        child = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        numbers = [int(child.stdout.readline()) for _ in range(extra)]
        time.sleep(0.003 * extra)
        child.send_signal(end)
        said, _ = child.communicate(timeout=60)
        assert numbers[0] in (reached + 1, reached + 2)  # the step may have been saved and not yet said
        reached = ([*numbers, *map(int, said.split())])[-1]
        first = first or numbers[0]
    run = train(new_model(), stories(), 10_000, checkpoint=path, resume=True)
    model_there = next(run).number
    assert first == 1 and model_there in (reached + 1, reached + 2)


def test_a_full_disk_is_said_and_the_last_checkpoint_stays(tmp_path):
    size = 8 * 4 * sum(p.numel() for p in new_model().parameters())
    with little_room(tmp_path / "disk", size) as folder:
        path = folder / "run.safetensors"
        options = {"checkpoint": path, "checkpoint_every": 2}
        run = train(new_model(), stories(), 8, **options)
        for _ in range(3):
            next(run)
        kept = path.read_bytes()
        filler = folder / "filler"
        with pytest.raises(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1024))
                if (
                    file.tell() > 100 * size
                ):  # no disk of its own: the bound is on a file's size, and a write over it fails
                    raise OSError("bound not set")
        with pytest.raises(OSError, match="was not written, what was there is unchanged"):
            next(run)
        assert path.read_bytes() == kept
        filler.unlink()
        steps = list(train(new_model(seed=5), stories(), 8, resume=True, **options))
        assert [step.number for step in steps] == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"steps": 90}, "steps is 90, but must be 4"),
        ({"learning_rate": 0.5}, "learning_rate is 0.5, but must be 0.001"),
        ({"seed": 1}, "seed is 1, but must be 0"),
        ({"precision": "bfloat16"}, "precision is 'bfloat16', but must be 'float32'"),
        ({"data": stories(seed=1)}, "data is .*'seed': 1.*'seed': 0"),
        ({"model": new_model(n_layers=2)}, "model is .*'n_layers': 2.*'n_layers': 1"),
        ({"model": nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 3))}, "model is 'Sequential'"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_changes_nothing(tmp_path, changed, named):
    path = tmp_path / "run.safetensors"
    after(4, checkpoint=path)
    run = {"model": new_model(seed=5), "data": stories(), "steps": 4} | changed
    before = weights(run["model"])
    with pytest.raises(ValueError, match=named):
        train(**run, checkpoint=path, resume=True)
    assert same(weights(run["model"]), before)


def test_a_module_of_the_same_kind_and_another_size_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    after(2, nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 3)), checkpoint=path)
    with pytest.raises(ValueError, match="other names or shapes"):
        train(nn.Sequential(nn.Embedding(3, 5), nn.Linear(5, 3)), stories(), 2, checkpoint=path, resume=True)


def test_a_file_that_is_no_training_state_is_refused(tmp_path):
    gptlab.save(tmp_path / "model", new_model())
    with pytest.raises(ValueError, match="is no training state"):
        train(new_model(), stories(), 4, checkpoint=tmp_path / "model" / "model.safetensors", resume=True)
    with pytest.raises(ValueError, match="path of a file; this is a folder"):
        train(new_model(), stories(), 4, checkpoint=tmp_path)


@settings(max_examples=30)
@given(st.data())
def test_a_damaged_training_state_is_refused_in_words(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "run.safetensors"
    after(1, data=stories(held_out_stories=0), checkpoint=path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans(), label="cut"):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with pytest.raises(ValueError, match="run.safetensors"):
        train(new_model(), stories(held_out_stories=0), 1, checkpoint=path, resume=True)


def test_a_training_state_whose_checksum_was_renamed_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    after(1, data=stories(held_out_stories=0), checkpoint=path)
    path.write_bytes(path.read_bytes().replace(b'"sha256"', b'"sha257"'))
    with pytest.raises(ValueError, match=r"run\.safetensors has no checksum"):
        train(new_model(), stories(held_out_stories=0), 1, checkpoint=path, resume=True)


def test_buffers_are_kept_as_well(tmp_path):
    """A model of one's own may count or average as it goes."""
    path = tmp_path / "run.safetensors"

    def counting():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 3))
        model.register_buffer("seen", torch.zeros(()))
        model.register_forward_hook(lambda module, ids, logits: module.seen.add_(1) and None)
        return model

    run = train(counting(), stories(held_out_stories=0), 6, checkpoint=path)
    for _ in range(3):
        next(run)
    run.close()
    model = counting()
    after(6, model, stories(held_out_stories=0), checkpoint=path, resume=True)
    assert model.seen == 6


def test_the_state_holds_the_moments_of_the_optimizer(tmp_path):
    """Else the resumed run would begin with a jump: here moments and weights are compared one by one."""
    from gptlab.training_state import load_state, save_state

    model = new_model()
    optimizer = AdamW(list(model.parameters()))
    optimizer.step([torch.randn_like(p) for p in model.parameters()], 0.1)
    save_state(tmp_path / "state", model, optimizer, progress={"tokens_seen": 3}, settings={"a": (1, 2)})
    other = new_model(seed=5)
    fresh = AdamW(list(other.parameters()))
    assert load_state(tmp_path / "state", other, fresh, settings={"a": (1, 2)}) == {"tokens_seen": 3}
    assert fresh.steps == 1
    for ours, theirs in ((fresh.first, optimizer.first), (fresh.second, optimizer.second)):
        assert same(ours, theirs)
    assert same(weights(other), weights(model))
