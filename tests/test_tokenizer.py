"""The tokenizer: tiktoken's ids on any text, the text back unchanged, files that are whole or refused."""

import base64
import json
import os
import random
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest
import regex
import tiktoken
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiktoken._educational import bpe_encode
from tiktoken_ext.openai_public import r50k_pat_str

import gptlab.tokenizer
from gptlab import world
from gptlab.bpe import split
from gptlab.tokenizer import END_OF_TEXT, TextStream, Tokenizer, read_text
from gptlab.world.lexicon import ENGLISH
from scripts.make_small_world_tokenizer import forms, learn
from tests.references.naive_bpe import naive_encode, naive_merges

DATA = files("gptlab") / "data"
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz ",
    "ABC abc 0123456789 '\"-_.,;:!?()[]{}<>|/\\@#$%^&*+=~`",
    " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000\ufeff",
    "'sS'tT're've'm'll'dD ",
    "".join(map(chr, range(256))),
    "äöüßéèêñçåøœžłđ ÄÖÜ",
    "абвгд ελληνικά עברית العربية हिन्दी ไทย",
    "中文字符日本語ひらがなカタカナ한국어，。「」",
    "👍👩‍👩‍👧‍👦🏳️‍🌈❤️🇩🇪👍🏽🙂 e\u0301o\u0308n\u0303",
    "\u200b\u200d\u2060\u00ad\ufffd\ufffe\U0010ffff\x00\x7f",
]
AWKWARD = [
    "",
    " ",
    "   x",
    "\n\n",
    "\r\n\t\x00",
    "\ufeffhead",
    "don't DON'T 'studio' it'S",
    "y is ?",
    "a <|endoftext|> b<|endoftext|>",
    "<|endoftext",
    "x = [1, 2, 3]\n    if x:\n\treturn 'ä'\n",
    "3.14159 1,000,000 0x1F",
    "👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 👍🏽",
    "السلام عليكم",
    "你好，世界",
    "e\u0301 n\u0303 a\u0308\u0323",
    "Z̡͖̜͔̳̀ạ̷̛l̗̝g͓̞ò",
    "a" * 3000,
    "".join(map(chr, range(256))),
]


@pytest.fixture(scope="session")
def gpt2() -> Tokenizer:
    return Tokenizer.gpt2()


@pytest.fixture(scope="session")
def peer() -> tiktoken.Encoding:
    """GPT-2's encoding put together from the ranks, without a line of ours."""
    lines = (DATA / "gpt2.tiktoken").read_text(encoding="ascii").splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(str.split, lines)}
    return tiktoken.Encoding(
        "peer", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 50256}
    )


@pytest.fixture(scope="session")
def trained() -> Tokenizer:
    return Tokenizer.train("the cat sat on the mat; the dog's mat isn't the cat's. naïve 👍👍 " * 3, 300)


def random_texts(count: int, *, seed: int):
    draw = random.Random(seed)
    for _ in range(count):
        yield "".join(
            "".join(draw.choices(draw.choice(ALPHABETS), k=draw.randrange(12))) for _ in range(draw.randrange(1, 6))
        )


# ---- GPT-2's ids


@pytest.mark.parametrize("text", AWKWARD)
def test_gpt2_is_tiktokens_encoding_on_awkward_texts(gpt2, peer, text):
    assert gpt2.encode(text) == peer.encode(text, disallowed_special=())
    assert gpt2.encode(text, special=True) == peer.encode(text, allowed_special="all")
    assert gpt2.decode(gpt2.encode(text)) == text


def test_gpt2_is_tiktokens_encoding_on_10000_random_texts(gpt2, peer):
    for text in random_texts(10_000, seed=0):
        ids = gpt2.encode(text)
        assert ids == peer.encode_ordinary(text), repr(text)
        assert gpt2.decode(ids) == text


@given(st.lists(st.sampled_from([*ALPHABETS[2], "a", "<|endoftext|>", "é"])).map("".join))
def test_gpt2_is_tiktokens_encoding_around_white_space_and_end_of_text(gpt2, peer, text):
    assert gpt2.encode(text) == peer.encode(text, disallowed_special=())
    assert gpt2.encode(text, special=True) == peer.encode(text, allowed_special="all")


def test_gpt2_has_its_vocabulary(gpt2):
    assert (gpt2.vocab_size, gpt2.merge_count, gpt2.end_of_text) == (50_257, 50_000, 50_256)
    assert gpt2.token_bytes(50_256) == b"<|endoftext|>"
    assert repr(gpt2) == "<Tokenizer: 256 bytes + 50,000 merges + <|endoftext|> = 50,257 tokens>"


def test_ranks_other_than_those_that_shipped_are_refused():
    with pytest.raises(ValueError, match="not the file that was shipped"):
        gptlab.tokenizer._packaged("gpt2.tiktoken", sha256="0" * 64)


# ---- text goes in and comes back


@given(st.text())
def test_decode_gives_back_every_text(gpt2, trained, text):
    for tok in (gpt2, trained, Tokenizer.small_world()):
        assert tok.decode(tok.encode(text)) == text


def test_every_byte_has_a_token(gpt2, trained):
    for tok in (gpt2, trained, Tokenizer.small_world()):
        single = [token for token in map(tok.token_bytes, range(256)) if len(token) == 1]
        assert set(single) == {bytes([byte]) for byte in range(256)}


@given(st.lists(st.integers(0, 255)))
def test_bytes_that_are_no_text_are_kept_as_bytes(gpt2, ids):
    assert gpt2.decode_bytes(ids) == b"".join(map(gpt2.token_bytes, ids))
    assert gpt2.decode(ids) == gpt2.decode_bytes(ids).decode("utf-8", errors="replace")


def test_case_59_end_of_text_is_ordinary_text_unless_asked_for(gpt2):
    assert gpt2.encode("<|endoftext|>") == [27, 91, 437, 1659, 5239, 91, 29]
    assert gpt2.encode("<|endoftext|>", special=True) == [50256]
    ordinary = gpt2.encode("a <|endoftext|> b")
    assert len(ordinary) >= 7 and 50256 not in ordinary
    assert gpt2.encode("a <|endoftext|> b", special=True) == [64, 220, 50256, 275]
    assert gpt2.decode([64, 220, 50256, 275]) == gpt2.decode(ordinary) == "a <|endoftext|> b"


def test_case_65_surrogates_become_the_character_or_its_replacement(gpt2):
    assert gpt2.encode("\ud83d") == [4210]
    assert gpt2.decode([4210]) == "\ufffd"
    assert gpt2.encode("\ud83d\udc4d") == gpt2.encode("👍") == [41840, 235]
    assert gpt2.encode("\udc4d<|endoftext|>", special=True) == [4210, 50256]
    assert Tokenizer.train("\ud83d\udc4d" * 3, 262).encode("👍👍") == Tokenizer.train("👍" * 3, 262).encode("👍👍")


def test_case_66_line_ends_nul_and_byte_order_mark(gpt2):
    assert gpt2.encode("\r\n") == [201, 198]
    assert gpt2.encode("\x00") == [188]
    assert gpt2.encode("\ufeff") == [171, 119, 123]


def test_case_66_a_file_is_utf8_whatever_the_platform(gpt2, tmp_path):
    path = tmp_path / "naïve.txt"
    path.write_bytes("\ufeffnaïve\r\n\x00中\ufeff\n".encode())
    program = (
        "import sys; from gptlab.tokenizer import Tokenizer, read_text; tok = Tokenizer.gpt2();"
        "print(ascii(read_text(sys.argv[1]))); tok.save(sys.argv[2]);"
        "print(Tokenizer.load(sys.argv[2]).encode('\\u00e9\\u4e2d'))"
    )
    plain = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    arguments = [sys.executable, "-c", program, path, tmp_path / "tok.json"]
    said = subprocess.run(arguments, env=plain, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines() == [ascii("naïve\r\n\x00中\ufeff\n"), str(gpt2.encode("é中"))]


def test_a_file_that_is_no_utf8_is_refused_with_the_place(tmp_path):
    (tmp_path / "latin").write_bytes("naïve".encode("latin-1"))
    with pytest.raises(ValueError, match="position 2"):
        read_text(tmp_path / "latin")


def test_case_68_decode_never_tidies(gpt2):
    assert gpt2.encode("y is ?") == [88, 318, 5633]
    assert gpt2.decode([88, 318, 5633]) == "y is ?"


def test_case_69_quotes_and_contractions(gpt2):
    assert gpt2.encode("'studio'") == [338, 83, 463, 952, 6]
    assert gpt2.encode("don't") == [9099, 470]
    assert gpt2.encode("DON'T") == [41173, 6, 51]
    assert [piece.shown for piece in gpt2.pieces("'studio'")] == ["'s", "t", "ud", "io", "'"]


def test_case_73_no_character_is_ever_missing():
    """A byte-level vocabulary lacks nothing: what the training text did not have goes byte by byte."""
    tok = Tokenizer.train("plain ascii text", 300)
    assert tok.encode("é\n") == [0xC3, 0xA9, 0x0A]
    assert tok.decode(tok.encode("é\n")) == "é\n"


@pytest.mark.parametrize("ids", [[7, 50_257], [7, -1], [7, 2**70]])
def test_an_id_outside_the_vocabulary_is_refused_with_its_place(gpt2, ids):
    with pytest.raises(ValueError, match=rf"^ids\[1\] is {ids[1]}.* from 0 to 50256"):
        gpt2.decode(iter(ids))
    with pytest.raises(ValueError, match=r"from 0 to 50256"):
        gpt2.pieces(iter(ids))


def test_ids_may_be_a_tensor(gpt2):
    ids = torch.tensor(gpt2.encode("the cat"))
    assert gpt2.decode(ids) == "the cat"
    assert [type(piece.id) for piece in gpt2.pieces(ids)] == [int, int]


# ---- long runs

RUNS = {"a": 25_000, "^": 25_000, " ": 100_000, "\n": 50_000}  # ids for 100,000 characters


@pytest.mark.parametrize("character", RUNS)
def test_case_64_long_runs_have_their_count(gpt2, character):
    assert len(gpt2.encode(character * 100_000)) == RUNS[character]
    start = time.perf_counter()
    assert len(gpt2.encode(character * 1_000_000)) == 10 * RUNS[character]
    assert time.perf_counter() - start < 30  # ten times the bound; measured 0.3 s


@pytest.mark.parametrize("blank", [" ", "\n", "\u3000"])
def test_case_64_a_million_blanks_before_a_word(gpt2, blank):
    """Left to itself tiktoken panics here, with what `except Exception` does not catch."""
    text = "word" + blank * 1_200_000 + "word"
    ids = gpt2.encode(text)
    assert gpt2.decode(ids) == text
    assert ids[-2:] == gpt2.encode("word" + blank * 9 + "word")[-2:]


def test_case_64_cutting_long_runs_changes_no_id(gpt2, peer, monkeypatch):
    monkeypatch.setattr(gptlab.tokenizer, "_LONG_BLANK", regex.compile(r"(?<!\s)\s{2,}+(?=\S)"))
    draw = random.Random(2)
    for _ in range(5_000):
        text = "".join(
            draw.choices(" \n\t\xa0\u3000\x1ca1.'s", weights=[4, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1], k=draw.randrange(30))
        )
        assert gpt2.encode(text) == peer.encode_ordinary(text), repr(text)


def processor_seconds(tok: Tokenizer, text: str) -> float:
    def once() -> float:
        start = time.process_time()
        tok.encode(text)
        return time.process_time() - start

    return min(once() for _ in range(5))


@pytest.mark.parametrize("character", RUNS)
def test_case_64_encoding_is_not_quadratic(gpt2, character):
    """A doubling takes about 2.3 times as long; 3 leaves room for a busy machine, quadratic would be 4."""
    doublings = 4
    long, short = character * (25_000 * 2**doublings), character * 25_000
    for tok in (gpt2, Tokenizer.train(character * 1000, 300)):
        assert processor_seconds(tok, long) < 3**doublings * processor_seconds(tok, short)


# ---- training


@given(st.text(alphabet="aab \n'sé👍", min_size=1, max_size=60), st.text(alphabet="aab \n'sé👍", max_size=30))
def test_case_72_trained_merges_encode_unseen_text_as_the_naive_reference(text, unseen):
    steps = naive_merges(text, limit=20)
    tok = Tokenizer.train(text, 256 + len(steps) + 1)
    assert tok.encode(unseen) == naive_encode(unseen, steps)


def test_case_72_trained_encoding_is_tiktokens_on_10000_random_texts(trained):
    ranks = {trained.token_bytes(id): id for id in range(trained.end_of_text)}
    peer = tiktoken.Encoding("peer", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={})
    learned = "the cat sat on the mat dog's isn't naïve 👍"
    draw = random.Random(4)
    texts = [
        *random_texts(5_000, seed=1),
        *("".join(draw.choices(learned, k=draw.randrange(40))) for _ in range(5_000)),
    ]
    for number, text in enumerate(texts):
        assert trained.encode(text) == peer.encode_ordinary(text), repr(text)
        if number % 50 == 0:  # tiktoken's own slow reading of the ranks, without its short cuts
            slow = [id for word in split(text) for id in bpe_encode(ranks, word.encode(), visualise=None)]
            assert trained.encode(text) == slow, repr(text)


def test_case_71_ids_after_three_merges():
    tok = Tokenizer.train("aaabdaaabac", 256 + 3 + 1)
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert (tok.vocab_size, tok.merge_count, tok.end_of_text) == (260, 3, 259)


@pytest.mark.parametrize(
    ("text", "merges"), [("   ", 2), ("a", 0), ("ab", 1), ("aaaa", 2), ("hello", 4), ("hello hello", 5), ("\n", 0)]
)
def test_case_70_training_stops_when_there_are_no_pairs_and_says_how_many_merges(text, merges):
    tok = Tokenizer.train(text, 300)
    assert tok.merge_count == merges
    assert tok.vocab_size == 256 + merges + 1
    assert f"+ {merges} merges" in repr(tok)
    assert tok.decode(tok.encode(text * 2)) == text * 2


def test_case_70_training_on_nothing_is_refused():
    with pytest.raises(ValueError, match="text is ''"):
        Tokenizer.train("", 300)


@pytest.mark.parametrize("vocab_size", [256, 255, 1, 0, -5])
def test_a_vocabulary_without_room_for_all_bytes_is_refused(vocab_size):
    with pytest.raises(ValueError, match=rf"vocab_size is {vocab_size}, but must be at least 257"):
        Tokenizer.train("some text", vocab_size)


def test_the_smallest_vocabulary_has_no_merges():
    assert Tokenizer.train("some text", 257).encode("some") == list(b"some")


def test_end_of_text_in_a_training_text_is_ordinary():
    tok = Tokenizer.train("ab<|endoftext|>ab", 300)
    assert tok.encode("<|endoftext|>", special=True) == [tok.end_of_text]
    assert tok.end_of_text not in tok.encode("ab<|endoftext|>ab")


# ---- the small world


def test_every_form_of_every_word_of_the_small_world_is_one_token():
    tok = Tokenizer.small_world()
    cut = {form for word in ENGLISH.words if word != END_OF_TEXT for form in forms(word) if len(tok.encode(form)) != 1}
    assert cut == set()
    assert {"cat", "Cat", " cat", " Cat"} == set(forms("cat"))
    assert {"Anna", " Anna"} == set(forms("Anna"))
    assert forms(' "') == [' "'] and forms('."') == ['."']


def test_the_small_worlds_stories_have_one_token_a_word():
    for seed in range(50):
        story = world.sample(seed)
        assert [piece.text for piece in Tokenizer.small_world().pieces(story)] == split(story)


def small_world_ranks() -> dict[bytes, int]:
    tok = Tokenizer.small_world()
    return {tok.token_bytes(id): id for id in range(tok.end_of_text)}


def test_the_small_worlds_vocabulary_is_a_true_bpe():
    """Joining the lowest rank first makes each token, without tiktoken's short cut for a word that is a token."""
    ranks = small_world_ranks()
    assert [token for token, id in ranks.items() if bpe_encode(ranks, token, visualise=None) != [id]] == []


def test_the_small_worlds_vocabulary_has_no_token_too_many():
    ranks = small_world_ranks()
    wanted = {form.encode() for word in ENGLISH.words if word != END_OF_TEXT for form in forms(word)}
    for spare in [token for token in ranks if len(token) > 1 and token not in wanted]:
        rest = {token: rank for token, rank in ranks.items() if token != spare}
        touched = [form for form in wanted if spare in form]
        assert any(len(bpe_encode(rest, form, visualise=None)) > 1 for form in touched), spare


def test_the_small_worlds_file_is_the_one_its_script_makes():
    assert learn(ENGLISH.words) == list(small_world_ranks())


# ---- pieces


def test_case_61_a_character_in_two_tokens_is_shown_as_bytes_joined_under_the_character(gpt2):
    pieces = gpt2.pieces("I 👍 it")
    assert [piece.id for piece in pieces] == [40, 50169, 235, 340]
    assert [piece.shown for piece in pieces] == ["I", "␣⟨F0 9F 91⟩", "⟨8D⟩", "␣it"]
    assert [piece.text for piece in pieces] == ["I", " ", "👍", " it"]
    assert gpt2.pieces([40, 50169, 235, 340]) == pieces


def test_case_75_blanks_and_line_ends_are_drawn(gpt2):
    assert [(piece.id, piece.shown) for piece in gpt2.pieces("   x")] == [(220, "␣"), (220, "␣"), (2124, "␣x")]
    assert [(piece.id, piece.shown) for piece in gpt2.pieces("\n\n")] == [(628, "⏎⏎")]
    assert [piece.shown for piece in gpt2.pieces("\t\r\n")] == ["⇥", "⟨U+000D⟩", "⏎"]


def test_case_75_no_label_is_blank_and_no_two_are_equal(gpt2):
    for tok in (gpt2, Tokenizer.small_world()):
        pieces = tok.pieces(range(tok.vocab_size))
        assert len({piece.shown for piece in pieces}) == tok.vocab_size
        for piece in pieces:
            assert piece.shown.isprintable() and not any(map(str.isspace, piece.shown.replace("⟨", "").split("⟩")[-1]))
    only_blank = [piece for piece in gpt2.pieces(range(50_256)) if piece.bytes.decode(errors="replace").isspace()]
    assert len(only_blank) == 23
    assert not any(piece.shown.isspace() for piece in only_blank)


@given(st.text())
def test_pieces_are_the_text(gpt2, text):
    pieces = gpt2.pieces(text)
    assert [piece.id for piece in pieces] == gpt2.encode(text)
    assert b"".join(piece.bytes for piece in pieces) == text.encode()
    assert "".join(piece.text for piece in pieces) == text


def test_nothing_has_no_pieces(gpt2):
    assert gpt2.pieces("") == gpt2.pieces([]) == gpt2.encode("") == []
    assert gpt2.decode([]) == ""


# ---- streaming


def pushed(tok: Tokenizer, ids: list[int]) -> list[str]:
    stream = TextStream(tok)
    return [*map(stream.push, ids), stream.finish()]


def test_case_61_a_character_is_streamed_when_it_is_whole(gpt2):
    assert pushed(gpt2, [40, 50169, 235, 340]) == ["I", " ", "👍", " it", ""]
    assert pushed(gpt2, [40, 50169]) == ["I", " ", "\ufffd"]
    assert gpt2.decode([40, 50169]) == "I \ufffd"


@given(st.text(alphabet=st.characters(exclude_characters="\ufffd", exclude_categories=["Cs"])))
def test_case_61_streaming_shows_no_replacement_for_an_unfinished_character(gpt2, trained, text):
    for tok in (gpt2, trained):
        texts = pushed(tok, tok.encode(text))
        assert not any("\ufffd" in part for part in texts)
        assert "".join(texts) == text


@given(st.lists(st.one_of(st.integers(0, 50_256), st.integers(94, 255), st.sampled_from([50169, 235, 41840]))))
def test_a_stream_of_any_ids_joins_to_what_decode_gives(gpt2, ids):
    texts = pushed(gpt2, ids)
    assert "".join(texts) == gpt2.decode(ids)
    assert "".join(piece.text for piece in gpt2.pieces(ids)) == gpt2.decode(ids)


# ---- files


def same(one: Tokenizer, other: Tokenizer) -> bool:
    return one.to_json() == other.to_json() and one.encode("the cat 👍") == other.encode("the cat 👍")


def test_a_saved_tokenizer_is_the_same_after_loading(gpt2, trained, tmp_path):
    for tok in (gpt2, trained, Tokenizer.small_world()):
        tok.save(tmp_path / "tok äö.json")
        assert same(Tokenizer.load(str(tmp_path / "tok äö.json")), tok)
    assert [path.name for path in tmp_path.iterdir()] == ["tok äö.json"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no JSON, or is cut short"),
        (b"\x80\x81", "utf-8"),
        (b"[" * 100_000, "no JSON"),
        (b"[1, 2]", "does not say that it is"),
        (b'{"model": {"type": "BPE", "vocab": {}}}', "does not say that it is"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "no JSON"),
        (json.dumps({"format": "gptlab tokenizer, version 1"}).encode(), "no list of tokens"),
        (json.dumps({"format": "gptlab tokenizer, version 1", "tokens": [1]}).encode(), "no list of tokens"),
        (json.dumps({"format": "gptlab tokenizer, version 1", "tokens": ["YQ=="]}).encode(), "checksum"),
    ],
)
def test_a_foreign_file_is_refused_with_the_reason(tmp_path, content, reason):
    path = tmp_path / "foreign.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"path is '.*foreign.json', but must be .*{reason}"):
        Tokenizer.load(path)


def test_a_damaged_file_is_refused_or_gives_the_same_tokenizer(trained, tmp_path):
    """Cut short, a byte changed, a piece left out or doubled: never another tokenizer, never another kind of error."""
    path = tmp_path / "tok.json"
    trained.save(path)
    whole = path.read_bytes()
    draw = random.Random(5)
    refused = 0
    for _ in range(2_000):
        start, length = draw.randrange(len(whole)), draw.randrange(1, 30)
        damaged = draw.choice(
            [
                whole[:start],
                whole[:start] + bytes([draw.randrange(256)]) + whole[start + 1 :],
                whole[:start] + whole[start + length :],
                whole[: start + length] + whole[start:],
            ]
        )
        path.write_bytes(damaged)
        try:
            loaded = Tokenizer.load(path)
        except ValueError as error:
            assert str(path) in str(error)
            refused += 1
        else:
            assert same(loaded, trained)
    assert refused > 1_500


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "nothing.json")


def test_a_folder_that_is_missing_is_made(tmp_path):
    Tokenizer.train("ab", 258).save(tmp_path / "new" / "tok.json")
    assert Tokenizer.load(tmp_path / "new" / "tok.json").vocab_size == 258


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(trained, tmp_path, monkeypatch, step):
    path = tmp_path / "tok.json"
    trained.save(path)
    old = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        Tokenizer.train("other text", 300).save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_tokens_without_every_byte_are_refused_before_tiktoken_can_panic():
    every = [bytes([byte]) for byte in range(256)]
    with pytest.raises(ValueError, match=r"without b'a'"):
        Tokenizer([token for token in every if token != b"a"])
    with pytest.raises(ValueError, match="repeated or an empty"):
        Tokenizer([*every, b"ab", b"ab"])
    with pytest.raises(ValueError, match="repeated or an empty"):
        Tokenizer([*every, b""])


def test_the_data_has_its_note_and_its_licence():
    note = (DATA / "README.md").read_text(encoding="utf-8")
    assert gptlab.tokenizer._GPT2_SHA256 in note and "MIT" in note
    assert "Copyright (c) 2022 OpenAI" in (Path(str(DATA)) / "LICENSE-gpt2").read_text(encoding="utf-8")
