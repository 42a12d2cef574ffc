"""Where the tests' own surroundings are not given: outside the checkout, without a home, in other times and tongues."""

import os
import re
import subprocess
import sys

from tests.installing import ROOT, pip

SECONDS = 600
# Modules that read and write files and texts, and take seconds.
SOME_TESTS = ["tests/test_storage.py", "tests/test_labels.py", "tests/test_exercises.py"]


def test_the_readmes_example_runs_from_an_installed_wheel_outside_the_checkout(wheel, tmp_path):
    pip("install", "--no-deps", "--target", tmp_path / "packages", wheel)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    where = "import gptlab; print(gptlab.__file__)\n"
    run = subprocess.run(
        [sys.executable, "-c", where + example],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path / "packages")},
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert run.returncode == 0 and run.stderr == "", run.stderr
    place, text = run.stdout.split("\n", 1)
    assert place == str(tmp_path / "packages" / "gptlab" / "__init__.py")
    assert len(text.split()) > 20


def test_tests_pass_without_a_home_in_an_odd_time_zone_and_the_c_locale(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "LC_CTYPE", "PYTHONUTF8")}
    environment |= {"LANG": "C", "LC_ALL": "C", "TZ": "<-1234>12:34"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/tests", *SOME_TESTS],
        cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout.decode()
