"""Ten thousand damaged files, given to everything that reads one: a sentence with the path, or what was saved.

Files of ours carry checksums, so that damage never gives another model. Those of others carry none: of them it is asked
that nothing but a model, or the sentence, comes out.
"""

import json
import random
from functools import partial

import pytest
import torch

import gptlab
from gptlab import GPT, GPTConfig, Tokenizer
from gptlab.corpus import TextCorpus
from gptlab.training import train

TEXT = "so so on and on and on, said the cat to the cat"
TOK = Tokenizer.train(TEXT, 262)
N_FILES = 10_000
STRANGE = [None, True, -1, 0, 1.5, 10**9, 10**30, "", "gelu_old", "\x00", [], {}, [[]], {"a": {"b": 1}}, float("nan")]


def tiny() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(262, 8, 1, 1, 2)).eval()


def same(model: GPT, tok: Tokenizer) -> bool:
    ours, theirs = tiny().state_dict(), model.state_dict()
    return tok.to_json() == TOK.to_json() and all(torch.equal(ours[name], theirs[name]) for name in ours | theirs)


def trained(path, **options):
    corpus = TextCorpus(TEXT * 20, TOK, context_length=8, batch_size=1, held_out_share=0)
    return list(train(tiny(), corpus, 2, checkpoint=path, **options))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """What stands on the disk, for each reader: the files to damage, the call, and whether damage must be noticed."""
    folder = tmp_path_factory.mktemp("sound")
    gptlab.save(folder / "ours", tiny(), TOK)
    gptlab.save(folder / "theirs", tiny(), TOK, layout="huggingface")
    trained(folder / "run.safetensors")
    ours = sorted((folder / "ours").iterdir())
    theirs = [folder / "theirs" / name for name in ("config.json", "model.safetensors", "vocab.json", "merges.txt")]
    return [
        *((path, partial(gptlab.load, folder / "ours"), True) for path in ours),
        *((path, partial(gptlab.load, folder / "theirs"), False) for path in theirs),
        (folder / "run.safetensors", partial(trained, folder / "run.safetensors", resume=True), True),
        (folder / "ours" / "tokenizer.json", partial(Tokenizer.load, folder / "ours" / "tokenizer.json"), False),
    ]


def damaged(content: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    start, length = draw.randrange(len(content)), draw.randrange(1, 40)
    return draw.choice(
        [
            lambda: content[:start],
            lambda: content[start:],
            lambda: content[:start] + bytes([draw.randrange(256)]) + content[start + 1 :],
            lambda: content[:start] + content[start + length :],
            lambda: content[: start + length] + content[start:],
            lambda: content[:start] + bytes(length) + content[start + length :],
            lambda: content[:start] + draw.randbytes(length) + content[start:],
            lambda: draw.choice(others),
            lambda: strange_json(content, draw),
            lambda: strange_json(content, draw),
        ]
    )()


def strange_json(content: bytes, draw: random.Random) -> bytes:
    """JSON with one value, at any depth, that nobody expects; what is no JSON loses its last byte."""
    try:
        whole = json.loads(content)
    except ValueError:
        return content[:-1]
    place = whole
    while True:
        key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if isinstance(place[key], (dict, list)) and place[key] and draw.random() < 0.7:
            place = place[key]
            continue
        place[key] = draw.choice(STRANGE)
        return json.dumps(whole).encode()


def test_case_112_ten_thousand_damaged_files_end_in_a_sentence_each(sound):
    draw = random.Random(0)
    contents = [path.read_bytes() for path, _, _ in sound]
    refused = dict.fromkeys(range(len(sound)), 0)
    for number in range(N_FILES):
        place = number % len(sound)
        path, read, noticed = sound[place]
        path.write_bytes(damaged(contents[place], draw, contents))
        try:
            result = read()
        except ValueError as error:
            refused[place] += 1
            assert str(path.parent) in str(error) and "\n" not in str(error), path.read_bytes()
        else:
            assert not noticed or result == [] or same(*result), path.read_bytes()
        finally:
            path.write_bytes(contents[place])
    assert min(refused.values()) > N_FILES / len(sound) / 3
