"""The command line as a shell sees it: what it prints, its exit codes, and that nothing it began is lost."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import tomllib

import classroom
import gptlab
from gptlab.__main__ import COMMANDS, _parser, main
from gptlab.commands import _checks, _environments, _lessons
from gptlab.commands._progress import in_words
from gptlab.storage import read_tensors
from tests.installing import pip

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300
ODD = "--context 2 --held-out 0 --width 7".split()
TRAINING = "--size tiny --batch-size 4 --validate-every 50 --checkpoint-every 5 --precision float32 --vocab-size 300"


def gptlab_command(*words, stdin=None, cwd=None, **environment):
    """`python -m gptlab` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gptlab", *map(str, words)],
        input=stdin, capture_output=True, cwd=cwd, env=os.environ | environment, timeout=SECONDS,
    )  # fmt: skip


def said(capsys, *words):
    """The same in this process: exit code, stdout, stderr."""
    try:
        code = main([*map(str, words)])
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("\n".join(gptlab.world.sample(seed) for seed in range(40)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(text):
    """A run of 60 steps that nobody has broken off, its folder, and what it said."""
    folder = text.parent / "unbroken"
    return folder, gptlab_command("train", "--data", text, "--output", folder, "--steps", 60, *TRAINING.split())


# Words


@pytest.mark.parametrize("command", COMMANDS)
def test_help_tells_what_a_command_is_for_and_gives_examples(capsys, command):
    code, out, err = said(capsys, command, "--help")
    assert code == 0 and err == ""
    assert " ".join(COMMANDS[command].__doc__.split()) in " ".join(out.split())
    examples = out.split("examples:")[1].strip().splitlines()
    assert len(examples) >= 3 and any(line.strip().startswith(f"gptlab {command}") for line in examples)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_in_the_help_are_words_that_the_command_takes(command):
    for line in COMMANDS[command].EXAMPLES.strip().splitlines():
        words = shlex.split(line.split("  #")[0].split(" < ")[0], comments=True)
        _parser().parse_args(words[words.index("gptlab") + 1 :])


def test_the_console_script_and_the_module_are_the_same_and_help_comes_at_once():
    began = time.monotonic()
    run = gptlab_command("--help")
    assert run.returncode == 0 and all(f"    {name} " in run.stdout.decode() for name in COMMANDS)
    assert time.monotonic() - began < 10
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"gptlab": "gptlab.__main__:main"}


def test_help_needs_no_torch():
    program = "import sys, gptlab.__main__\nprint({'torch', 'plotly', 'jupyterlab', 'tiktoken'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.strip() == "set()", run.stdout + run.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "COMMAND"),
        (["nonsense"], "nonsense"),
        (["generate", "--top-k", "0"], "0 is no whole number of at least 1"),
        (["generate", "--temperature", "-1"], "-1 is no number of at least 0"),
        (["generate", "--temperature", "warm"], "warm is no number"),
        (["generate", "a prompt", "--no-such-option"], "--no-such-option"),
        (["tokenize"], "text"),
        (["train"], "--data"),
        (["train", "--data", "x", "--vocab-size", "300", "--tokenizer", "gpt2"], "not allowed with"),
        (["train", "--data", "x", "--vocab-size", "100"], "at least 257"),
        (["train", "--data", "x", "--held-out", "1"], "1 is no number of at least 0 and below 1"),
        (["export", "small-world", "x", "--dtype", "int8"], "int8"),
    ],
)
def test_words_that_make_no_command_end_in_2_and_one_line(capsys, words, named):
    code, out, err = said(capsys, *words)
    assert code == 2 and out == ""
    assert named in err and len(err.strip().splitlines()) == 1 and "--help" in err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["generate", "x", "--model", "{tmp}/none"], "none"),
        (["generate", "x", "--top-p", "3"], "top_p is 3.0"),
        (["generate", "x", "--model", "{tmp}/no-tokenizer"], "a model with a tokenizer"),
        (["tokenize", "x", "--tokenizer", "{tmp}/none"], "there is nothing of that name"),
        (["tokenize", "x", "--tokenizer", "{tmp}/story.txt"], "a tokenizer file as Tokenizer.save writes it"),
        (["tokenize", "x", "--tokenizer", "{tmp}/no-tokenizer"], "saved with its tokenizer"),
        (["train", "--data", "{tmp}/none", "--output", "{tmp}/new"], "there is nothing of that name"),
        (["train", "--data", "{tmp}/picture.bin", "--output", "{tmp}/new"], "byte 0 is none"),
        (["train", "--data", "{tmp}/pictures", "--output", "{tmp}/new"], "some text in UTF-8"),
        (["train", "--data", "{tmp}/story.txt", "--output", "{tmp}/new"], "the number of tokens to train on"),
        (["train", "--data", "{tmp}/story.txt", "--output", "{tmp}/story.txt"], "a folder for the model alone"),
        (["train", "--data", "{tmp}/story.txt", "--output", "{tmp}"], "has folders in it"),
        (["train", "--data", "{tmp}/story.txt", "--output", "{tmp}/no-tokenizer"], "was not trained here"),
        (["train", "--data", "{tmp}/story.txt", "--output", "{tmp}/new", *ODD], "d_model is 7"),
        (["export", "{tmp}/none", "{tmp}/new"], "none"),
        (["export", "small-world", "{tmp}/story.txt"], "this is a file"),
        (["lab", "{tmp}/story.txt", "--copy-only"], "this is a file"),
        (["lab", "{tmp}/lessons", "--copy-only", "--lesson", "99"], "the name of a lesson"),
    ],
)
def test_what_cannot_be_done_ends_in_1_and_one_line(capsys, tmp_path, words, named):
    (tmp_path / "story.txt").write_text("Once.")
    (tmp_path / "pictures").mkdir()
    for path in (tmp_path / "picture.bin", tmp_path / "pictures" / "picture.bin"):
        path.write_bytes(bytes([255, 0, 254]))
    gptlab.save(tmp_path / "no-tokenizer", gptlab.GPT(gptlab.GPTConfig(9, 4, 1, 1, 4)))
    code, _, err = said(capsys, *(word.replace("{tmp}", str(tmp_path)) for word in words))
    assert code == 1 and named in err.splitlines()[-1]
    assert len(err.strip().splitlines()) == 1 and err.startswith(f"gptlab {words[0]}: ")
    assert not (tmp_path / "new").exists()


def test_bad_input_shows_no_traceback_in_a_shell_either():
    run = gptlab_command("tokenize", "-", stdin=b"\xff\xfe")
    assert (run.returncode, run.stdout) == (1, b"")
    assert run.stderr.startswith(b"gptlab tokenize: ") and run.stderr.count(b"\n") == 1


# generate, tokenize, export


def test_generate_writes_what_stream_gives_and_a_seed_gives_it_again():
    words = ("generate", "There was once", "--temperature", 0.8, "--top-k", 50, "--top-p", 0.95, "--seed", 3)
    run = gptlab_command(*words, "--max-new-tokens", 30)
    model, tok = gptlab.load("small-world")
    ours = "".join(gptlab.stream(model, tok, "There was once", 30, 0.8, 50, 0.95, 3))
    assert run.returncode == 0 and run.stdout.decode() == f"There was once{ours}\n" and run.stderr == b""


def test_generate_shows_each_piece_as_it_comes(capsys, monkeypatch):
    seen = []

    def pieces(*_, **__):
        for piece in ("a", "b"):
            seen.append(capsys.readouterr().out)
            yield piece

    monkeypatch.setattr("gptlab.decoding.stream", pieces)
    assert said(capsys, "generate", "prompt ")[:2] == (0, "b\n")
    assert seen == ["prompt ", "a"]


def test_a_reader_who_has_seen_enough_is_no_error():
    command = [sys.executable, "-m", "gptlab", "generate", "", "--max-new-tokens", "3000", "--top-k", "1000"]
    run = subprocess.Popen([*command, "--model", "small-world"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout.read(3)
    run.stdout.close()
    run.stdout = None
    _, err = run.communicate(timeout=SECONDS)
    assert run.returncode in (0, 1) and err == b""


def test_tokenize_shows_ids_and_pieces_of_a_word_or_of_the_standard_input():
    piped = gptlab_command("tokenize", "-", stdin="wörld  ⏎\n".encode())
    tok = gptlab.Tokenizer.gpt2()
    lines = [line.split(maxsplit=1) for line in piped.stdout.decode().splitlines()]
    assert piped.returncode == 0
    assert [(int(id), shown) for id, shown in lines] == [(p.id, p.shown) for p in tok.pieces("wörld  ⏎\n")]


@pytest.mark.parametrize("name", ["small-world", "{tmp}/tokenizer.json", "{tmp}/model"])
def test_tokenize_takes_any_tokenizer(capsys, tmp_path, name):
    model, tok = gptlab.load("small-world")
    tok.save(tmp_path / "tokenizer.json")
    gptlab.save(tmp_path / "model", model, tok)
    code, out, _ = said(capsys, "tokenize", "There was", "--tokenizer", name.replace("{tmp}", str(tmp_path)))
    assert code == 0 and [int(line.split()[0]) for line in out.splitlines()] == tok.encode("There was")


def test_export_goes_there_and_back(tmp_path):
    import torch

    there = gptlab_command("export", "small-world", tmp_path / "there")
    assert there.returncode == 0 and b"layout huggingface" in there.stdout, there.stderr
    assert json.loads((tmp_path / "there" / "config.json").read_text())["model_type"] == "gpt2"
    back = gptlab_command("export", tmp_path / "there", tmp_path / "back", "--layout", "gptlab", "--dtype", "float16")
    assert back.returncode == 0, back.stderr
    (one, tok), (other, other_tok) = gptlab.load("small-world"), gptlab.load(tmp_path / "back")
    assert (tmp_path / "back" / "model.safetensors").stat().st_size < 2.4e6
    assert tok.encode("There was once, 3 é") == other_tok.encode("There was once, 3 é")
    for ours, theirs in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-3)


# train


def test_train_leaves_a_model_that_loads_and_says_where_it_stands(trained):
    folder, run = trained
    assert run.returncode == 0, run.stderr
    lines = run.stdout.decode().splitlines()
    assert "parameters" in lines[0] and "step 1 of 60, loss" in lines[1]
    assert "step 50 of 60, loss" in lines[2] and "held out" in lines[2] and lines[2].endswith("left")
    assert lines[-1] == f"done; to try it: gptlab generate --model {folder}"
    model, tok = gptlab.load(folder)
    assert tok.vocab_size == 300 == model.config.vocab_size
    rows = [row.split(",") for row in (folder / "losses.csv").read_text().splitlines()[1:]]
    assert [int(row[0]) for row in rows] == list(range(1, 61))
    assert [int(row[0]) for row in rows if row[2]] == [50, 60]
    assert float(rows[-1][1]) < float(rows[0][1]) - 0.5


def test_the_same_command_after_the_end_trains_no_more(trained, text):
    folder, run = trained
    before = (folder / "losses.csv").read_text(), numbers_in(folder / "model.safetensors")
    again = gptlab_command("train", "--data", text, "--output", folder, "--steps", 60, *TRAINING.split())
    assert again.returncode == 0 and b"step" not in again.stdout
    assert before == ((folder / "losses.csv").read_text(), numbers_in(folder / "model.safetensors"))


def test_another_command_for_the_same_folder_is_refused(trained, text, capsys):
    folder, _ = trained
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, _, err = said(capsys, "train", "--data", text, "--output", folder, "--steps", 61, *TRAINING.split())
    assert code == 1 and "steps is 61, but must be 60" in err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def numbers_in(path):
    """Every tensor of a file by name, to the last bit; the order of the texts beside them is left to chance."""
    return {name: tensor.numpy().tobytes() for name, tensor in read_tensors(path)[0].items()}


@pytest.mark.parametrize(
    ("end", "goes_on"), [(signal.SIGINT, 25), (signal.SIGTERM, 25), (signal.SIGKILL, 21)], ids=["INT", "TERM", "KILL"]
)
def test_a_run_that_was_ended_goes_on_bit_for_bit(trained, text, tmp_path, end, goes_on):
    """Ended half-way between two checkpoints; who is asked to stop leaves one."""
    folder = tmp_path / "run"
    words = ["train", "--data", str(text), "--output", str(folder), "--steps", "60", *TRAINING.split()]
    program = [sys.executable, ROOT / "tests" / "broken_off.py", "23", str(int(end)), "0"]
    ended = subprocess.run([*program, *words], capture_output=True, text=True, timeout=SECONDS)
    if end == signal.SIGKILL:
        assert ended.returncode == -signal.SIGKILL
    else:
        assert ended.returncode == 130
        assert "stopped after step 24; to go on from there, the same command again" in ended.stderr
        assert f"gptlab train --data {text} --output {folder} --steps 60" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not (folder / "model.safetensors").exists()
    on = gptlab_command(*words)
    assert on.returncode == 0, on.stderr
    assert int(on.stdout.decode().split("step ")[1].split()[0]) == goes_on
    assert (folder / "losses.csv").read_text() == (trained[0] / "losses.csv").read_text()
    for name in ("model.safetensors", "training.state"):
        assert numbers_in(folder / name) == numbers_in(trained[0] / name)


def test_a_folder_of_texts_is_read_in_order_and_what_is_no_text_left_out(tmp_path, capsys, monkeypatch):
    from gptlab import training

    told = {}

    def nothing(model, data, steps, **options):
        told.update(data=data, model=model, options=options)
        yield from ()

    monkeypatch.setattr(training, "train", nothing)
    folder = tmp_path / "texts"
    (folder / "deeper").mkdir(parents=True)
    (folder / ".hidden").write_text("never " * 100)
    (folder / "a.md").write_text("\ufefffirst é " * 50, encoding="utf-8")
    (folder / "deeper" / "z.txt").write_text("second " * 50)
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "last.txt").write_text("third" * 50)
    sizes = "--layers 1 --heads 1 --width 8 --context 4 --held-out 0 --batch-size 2 --learning-rate 0.5".split()
    words = ["train", "--data", folder, tmp_path / "last.txt", "--output", tmp_path / "run", *sizes]
    code, _, err = said(capsys, *words, "--tokenizer", "gpt2")
    assert code == 0 and "left out" in err and "picture.png" in err
    config, tok = told["model"].config, gptlab.Tokenizer.gpt2()
    assert (config.vocab_size, config.n_layers, config.n_heads, config.d_model, config.context_length) == (
        50_257, 1, 1, 8, 4,
    )  # fmt: skip
    assert told["options"]["precision"] == "auto" and told["options"]["learning_rate"] == 0.5
    text = tok.decode(told["data"]._training.tolist())
    assert text.count("never") == 0
    first, second, third = (text.index(word) for word in ("first é", "second", "third"))
    assert first < second < third
    assert told["data"]._training.tolist().count(tok.end_of_text) == 4  # before, between and behind three texts


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (5000, "83 min"), (5400, "1 h 30 min")]
)
def test_times_are_said_as_one_says_them(seconds, words):
    assert in_words(seconds) == words


def test_a_terminal_sees_a_bar(text, tmp_path):
    pty = pytest.importorskip("pty", reason="a system without terminals of this kind")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gptlab", "train", "--data", str(text), "--output", str(tmp_path / "run")]
    run = subprocess.Popen([*command, "--steps", "4", *TRAINING.split()], stdout=subprocess.DEVNULL, stderr=theirs)
    assert run.wait(timeout=SECONDS) == 0
    os.close(theirs)
    assert "[############............] step 2 of 4, loss" in os.read(ours, 100_000).decode()
    os.close(ours)


# lab


@pytest.fixture
def lessons(tmp_path):
    """Two lessons that come with a package, and where a learner wants them."""
    source = tmp_path / "shipped"
    source.mkdir()
    for name in ("00_start_here.ipynb", "01_more.ipynb"):
        (source / name).write_text(f"{name}, first edition")
    return source, tmp_path / "mine"


def test_lessons_are_copied_once(lessons):
    source, folder = lessons
    assert _lessons.copy_lessons(source, folder) == (["00_start_here.ipynb", "01_more.ipynb"], [])
    assert (folder / "01_more.ipynb").read_bytes() == (source / "01_more.ipynb").read_bytes()
    assert _lessons.copy_lessons(source, folder) == ([], [])


def test_a_changed_lesson_is_kept_and_an_untouched_one_renewed(lessons):
    source, folder = lessons
    _lessons.copy_lessons(source, folder)
    (folder / "00_start_here.ipynb").write_text("my answers")
    for lesson in source.iterdir():
        lesson.write_text("second edition")
    for _ in range(2):
        copied = _lessons.copy_lessons(source, folder)
        assert copied.kept == ["00_start_here.ipynb"]
        assert (folder / "00_start_here.ipynb").read_text() == "my answers"
        assert (folder / "01_more.ipynb").read_text() == "second edition"
    assert copied.new == []


@pytest.mark.parametrize("record", [None, "no JSON", "[]"])
def test_where_it_is_not_known_who_wrote_a_file_it_is_kept(lessons, record):
    source, folder = lessons
    folder.mkdir()
    (folder / "01_more.ipynb").write_text("somebody's")
    if record is not None:
        (folder / _lessons.RECORD).write_text(record)
    assert _lessons.copy_lessons(source, folder) == (["00_start_here.ipynb"], ["01_more.ipynb"])
    assert (folder / "01_more.ipynb").read_text() == "somebody's"


def test_lab_says_what_it_copied_and_what_it_kept_and_opens_the_lesson_asked_for(tmp_path, capsys, monkeypatch):
    started = []
    monkeypatch.setattr("gptlab.commands.lab.start", lambda *words: started.append(words))
    count = len(list((ROOT / "notebooks").glob("*.ipynb")))
    code, out, _ = said(capsys, "lab", tmp_path, "--no-browser", "--port", "8899", "--lesson", "02", "--ip=::")
    assert code == 0 and out == f"{tmp_path}: {count} lessons copied\n"
    assert started == [(tmp_path, "02_tokenization.ipynb", ["--port=8899", "--no-browser", "--ip=::"])]
    (tmp_path / "00_start_here.ipynb").write_text("mine")
    _, out, _ = said(capsys, "lab", tmp_path, "--copy-only")
    assert out.endswith("0 lessons copied\nkept as you have changed them: 00_start_here.ipynb\n") and len(started) == 1


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    target = tmp_path_factory.mktemp("target")
    pip("install", "--no-deps", "--target", target, wheel)
    return target


def test_an_installation_elsewhere_finds_its_lessons_by_what_pip_wrote_down(wheel, tmp_path):
    pip("install", "--no-deps", "--ignore-installed", "--prefix", tmp_path / "prefix", wheel)
    packages = next((tmp_path / "prefix").rglob("site-packages"))
    run = gptlab_command("lab", tmp_path / "mine", "--copy-only", cwd=tmp_path, PYTHONPATH=str(packages))
    assert run.returncode == 0, run.stderr
    ours = {path.name: path.read_bytes() for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert ours == {path.name: path.read_bytes() for path in (tmp_path / "mine").glob("*.ipynb")}


def test_the_lab_of_an_installed_wheel_serves_a_copy_of_the_lessons_and_saves_them_clean(installed, tmp_path):
    command = [sys.executable, "-m", "gptlab", "lab", "mine", "--ip=127.0.0.1"]
    with classroom.started(command, tmp_path, PYTHONPATH=str(installed)) as server:
        assert "@jupyterlab/apputils-extension:announcements" in answer(server, "lab")
        listed = json.loads(answer(server, "api/contents"))["content"]
        assert {entry["name"] for entry in listed} == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
        view = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "words"}
        output = {"output_type": "display_data", "data": view, "metadata": {}}
        cell = {"cell_type": "code", "id": "a", "source": "", "execution_count": 1, "outputs": [output], "metadata": {}}
        notebook = {"cells": [cell], "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 5}
        body = json.dumps({"type": "notebook", "content": notebook}).encode()
        answer(server, "api/contents/new.ipynb", method="PUT", data=body)
        saved = json.loads((tmp_path / "mine" / "new.ipynb").read_text())
        assert list(saved["cells"][0]["outputs"][0]["data"]) == ["text/plain"] and "widgets" not in saved["metadata"]


def answer(server, what, **request):
    asked = Request(f"{server.url}{what}", headers={"Authorization": f"token {server.token}"}, **request)
    with urlopen(asked, timeout=SECONDS) as said:
        return said.read().decode()


# doctor

WELL = {"gptlab": "0.1.0", "torch": "2.13.0+cpu", "numpy": "2.4.6", "ipywidgets": "8.1.9", "anywidget": "0.11.0"}
WELL |= {"plotly": "7.1.0", "jupyterlab": "4.6.6"}
EXTENSIONS = {_checks.WIDGETS: "5.0.16", "anywidget": "0.11.0", "jupyterlab-plotly": "7.1.0"}


def interpreter(path, versions, extensions=None, kernels=None):
    """A stand-in for the Python of another environment: whatever it is asked, it says what it has."""
    facts = {"python": str(path), "versions": versions, "extensions": extensions or {}, "kernels": kernels or {}}
    path.with_suffix(".json").write_text(json.dumps(facts))
    path.write_text(f"#!/bin/sh\nexec cat '{path.with_suffix('.json')}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def doctor(tmp_path, capsys, monkeypatch):
    """What the doctor says of a server and a kernel of two environments; free memory and cores as told."""

    def run(kernel=None, server=None, extensions=None, *, memory=8 << 30, threads=1):
        monkeypatch.setattr("gptlab.commands.doctor.free_memory", lambda: memory)
        monkeypatch.setattr("gptlab.commands.doctor.granted_cores", lambda: 2 / threads)
        monkeypatch.setattr("torch.get_num_threads", lambda: threads)
        k = interpreter(tmp_path / "kernel", {n: v for n, v in (WELL | (kernel or {})).items() if v})
        parts = {n: v for n, v in (EXTENSIONS | (extensions or {})).items() if v}
        spec = {"python3": {"argv": [str(k), "-m", "ipykernel"], "folder": "/kernels/python3"}}
        s = interpreter(tmp_path / "server", {"jupyterlab": "4.6.6"} | (server or {}), parts, spec)
        code, out, _ = said(capsys, "doctor", "--server", s)
        return code, [line.strip() for line in out.replace(str(tmp_path), "").splitlines()]

    return run


def test_where_all_is_well_the_doctor_says_so(doctor):
    code, lines = doctor()
    assert code == 0 and lines[-1] == "all well" and all(line.startswith("ok ") for line in lines[:-1])
    assert "ok     /server: starts the kernel python3 in /kernel" in lines


@pytest.mark.parametrize(
    ("change", "wrong", "mend"),
    [
        ({"kernel": {"gptlab": None}}, "the kernel python3 has no gptlab", "ipykernel install --user --name"),
        ({"kernel": {"ipywidgets": None}}, "ipywidgets is missing", "/kernel -m pip install 'ipywidgets"),
        ({"kernel": {"plotly": "5.24.0"}}, "plotly 5.24.0, gptlab needs", "/kernel -m pip install 'plotly"),
        ({"kernel": {"anywidget": "0.9.18"}}, "anywidget 0.9.18 in the kernel, its JupyterLab extension 0.11.0",
         "/server -m pip install 'anywidget==0.9.18'"),
        ({"extensions": {_checks.WIDGETS: None}}, "extension missing", "/server -m pip install 'ipywidgets==8.1.9'"),
        ({"extensions": {_checks.WIDGETS: "3.1.1"}}, "extension 3.1.1", "/server -m pip install 'ipywidgets==8.1.9'"),
        ({"extensions": {"jupyterlab-plotly": None}}, "plotly 7.1.0 in", "/server -m pip install 'plotly==7.1.0'"),
        ({"extensions": {"jupyterlab-plotly": "5.24.0"}}, "plotly 7.1.0 in the kernel", "'plotly==7.1.0'"),
        ({"server": {"jupyterlab": "3.6.7"}}, "JupyterLab 3.6.7", "/server -m pip install 'jupyterlab>=4.2,<5'"),
        ({"memory": 1 << 29}, "memory: 0.5 GB free", "close other kernels"),
        ({"threads": 4}, "torch takes 4, this process may use 0.5 cores", "OMP_NUM_THREADS=1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_with_what_mends_it(doctor, change, wrong, mend):
    code, lines = doctor(**change)
    place = next(i for i, line in enumerate(lines) if line.startswith("WRONG") and wrong in line)
    assert code == 1 and lines[place + 1].startswith("to mend it: ") and mend in lines[place + 1]
    assert lines[-1] == f"{sum(line.startswith('WRONG') for line in lines)} to mend"


def test_the_doctor_asks_a_real_environment_that_lacks_everything(tmp_path):
    """A kernel that starts in an environment of its own, registered where JupyterLab looks."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    for name, python in (("bare", tmp_path / "bare" / "bin" / "python"), ("gone", "/nowhere/python")):
        spec = tmp_path / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": [str(python), "-m", "x"], "display_name": name, "language": "python"}))
    environment = classroom.in_home(tmp_path) | {"JUPYTER_PATH": str(tmp_path)}
    (tmp_path / "gptlab-0.0.dist-info").mkdir()
    (tmp_path / "gptlab-0.0.dist-info" / "METADATA").write_text("Name: gptlab\nVersion: 0.0\n")  # beside it, not in it
    bare = gptlab_command("doctor", "--kernel", "bare", "--server", sys.executable, cwd=tmp_path, **environment)
    assert bare.returncode == 1 and b"the kernel bare has no gptlab" in bare.stdout, bare.stdout + bare.stderr
    gone = gptlab_command("doctor", "--kernel", "gone", "--server", sys.executable, **environment)
    assert gone.returncode == 1 and b"/nowhere/python does not answer" in gone.stdout
    assert b"to mend it" in gone.stdout and b"Traceback" not in gone.stderr
    none = gptlab_command("doctor", "--kernel", "none", "--server", sys.executable, **environment)
    assert none.returncode == 1 and b"has no kernel none" in none.stdout


def test_the_environment_of_these_tests_is_well(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = gptlab_command("doctor", **classroom.in_home(tmp_path), PATH=path, OMP_NUM_THREADS="1")
    wrong = [line for line in run.stdout.decode().splitlines() if line.startswith("WRONG")]
    assert all("memory" in line for line in wrong), wrong  # that depends on what else is running
    assert run.returncode == len(wrong) and run.stderr == b""


@pytest.mark.parametrize(
    "script",
    [
        "#!/opt/jupyter/bin/python3.11\nimport re\n",
        "#!/bin/sh\n'''exec' /opt/jupyter/bin/python3.11 \"$0\" \"$@\"\n' '''\nimport re\n",
    ],
)
def test_the_interpreter_of_the_jupyter_lab_on_the_path_is_read_off_its_script(tmp_path, monkeypatch, script):
    (tmp_path / "jupyter-lab").write_text(script)
    (tmp_path / "jupyter-lab").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _environments.servers() == [sys.executable, "/opt/jupyter/bin/python3.11"]


def test_memory_and_cores_are_those_of_the_container(monkeypatch):
    said = {"/proc/meminfo": "MemFree: 1 kB\nMemAvailable:    4096 kB\n", "/sys/fs/cgroup/memory.max": "3000000\n"}
    said |= {"/sys/fs/cgroup/memory.current": "1000000\n", "/sys/fs/cgroup/cpu.max": "50000 100000\n"}
    monkeypatch.setattr(_checks, "_read", lambda path: said.get(path, ""))
    assert _checks.free_memory() == 2_000_000 and _checks.granted_cores() == 0.5
    said |= {"/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/cpu.max": "max 100000\n"}
    assert _checks.free_memory() == 4096 * 1024 and _checks.granted_cores() >= 1
    said.clear()
    assert _checks.free_memory() is None and _checks.check_memory(None).mend is None
