"""The house rules that can be read off the source: who imports whom, what a name is, what a module may not do.

Code stands in the order in which data flows: words, ids, vectors, attention, logits, probabilities, text; then
figures, apps, exercises. A module imports only what stands above it in `ORDER`.
"""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import gptlab

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gptlab"

# A pattern covers modules of one rank, which do not import one another; a package's face stands below its modules.
ORDER = """
    _refuse labels storage
    bpe tokenizer wrapped_tokenizer huggingface_tokenizer
    world.lexicon world.choice world.narrator world.scenes world.story world.truth
    world.second_language world.translation world
    embeddings
    ngrams
    config cache model fast_decoding
    corpus tracing
    probabilities window decoding beam lens
    rollout head_scores
    checkpoint huggingface hub loading record snapshots
    optimizer recipe loss training_state distributed training evaluation
    finetuning._descent finetuning.answers finetuning.supervised finetuning.preference finetuning.tasks
    finetuning.grpo finetuning
    relatives.encoder_decoder relatives.* relatives
    figures._canvas figures._attentions figures._levels figures._panels figures._rows figures.* figures
    apps._page apps._frame apps._text apps._prompt
    apps.films apps.heads apps._cost apps._background apps._session apps.* apps.machine apps
    exercises._check exercises.* exercises
    commands._probe commands._environments commands._earlier_cells commands._* commands.* commands
    __main__
""".split()
# Figures take arrays and token strings: no model, no widget. A page is written as safely as weights are.
FIGURES_MAY_IMPORT = {"_refuse", "labels", "storage"}
FIGURES_MAY_IMPORT |= {f"figures.{part}" for part in ("_canvas", "_attentions", "_levels", "_panels", "_rows")}
LONGEST_MODULE = 300

HEAVY = {"torch", "numpy", "plotly", "ipywidgets", "tiktoken", "safetensors", "jaxtyping", "IPython", "anywidget"}
WRITTEN_BY_US = {".py", ".md", ".toml", ".txt", ".yml", ".cfg", ".ipynb", ".json", ".csv", ""}
# Where somebody's machine shows: its folders, its registries' hosts, the talk around the work.
NOT_OURS_TO_SAY = re.compile(
    r"/work/|/root/|/opt/(wheels|pypi)|pypi\.org|pythonhosted|npmjs|deb\.debian\.org|\bclaude\b|anthropic|\bissue #?\d",
    re.IGNORECASE,
)

SOURCES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def rank(module: str) -> int | None:
    """Where a module stands in the order; a name of its own goes before a pattern."""
    matches = [i for i, pattern in enumerate(ORDER) if fnmatch(module, pattern)]
    exact = [i for i in matches if ORDER[i] == module]
    return next(iter(exact + matches), None)


def imports_of_ours(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module, without the leading `gptlab.`, of each import of ours, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            deeper = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name.removeprefix("gptlab.") in SOURCES else node.module for name in deeper]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "gptlab":
                yield node.lineno, name.removeprefix("gptlab").removeprefix(".")


def wrong_way(module: str, path: Path) -> list[str]:
    wrong = []
    for line, imported in imports_of_ours(path):
        place = f"{path.relative_to(ROOT)}:{line}"
        if imported == "":
            wrong.append(f"{place} imports the face of gptlab; import the module itself")
        elif rank(imported) is None or rank(imported) >= rank(module):
            wrong.append(f"{place}: {module} stands above {imported} and may not import it")
    return wrong


@pytest.mark.parametrize("module", SOURCES)
def test_a_module_imports_only_what_stands_above_it(module):
    assert rank(module) is not None, f"write into ORDER of {Path(__file__).name} where {module} stands"
    assert wrong_way(module, SOURCES[module]) == []


def test_an_import_that_goes_the_wrong_way_is_named_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    source = tmp_path / "config.py"
    source.write_text("import math\n\n\ndef late():\n    from gptlab.model import GPT\n    import gptlab\n")
    assert wrong_way("config", source) == [
        "config.py:5: config stands above model and may not import it",
        "config.py:6 imports the face of gptlab; import the module itself",
    ]


@pytest.mark.parametrize("module", [name for name in SOURCES if name.startswith("figures.")])
def test_figures_know_no_model_and_no_widget(module):
    source = SOURCES[module].read_text(encoding="utf-8")
    assert {imported for _, imported in imports_of_ours(SOURCES[module])} <= FIGURES_MAY_IMPORT
    assert not re.search(r"^\s*(from|import) (torch|ipywidgets|anywidget|IPython)", source, re.MULTILINE)


@pytest.mark.parametrize("module", SOURCES)
def test_a_module_says_what_it_is_about_and_is_read_in_one_sitting(module):
    source = SOURCES[module].read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), "no docstring"
    assert len(source.splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("module", SOURCES)
def test_no_function_prints_but_a_command_and_nothing_is_asserted(module):
    for node in ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Assert), f"assert in line {node.lineno}"
        called = getattr(getattr(node, "func", None), "id", None)
        may_print = module == "__main__" or module.startswith("commands.")
        assert called != "print" or may_print, f"print in line {node.lineno}"


def public() -> dict[str, object]:
    """Every public name: of gptlab and of the packages in it that have a face."""
    names = {f"gptlab.{name}": getattr(gptlab, name) for name in gptlab.__all__}
    faces = [value for value in names.values() if inspect.ismodule(value)]
    for face in faces:
        names |= {f"{face.__name__}.{name}": getattr(face, name) for name in face.__all__}
    return {name: value for name, value in names.items() if not inspect.ismodule(value)}


def test_no_module_has_the_name_of_a_public_name():
    """Else the one that is imported later would stand in the other's place."""
    assert set(public()) & {f"gptlab.{name}" for name in SOURCES} == set()


def test_every_public_name_is_documented():
    undocumented = [name for name, value in public().items() if callable(value) and not inspect.getdoc(value)]
    assert undocumented == []


def test_every_public_function_says_what_it_takes_and_gives():
    for name, value in public().items():
        if inspect.isfunction(value):
            signature = inspect.signature(value)
            bare = [key for key, one in signature.parameters.items() if one.annotation is inspect.Parameter.empty]
            assert bare == [], f"{name} takes {bare} without a type"
            assert signature.return_annotation is not inspect.Signature.empty, f"{name} does not say what it gives"


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with pytest.raises(AttributeError, match="next_token_loss"):
        gptlab.nonsense  # noqa: B018 (the look-up is the test)
    assert set(gptlab.__all__) <= set(dir(gptlab))


def fresh(program: str) -> str:
    """What a program prints in a Python of its own."""
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    return said.stdout


def test_importing_gptlab_costs_nothing():
    loaded = json.loads(fresh("import gptlab, sys, json; print(json.dumps(sorted(sys.modules)))"))
    assert HEAVY & set(loaded) == set()


IN_ANY_ORDER = """
import gptlab, importlib, random, sys
modules = [f"gptlab.{name}" for name in sys.argv[1:]]
public = [name for name in gptlab.__all__]
orders = [[module] for module in modules] + [random.Random(seed).sample(modules, len(modules)) for seed in range(5)]
for order in orders:
    for name in [name for name in sys.modules if name.split(".")[0] == "gptlab"]:
        del sys.modules[name]
    import gptlab
    for module in order:
        importlib.import_module(module)
    for name in public:
        value = getattr(gptlab, name)
        module = value.__name__ if hasattr(value, "__path__") else value.__module__
        assert module in sys.modules and callable(value) == (not hasattr(value, "__path__")), (order, name, value)
print(len(orders))
"""


def test_submodules_are_imported_in_any_order():
    """Each first in a fresh package, then all of them shuffled: the public names are what they should be."""
    modules = [name for name in SOURCES if name != "__main__"]
    said = subprocess.run([sys.executable, "-c", IN_ANY_ORDER, *modules], cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert int(said.stdout) == len(modules) + 5


def test_every_folder_with_modules_is_a_package():
    """Else an installation would leave it out."""
    assert {path.parent for path in PACKAGE.rglob("*.py")} == {path.parent for path in PACKAGE.rglob("__init__.py")}


def our_files() -> Iterator[Path]:
    """What the project holds, not what tools leave beside it."""
    for top in ROOT.iterdir():
        if top.name in {".ci", ".github"} or not top.name.startswith((".", "build", "dist")):
            for path in [top] if top.is_file() else top.rglob("*"):
                hidden = any(part.startswith((".ipynb", "__pycache__")) for part in path.parts)
                if path.is_file() and path.suffix in WRITTEN_BY_US and not hidden and ".egg-info" not in str(path):
                    yield path


def test_nothing_speaks_of_the_machine_it_was_made_on():
    found = []
    for path in our_files():
        if path != Path(__file__):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if NOT_OURS_TO_SAY.search(line):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_the_version_is_said_once():
    from importlib.metadata import version

    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert version("gptlab") == declared
    assert importlib.import_module("gptlab").__name__ == "gptlab"


def test_all_weights_together_stay_small():
    weights = sorted((PACKAGE / "data").rglob("*.safetensors"))
    assert len(weights) >= 4 and sum(path.stat().st_size for path in weights) < 25_000_000
