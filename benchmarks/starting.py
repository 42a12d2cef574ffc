"""From nothing to a model: the import, and loading the small world's model after torch. Each time in a new Python."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator

import gptlab
from benchmarks._measure import OURS, Comparison, milliseconds

ROUNDS = 5
TIMED = """
import time
{before}
began = time.perf_counter()
{timed}
print(time.perf_counter() - began)
"""


def starting() -> Iterator[Comparison]:
    yield compared("import", {OURS: ("", "import gptlab"), "transformers": ("", "import transformers")})
    with tempfile.TemporaryDirectory() as folder:
        gptlab.save(folder + "/model", *gptlab.load("small-world"), layout="huggingface")
        model = f"GPT2LMHeadModel.from_pretrained({folder + '/model'!r})"
        tok = f"GPT2TokenizerFast.from_pretrained({folder + '/model'!r})"
        theirs = f"from transformers import GPT2LMHeadModel, GPT2TokenizerFast; {model}; {tok}"
        ours = 'import gptlab; gptlab.load("small-world")'
        contestants = {OURS: ("import torch", ours), "transformers": ("import torch", theirs)}
        yield compared("load the small world's model and tokenizer after torch is imported", contestants)


def compared(task: str, contestants: dict[str, tuple[str, str]]) -> Comparison:
    taken = {name: [] for name in contestants}
    for _ in range(ROUNDS + 1):
        for name, (before, timed) in contestants.items():
            program = TIMED.format(before=before, timed=timed)
            said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
            taken[name].append(float(said.stdout.split()[-1]))
    return Comparison(task, "ms", milliseconds({name: values[1:] for name, values in taken.items()}))
