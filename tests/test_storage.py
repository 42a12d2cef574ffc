"""Files that are whole or not there: by error, by interrupt, by kill, on a full disk; and what damage is called."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from gptlab.storage import read_tensors, standing, write_tensors, write_whole
from tests.disks import little_room, names_in

TENSORS = {
    "matrix": torch.arange(12.0).reshape(3, 4),
    "half": torch.tensor([1.5, -2.5], dtype=torch.float16),
    "brain": torch.tensor([[1.5]], dtype=torch.bfloat16),
    "steps": torch.tensor(7),
    "none": torch.zeros(0, 3),
    "on": torch.tensor([True, False]),
}


def equal(one, other):
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and torch.equal(one[name], other[name]) for name in one
    )


def test_tensors_and_texts_come_back_as_they_were(tmp_path):
    write_tensors(tmp_path / "t.safetensors", TENSORS, {"run": "naïve"})
    tensors, texts = read_tensors(tmp_path / "t.safetensors")
    assert equal(tensors, TENSORS)
    assert texts == {"run": "naïve"}


def test_a_file_of_somebody_else_has_no_checksum_and_is_read(tmp_path):
    save_file({"a": torch.ones(2)}, tmp_path / "t.safetensors", {"format": "pt"})
    tensors, texts = read_tensors(tmp_path / "t.safetensors")
    assert equal(tensors, {"a": torch.ones(2)}) and texts == {"format": "pt"}


def test_views_and_weights_under_training_can_be_written(tmp_path):
    weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    write_tensors(tmp_path / "t.safetensors", {"turned": weight.T, "part": weight[0]})
    tensors, _ = read_tensors(tmp_path / "t.safetensors")
    assert torch.equal(tensors["turned"], weight.T) and torch.equal(tensors["part"], weight[0])


def whole(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.ones(100)})
    return path, path.read_bytes()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (lambda content: content[:-8], r"cut short: 5\d\d of 5\d\d bytes"),
        (lambda content: content[:20], r"cut short: 20 bytes of at least \d+"),
        (lambda content: content[:7], "no safetensors file"),
        (lambda content: b"", "empty"),
        (lambda content: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "Git LFS pointer"),
        (lambda content: pickle.dumps({"a": 1}), "pickle"),
        (lambda content: b"PK\x03\x04" + bytes(100), "pickle"),
        (lambda content: b"<!DOCTYPE html><html>404</html>", "no safetensors file"),
        (lambda content: content.replace(b'"F32"', b'"F99"'), "no sound safetensors file"),
        (lambda content: content.replace(b"data_offsets", b"data_onsets\\"), "header"),
        (lambda content: content[:8] + b"{" * (len(content) - 8), "header"),
        (lambda content: content[:-1] + b"!", "checksum"),
        (lambda content: content + b"more", "no sound safetensors file"),
    ],
)
def test_case_112_damage_is_named_in_one_line_with_the_path(tmp_path, content, what):
    path, sound = whole(tmp_path)
    path.write_bytes(content(sound))
    with pytest.raises(ValueError, match=what) as refused:
        read_tensors(path)
    assert str(path) in str(refused.value) and "\n" not in str(refused.value)


def test_a_long_header_is_not_taken_for_a_pickle(tmp_path):
    """Its length may begin with the bytes that a pickle begins with."""
    for padding in range(300):
        write_tensors(tmp_path / "t.safetensors", {"x" * (400 + padding): torch.ones(1)})
        read_tensors(tmp_path / "t.safetensors")
        if (tmp_path / "t.safetensors").read_bytes().startswith(b"\x80\x02"):
            return
    pytest.fail("no header of 640 bytes came up")


@settings(max_examples=200)
@given(data=st.data())
def test_any_changed_byte_is_noticed(tmp_path_factory, data):
    path, sound = whole(tmp_path_factory.mktemp("changed"))
    place, to = data.draw(st.integers(0, len(sound) - 1)), data.draw(st.integers(0, 255))
    path.write_bytes(sound[:place] + bytes([to]) + sound[place + 1 :])
    try:
        tensors, _ = read_tensors(path)
    except ValueError as refused:
        assert str(path) in str(refused)
    else:
        assert equal(tensors, {"a": torch.ones(100)}), "only what says nothing, such as the name of the checksum"


@settings(max_examples=50)
@given(content=st.binary(max_size=80))
def test_any_bytes_are_refused_in_words(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "t.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="t.safetensors is|has"):
        read_tensors(path)


def write_folder(text):
    def write(folder):
        folder.mkdir()
        (folder / "one").write_text(text)
        (folder / "two").write_text(text)

    return write


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("error", [RuntimeError("halfway"), KeyboardInterrupt()])
def test_an_error_or_an_interrupt_halfway_leaves_what_was_there(tmp_path, kind, error):
    path = tmp_path / "thing"
    old = write_folder("old") if kind == "folder" else lambda to: to.write_text("old")
    write_whole(path, old)

    def halfway(unfinished):
        write_folder("new")(unfinished) if kind == "folder" else unfinished.write_text("new")
        raise error

    with pytest.raises(type(error)):
        write_whole(path, halfway)
    assert (path / "two" if kind == "folder" else path).read_text() == "old"
    assert names_in(tmp_path) == ["thing"]


def test_an_interrupt_between_the_two_renamings_brings_the_old_folder_back(tmp_path, monkeypatch):
    write_whole(tmp_path / "thing", write_folder("old"))
    rename = os.rename

    def interrupted(source, target):
        if Path(target).name == "thing" and Path(source).name.endswith(".unfinished"):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "thing", write_folder("new"))
    assert (tmp_path / "thing" / "one").read_text() == "old"
    assert names_in(tmp_path) == ["thing"]


def test_a_folder_that_is_not_there_yet_is_made_with_its_parents(tmp_path):
    write_whole(tmp_path / "ä b" / "c" / "thing", write_folder("new"))
    assert names_in(tmp_path / "ä b" / "c") == ["thing"]
    assert names_in(tmp_path / "ä b" / "c" / "thing") == ["one", "two"]


def test_what_a_killed_writer_left_is_cleared_away_when_it_is_old(tmp_path):
    for name in (".thing.000000000000.unfinished", ".other.000000000000.unfinished"):
        write_folder("half")(tmp_path / name)
        os.utime(tmp_path / name, (0, 0))
    write_folder("somebody is at it")(tmp_path / ".thing.111111111111.unfinished")
    write_whole(tmp_path / "thing", lambda to: to.write_text("new"))
    assert names_in(tmp_path) == [".other.000000000000.unfinished", ".thing.111111111111.unfinished", "thing"]


def test_case_120_a_full_disk_keeps_the_old_file_and_nothing_half_written(tmp_path):
    with little_room(tmp_path / "small", 65536) as small:
        small_enough, too_large = {"a": torch.ones(1_000)}, {"a": torch.ones(100_000)}
        write_whole(small / "t.safetensors", lambda to: write_tensors(to, small_enough))
        with pytest.raises(OSError, match=r"t\.safetensors was not written, what was there is unchanged"):
            write_whole(small / "t.safetensors", lambda to: write_tensors(to, too_large))
        assert equal(read_tensors(small / "t.safetensors")[0], small_enough)
        assert names_in(small) == ["t.safetensors"]


KILLED_WHILE_WRITING = """
import os, random, signal, sys, time
from pathlib import Path
from gptlab import storage

def write(text):
    def fill(folder):
        folder.mkdir()
        for name in ("one", "two"):
            (folder / name).write_text(text * 1000)
    return fill

def die_at(call):
    calls = 0
    def dying(do):
        def counted(*args):
            nonlocal calls
            calls += 1
            if calls == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return do(*args)
        return counted
    for name in ("rename", "replace", "fsync"):
        setattr(os, name, dying(getattr(os, name)))

def write_in_a_child(path, call):
    child = os.fork()
    if child == 0:
        if call is not None:
            die_at(call)
        for turn in range(10**9 if call is None else 1):
            storage.write_whole(path, write("AB"[turn % 2] if call is None else "B"))
        os._exit(0)
    return child

path, draw = Path(sys.argv[1]) / "thing", random.Random(0)
storage.write_whole(path, write("A"))
seen = []
for call in [*range(1, 10), *[None] * 20]:
    child = write_in_a_child(path, call)
    if call is None:
        time.sleep(draw.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
    killed = os.waitpid(child, 0)[1] == signal.SIGKILL
    there = storage.standing(path)
    texts = {(there / name).read_text() for name in ("one", "two")}
    assert len(texts) == 1 and texts <= {"A" * 1000, "B" * 1000}, (call, texts)
    seen.append(("killed" if killed else "done") + texts.pop()[0] + ("" if there == path else " aside"))
    storage.write_whole(path, write("A"))
    assert (path / "one").read_text() == "A" * 1000 and storage.standing(path) == path
print(" ".join(seen[:9]), len(seen))
"""


def test_case_120_killed_at_every_step_and_at_random_the_old_or_the_new_is_whole(tmp_path):
    """Each of the calls that put bytes and names on the disk is once the last that is begun."""
    said = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, tmp_path], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    old, new = ["killedA"] * 4, ["killedB"]  # three flushes and the first renaming; the flush after the second
    assert said.stdout.split() == [*old, "killedA", "aside", *new, *["doneB"] * 3, "29"]


def test_what_stands_is_the_path_itself_where_nothing_was_put_aside(tmp_path):
    assert standing(tmp_path / "nothing") == tmp_path / "nothing"
    assert standing("/") == Path("/")


def test_a_checksum_covers_names_types_shapes_and_texts(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.ones(2, 3)}, {"run": json.dumps({"steps": 10})})
    sound = path.read_bytes()
    for before, after in ((b"[2,3]", b"[3,2]"), (b'"a"', b'"b"'), (b'"F32"', b'"I32"'), (b": 10", b": 90")):
        assert sound.count(before) == 1
        path.write_bytes(sound.replace(before, after))
        with pytest.raises(ValueError, match="checksum"):
            read_tensors(path)
