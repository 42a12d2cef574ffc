"""Several processes under torchrun: the steps of one, one that speaks and writes, nothing lost when one is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import gptlab
from tests.test_training import new_model, stories

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300
MANY = 400  # steps, some seconds: the run is still on its way when the test, itself kept waiting, comes to break it off
TRAINING = "--size tiny --validate-every 10 --checkpoint-every 10 --precision float32 --vocab-size 300".split()
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("\n".join(gptlab.world.sample(seed) for seed in range(40)), encoding="utf-8")
    return path


def training(text, folder, *, batch_size, steps=40, torchrun=True):
    """The command, alone or in two processes."""
    words = ["train", "--data", str(text), "--output", str(folder), "--steps", str(steps), *TRAINING]
    start = TORCHRUN if torchrun else [sys.executable]
    return [*start, "-m", "gptlab", *words, "--batch-size", str(batch_size)]


def done(command):
    run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
    return run


def losses(folder):
    """For each step the loss, and the held-out loss where there is one."""
    rows = [row.split(",") for row in (folder / "losses.csv").read_text().splitlines()[1:]]
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    return [(float(row[1]), float(row[2]) if row[2] else None) for row in rows]


@pytest.fixture(scope="module")
def unbroken(text):
    """Two processes to the end; the folder and what they said."""
    folder = text.parent / "two"
    return folder, done(training(text, folder, batch_size=3))


@pytest.fixture(scope="module")
def unbroken_long(text):
    """The losses of a run that takes many steps and is left alone."""
    done(training(text, text.parent / "long", batch_size=3, steps=MANY))
    return losses(text.parent / "long")


def started(command, folder, n_steps):
    """A run that has taken so many steps."""
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and run.poll() is None:
        if (folder / "losses.csv").exists() and len((folder / "losses.csv").read_text().splitlines()) > n_steps:
            break
        time.sleep(0.005)
    return run


def test_two_processes_take_the_steps_of_one_with_the_doubled_batch(text, unbroken):
    done(training(text, text.parent / "one", batch_size=6, torchrun=False))
    one, two = losses(text.parent / "one"), losses(unbroken[0])
    assert len(one) == len(two) == 40 and one[0][0] - one[-1][0] > 0.5
    for (loss, val_loss), (their_loss, their_val_loss) in zip(one, two, strict=True):
        assert their_loss == pytest.approx(loss, abs=1e-4)
        assert their_val_loss == (None if val_loss is None else pytest.approx(val_loss, abs=1e-4))
    assert sum(val_loss is not None for _, val_loss in two) == 4
    model, tok = gptlab.load(unbroken[0])
    assert model.config.vocab_size == tok.vocab_size == 300


def test_one_process_speaks(unbroken):
    lines = unbroken[1].stdout.splitlines()
    assert len(lines) == len(set(lines)) and sum("step 40 of 40" in line for line in lines) == 1


@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_process_ends_the_run_and_the_same_command_goes_on(text, unbroken_long, tmp_path, killed):
    """The leader may be the one: then it goes on from the last checkpoint that was due."""
    folder = tmp_path / "run"
    command = training(text, folder, batch_size=3, steps=MANY)
    run = started(command, folder, 14)
    workers = {child.environ()["RANK"]: child for child in psutil.Process(run.pid).children()}
    workers[str(killed)].send_signal(signal.SIGKILL)
    out, err = run.communicate(timeout=SECONDS)
    assert run.returncode == 1 and not any(worker.is_running() for worker in workers.values())
    assert (folder / "training.state").exists() and not (folder / "model.safetensors").exists(), out
    if killed == 1:
        assert "gptlab train: another process of this run is gone; to go on from there, the same command again" in err
    on = done(command)
    first = int(on.stdout.split("step ")[1].split()[0])
    assert first > 10 and first % 10 == 1 if killed == 0 else first > 14
    assert losses(folder) == unbroken_long


def test_ctrl_c_stops_all_and_leaves_a_checkpoint(text, unbroken_long, tmp_path):
    command = training(text, tmp_path / "run", batch_size=3, steps=MANY)
    run = started(command, tmp_path / "run", 1)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=SECONDS)
    assert run.returncode != 0 and err.count("stopping after this step") == err.count("stopped after step") == 1
    assert "torchrun … -m gptlab train" in err
    done(command)
    assert losses(tmp_path / "run") == unbroken_long


AS_A_LIBRARY = """
import json, torch
from gptlab import train
from gptlab.corpus import Batch
from gptlab.distributed import joined
from tests.test_training import new_model, stories

WIDE = {"tokens_per_batch": 300}
with joined(torch.device("cpu")) as team:
    told = {"rank": team.rank, "size": team.size, "leads": team.leads}
    steps = list(train(new_model(seed=team.rank, dropout=0.0), stories(**WIDE), 6, learning_rate=0.02, team=team))
    told["losses"] = [step.loss for step in steps]
    told["norms"] = [step.gradient_norm for step in steps]
    told["val_loss"] = steps[-1].val_loss
    told["tokens_seen"] = steps[-1].tokens_seen
    told["auto"] = len(list(train(new_model(), stories(**WIDE), 2, precision="auto", team=team)))
    model, data = new_model(), stories(**WIDE)
    first = data.batch(0)
    one = Batch(*(part[:1] for part in first))
    data.batch = lambda step: Batch(*(part.repeat(2, 1) for part in one))
    twice = [step.loss for step in train(model, data, 1, team=team)]
    told["dropout"] = twice[0]
    data.batch = lambda step: one
    try:
        next(train(model, data, 1, team=team))
    except ValueError as error:
        told["refused"] = str(error)
print(json.dumps(told), flush=True)
"""


def test_rows_of_unequal_length_count_by_their_targets_and_the_leader_begins(tmp_path):
    """Stories are padded: a mean of the two processes' means would be another number."""
    import json

    program = tmp_path / "program.py"
    program.write_text(AS_A_LIBRARY)
    run = subprocess.run(
        [*TORCHRUN, str(program)], capture_output=True, text=True, timeout=SECONDS, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    told = sorted((json.loads(line) for line in run.stdout.splitlines()), key=lambda one: one["rank"])
    assert [(one["rank"], one["size"], one["leads"]) for one in told] == [(0, 2, True), (1, 2, False)]
    data = stories(tokens_per_batch=300)
    targets = (data.batch(0).targets != -100).sum(1)
    assert targets[0::2].sum() != targets[1::2].sum()
    alone = list(gptlab.train(new_model(seed=0, dropout=0.0), stories(tokens_per_batch=300), 6, learning_rate=0.02))
    for one in told:
        assert one["losses"] == pytest.approx([step.loss for step in alone], abs=1e-5)
        assert one["norms"] == pytest.approx([step.gradient_norm for step in alone], abs=1e-5)
        assert one["tokens_seen"] == alone[-1].tokens_seen and one["auto"] == 2
        assert one["refused"] == "the rows of a batch is 1, but must be at least one for each of the 2 processes"
    assert told[0]["val_loss"] == pytest.approx(alone[-1].val_loss, abs=1e-4) and told[1]["val_loss"] is None
    single = stories(tokens_per_batch=300)
    first = single.batch(0)
    single.batch = lambda step: first._replace(inputs=first.inputs[:1], targets=first.targets[:1])
    # Equal rows, but each process drops others: the mean is not what the leader's dropout alone would give.
    leader_alone = next(gptlab.train(new_model(), single, 1)).loss
    assert abs(told[0]["dropout"] - leader_alone) > 1e-4


def test_without_torchrun_there_is_no_team():
    import torch

    from gptlab.distributed import joined

    with joined(torch.device("cpu")) as team:
        assert team is None
