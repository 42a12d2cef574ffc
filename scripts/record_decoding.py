"""Record what lesson 08 shows and a cell has no time for: `python scripts/record_decoding.py`, some ten minutes.

    stories  for each temperature the share of the shipped model's stories that the world could have told, and the share
             of their 3-token sequences that are different ones; without and with top-p 0.9; and the world's own share
    speed    tokens per second over the length of the text, keys and values kept or computed anew, on one thread

Written to gptlab/data/decoding.json. The stories are to be recorded again when the model has been trained again.
"""

import json
from dataclasses import replace
from pathlib import Path

import torch

import gptlab
from gptlab import world
from gptlab.apps.speeds import measure

FILE = Path(gptlab.__file__).parent / "data" / "decoding.json"
TEMPERATURES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
TOP_P = 0.9
STORIES, SEED = 200, 10_000_000  # training draws its stories from other seeds
OPENING = 8  # tokens of a story that are given, so that greedy decoding tells more than one
REPEATS = 40  # of which the fastest counts: other work of the machine only slows
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)


def told(text: str) -> bool:
    """Whether a story of the world begins so, or is this."""
    try:
        world.analyse(text)
    except world.ImpossiblePrefix:
        return False
    return True


def distinct(rows: list[list[int]], n: int = 3) -> float:
    """The share of all sequences of n tokens that are different ones."""
    sequences = [tuple(row[i : i + n]) for row in rows for i in range(len(row) - n + 1)]
    return len(set(sequences)) / len(sequences)


def openings(tok: gptlab.Tokenizer, n: int) -> torch.Tensor:
    """The first tokens of n stories of the world, (n, OPENING), the mark before them included."""
    return torch.tensor([row[:OPENING] for row in world_rows(tok, n)])


def world_rows(tok: gptlab.Tokenizer, n: int) -> list[list[int]]:
    return [[tok.end_of_text, *tok.encode(world.sample(SEED + i))] for i in range(n)]


def written(
    model: gptlab.GPT, tok: gptlab.Tokenizer, begin: torch.Tensor, temperature: float, top_p: float | None
) -> list[list[int]]:
    """The stories that the model makes of openings, without the marks around them."""
    room = model.config.context_length - begin.shape[1]
    options = {"top_p": top_p, "generator": 0, "stop_token": tok.end_of_text}
    rows = gptlab.sample(model, begin, room, temperature, **options)[:, 1:].tolist()
    return [row[: row.index(tok.end_of_text)] if tok.end_of_text in row else row for row in rows]


def stories() -> dict:
    model, tok = gptlab.load("small-world")
    begin = openings(tok, STORIES)
    columns = {name: [] for name in ("possible", "distinct", "possible_top_p", "distinct_top_p")}
    for temperature in TEMPERATURES:
        for suffix, top_p in (("", None), ("_top_p", TOP_P)):
            rows = written(model, tok, begin, temperature, top_p)
            columns[f"possible{suffix}"].append(sum(told(tok.decode(row)) for row in rows) / STORIES)
            columns[f"distinct{suffix}"].append(round(distinct([row[OPENING - 1 :] for row in rows]), 4))
    world_distinct = round(distinct([row[OPENING:] for row in world_rows(tok, STORIES)]), 4)
    fixed = {"stories": STORIES, "opening": OPENING, "top_p": TOP_P, "temperatures": TEMPERATURES}
    return fixed | columns | {"world_distinct": world_distinct}


def speed() -> dict:
    """Of a model of the shipped one's size with room for longer texts; what its weights are makes no difference."""
    model, _ = gptlab.load("small-world")
    speeds = measure(gptlab.GPT(replace(model.config, context_length=max(LENGTHS))), LENGTHS, repeats=REPEATS)
    return {name: [round(number, 1) for number in numbers] for name, numbers in speeds._asdict().items()}


def main() -> None:
    torch.set_num_threads(1)
    FILE.write_text(json.dumps({"stories": stories(), "speed": speed()}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
