"""What Binder and conda users get: the same names and ranges as pip's, and an image that installs our environment.

No conda solver was run: it takes channels that the project's machines do not reach. What is checked is the
Dockerfile that repo2docker writes; its exit code alone proves nothing, for it is 0 also when our file is ignored.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomllib
import yaml

ROOT = Path(__file__).resolve().parent.parent
BINDER = ROOT / "binder"
CORES = len(os.sched_getaffinity(0))
# conda-forge's name for what has another there; its CPU build needs no index of its own.
CONDA_NAME = {"torch": "pytorch-cpu"}


def conda() -> dict:
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def apart(requirement: str) -> tuple[str, str]:
    name, span = re.fullmatch(r"([A-Za-z0-9_-]+)\s*(.*)", requirement).groups()
    return name, span


def test_binder_reads_the_same_environment_as_conda_users():
    assert not (BINDER / "environment.yml").is_symlink()  # repo2docker ignores a broken link in silence
    assert (BINDER / "environment.yml").read_bytes() == (ROOT / "environment.yml").read_bytes()


def test_names_and_ranges_agree_with_pip():
    ours = dict(apart(requirement) for requirement in project()["dependencies"])
    theirs = dict(apart(requirement) for requirement in conda()["dependencies"])
    assert theirs.pop("pip") == ""
    theirs.pop("python")
    assert theirs == {CONDA_NAME.get(name, name): span for name, span in ours.items()}


def test_python_is_pinned_to_a_version_that_the_package_supports():
    python = dict(apart(requirement) for requirement in conda()["dependencies"])["python"]
    least = re.fullmatch(r">=3\.(\d+)", project()["requires-python"])[1]
    assert int(re.fullmatch(r"=3\.(\d+)", python)[1]) >= int(least)


def test_pins_lie_within_the_ranges():
    from packaging.requirements import Requirement

    pins = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pin = Requirement(line)
            pins[pin.name.lower()] = next(iter(pin.specifier)).version
    extras = project()["optional-dependencies"]
    for requirement in map(Requirement, project()["dependencies"] + extras["test"] + extras["hub"]):
        assert requirement.specifier.contains(pins[requirement.name.lower()]), requirement


def test_case_143_the_image_takes_the_cpu_build_of_torch_and_keeps_no_cache():
    names = [apart(requirement)[0] for requirement in conda()["dependencies"]]
    assert "pytorch-cpu" in names and not {"pytorch", "torch", "pytorch-cuda", "cudatoolkit"} & set(names)
    assert "--no-deps" in (BINDER / "postBuild").read_text()
    assert "--no-cache-dir" in (BINDER / "postBuild").read_text()


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory) -> str:
    """What repo2docker would build of a copy of the repository, without its .venv."""
    copy = tmp_path_factory.mktemp("repository")
    shutil.copytree(BINDER, copy / "binder")
    for name in ("environment.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    options = ["--no-build", "--no-run", "--debug", "--user-id", "1000", "--user-name", "jovyan"]
    command = [Path(sys.executable).parent / "jupyter-repo2docker", *options, copy]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    return said.stdout + said.stderr


@pytest.mark.parametrize(
    "line",
    [
        r"^COPY .*src/binder/environment\.yml",
        r'env update -p \S+ --file "binder/environment\.yml"',
        r"^RUN \./binder/postBuild$",
        r'^ENV R2D_ENTRYPOINT="?\S+/binder/start"?$',
        r"for python=3\.11$",
    ],
)
def test_the_dockerfile_installs_our_environment(dockerfile, line):
    assert re.search(line, dockerfile, re.MULTILINE), dockerfile


def started(command: str, **variables: str) -> str:
    """What a command prints when Binder's start script runs it."""
    said = subprocess.run(
        [BINDER / "start", "sh", "-c", command],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0 and said.stderr == "", said.stderr
    return said.stdout.strip()


def test_scripts_can_be_started_and_start_ends_in_what_it_was_given():
    assert all(os.access(BINDER / name, os.X_OK) for name in ("start", "postBuild"))
    assert (BINDER / "start").read_text().rstrip().endswith('exec "$@"')
    assert started("echo 'a  b'") == "a  b"


@pytest.mark.parametrize(("granted", "threads"), [("1", "1"), ("1.0", "1"), ("0.25", "1"), ("100", str(CORES))])
def test_case_142_as_many_threads_as_the_hub_grants(granted, threads):
    assert started("echo $OMP_NUM_THREADS", CPU_LIMIT=granted) == threads


def test_case_142_never_more_threads_than_cores_and_a_number_given_stands():
    assert 1 <= int(started("echo $OMP_NUM_THREADS")) <= CORES
    assert started("echo $OMP_NUM_THREADS", OMP_NUM_THREADS="7") == "7"


def test_binder_asks_nothing_about_news():
    path = Path(started("echo $JUPYTER_CONFIG_PATH", JUPYTER_CONFIG_PATH="/elsewhere").removesuffix(":/elsewhere"))
    page = json.loads((path / "labconfig" / "page_config.json").read_text())
    assert page["disabledExtensions"] == {"@jupyterlab/apputils-extension:announcements": True}
    assert (path / "jupyter_server_config.json").exists()
