"""Several processes under torchrun: the steps of one, one that speaks and writes, nothing lost when one is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import gptlab
from tests.test_training import new_model, stories

ROOT = Path(__file__).resolve().parent.parent
BROKEN_OFF = str(ROOT / "tests" / "broken_off.py")
SECONDS = 300
TRAINING = "--size tiny --validate-every 10 --checkpoint-every 10 --precision float32 --vocab-size 300".split()
# It looks at its processes once a second, so that one has time to say that the other is gone before it is ended too.
TORCHRUN = [
    sys.executable,
    "-m",
    "torch.distributed.run",
    *"--standalone --nproc-per-node 2 --monitor-interval 1".split(),
]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("\n".join(gptlab.world.sample(seed) for seed in range(40)), encoding="utf-8")
    return path


def training(text, folder, *, batch_size=3, torchrun=True, program=("-m", "gptlab")):
    """The command, alone or in two processes."""
    words = ["train", "--data", text, "--output", folder, "--steps", 40, *TRAINING, "--batch-size", batch_size]
    return [*(TORCHRUN if torchrun else [sys.executable]), *program, *map(str, words)]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=ROOT, **more)


def done(command):
    ended = run(command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended


def broken_off(text, folder, *, step, sent, whom):
    """A run to whose torchrun, or process of that rank, a signal is sent after that step."""
    return run(training(text, folder, program=(BROKEN_OFF, str(step), str(int(sent)), whom)))


def losses(folder):
    """For each step the loss, and the held-out loss where there is one."""
    rows = [row.split(",") for row in (folder / "losses.csv").read_text().splitlines()[1:]]
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    return [(float(row[1]), float(row[2]) if row[2] else None) for row in rows]


@pytest.fixture(scope="module")
def unbroken(text):
    """Two processes to the end; the folder and what they said."""
    folder = text.parent / "two"
    return folder, done(training(text, folder))


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


@pytest.mark.parametrize(("killed", "goes_on"), [(0, 11), (1, 15)])
def test_a_killed_process_ends_the_run_and_the_same_command_goes_on(text, unbroken, tmp_path, killed, goes_on):
    """The leader may be the one: then it goes on from the last checkpoint that was due."""
    folder = tmp_path / "run"
    ended = broken_off(text, folder, step=14, sent=signal.SIGKILL, whom=str(killed))
    assert ended.returncode == 1 and processes_of(folder) == []
    assert (folder / "training.state").exists() and not (folder / "model.safetensors").exists(), ended.stdout
    if killed == 1:
        said = "gptlab train: another process of this run is gone; to go on from there, the same command again"
        assert said in ended.stderr
    on = done(training(text, folder))
    assert int(on.stdout.split("step ")[1].split()[0]) == goes_on
    assert losses(folder) == losses(unbroken[0])


def processes_of(folder):
    processes = psutil.process_iter(["cmdline"])
    return [process for process in processes if str(folder) in (process.info["cmdline"] or ())]


@pytest.mark.parametrize(("whom", "answers"), [("torchrun", 1), ("1", 0)])
def test_ctrl_c_stops_all_after_one_step_and_leaves_a_checkpoint(text, unbroken, tmp_path, whom, answers):
    """Also where it comes to one process before it comes to the other; the leader alone answers."""
    ended = broken_off(text, tmp_path / "run", step=14, sent=signal.SIGINT, whom=whom)
    said = ended.stderr
    assert ended.returncode != 0 and said.count("stopping after this step") == answers
    assert said.count("stopped after step 15") == 1 and "torchrun … -m gptlab train" in said
    on = done(training(text, tmp_path / "run"))
    assert int(on.stdout.split("step ")[1].split()[0]) == 16
    assert losses(tmp_path / "run") == losses(unbroken[0])


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
    ended = run([*TORCHRUN, str(program)], env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert ended.returncode == 0, ended.stderr
    told = sorted((json.loads(line) for line in ended.stdout.splitlines()), key=lambda one: one["rank"])
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
