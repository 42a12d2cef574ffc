"""Tokenizers in Hugging Face's layout: the same tokens there and here, on hard texts; others are wrapped."""

import builtins
import json

import pytest
import tokenizers
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

import gptlab
from gptlab.decoding import prompt_ids
from gptlab.huggingface_tokenizer import LETTERS, merged_pairs, read_tokenizer, write_tokenizer
from gptlab.model import GPT
from gptlab.tokenizer import Tokenizer
from gptlab.wrapped_tokenizer import WrappedTokenizer

HARD = [
    "",
    " ",
    "   \n\t\r\n  x  ",
    "don't DON'T we'll I'd",
    "naïve café, e\u0301 and é",
    "你好，世界 مرحبا 👩‍👩‍👧‍👦 🏳️‍🌈",
    "".join(map(chr, range(1, 300))),
    "a" * 1_000 + " " * 1_000 + "ab" * 500,
    "def f(x):\n    return x ** 2  # 1234567890",
    "\u00a0\u2003\u200b zero\u0000width",
]
LEARNED_FROM = "the cat and the hat sat on the mat, and that was that; " * 20 + "naïve 你好 aaaa aaa aa"


@pytest.fixture(scope="module", params=["gpt2", "small_world", "trained"])
def tok(request) -> Tokenizer:
    return {
        "gpt2": Tokenizer.gpt2,
        "small_world": Tokenizer.small_world,
        "trained": lambda: Tokenizer.train(LEARNED_FROM, 320),
    }[request.param]()


@pytest.fixture(scope="module")
def there(tok, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder, tok)
    return transformers.AutoTokenizer.from_pretrained(folder)


def test_a_tokenizer_of_ours_opens_there_with_the_same_tokens(tok, there):
    assert len(there) == tok.vocab_size and there.eos_token_id == tok.end_of_text
    for text in HARD:
        assert there.encode(text) == tok.encode(text)
        assert there.decode(tok.encode(text), clean_up_tokenization_spaces=False) == text


@given(st.text(max_size=60))
@settings(max_examples=200)
def test_on_any_text_they_agree(text):
    tok = Tokenizer.train(LEARNED_FROM, 320)
    there = any_text_there(tok)
    assert there.encode(text, add_special_tokens=False).ids == tok.encode(text)


_built = {}


def any_text_there(tok: Tokenizer) -> tokenizers.Tokenizer:
    """Built once, from the pairs alone."""
    if not _built:
        tokens = [tok.token_bytes(id) for id in range(tok.end_of_text)]
        written = ["".join(LETTERS[byte] for byte in token) for token in tokens]
        pairs = [tuple("".join(LETTERS[byte] for byte in part) for part in pair) for pair in merged_pairs(tokens)]
        inner = tokenizers.Tokenizer(tokenizers.models.BPE({one: id for id, one in enumerate(written)}, pairs))
        inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        _built["inner"] = inner
    return _built["inner"]


def test_it_comes_back_as_ours_from_either_form(tok, there, tmp_path):
    write_tokenizer(tmp_path, tok)
    back = read_tokenizer(tmp_path, "gpt2")
    assert isinstance(back, Tokenizer)
    assert [back.token_bytes(id) for id in range(back.vocab_size)] == [
        tok.token_bytes(id) for id in range(tok.vocab_size)
    ]
    (tmp_path / "whole").mkdir()
    there.save_pretrained(tmp_path / "whole")
    assert (tmp_path / "whole" / "tokenizer.json").exists()
    again = read_tokenizer(tmp_path / "whole", "gpt2")
    assert isinstance(again, Tokenizer) and again.encode(HARD[5]) == tok.encode(HARD[5])


def test_each_byte_has_a_letter_that_prints():
    assert len(set(LETTERS.values())) == 256
    assert all(letter.isprintable() and not letter.isspace() for letter in LETTERS.values())
    assert (LETTERS[ord("a")], LETTERS[ord(" ")], LETTERS[ord("\n")]) == ("a", "Ġ", "Ċ")  # as in GPT-2's vocab.json


def test_a_token_that_no_merge_makes_is_refused():
    tokens = [bytes([byte]) for byte in range(256)]
    assert merged_pairs([*tokens, b"ab", b"abc"]) == [(b"a", b"b"), (b"ab", b"c")]
    with pytest.raises(ValueError, match="b'abc'"):
        merged_pairs([*tokens, b"abc"])


def special_first() -> tokenizers.Tokenizer:
    """Byte-level, but with end-of-text as id 0, as the library's trainer puts it."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator([LEARNED_FROM], trainer)
    return inner


def test_ids_in_another_order_are_kept_by_wrapping(tmp_path):
    special_first().save(str(tmp_path / "tokenizer.json"))
    tok = read_tokenizer(tmp_path, "gpt2")
    assert isinstance(tok, WrappedTokenizer) and tok.end_of_text == 0
    for text in HARD:
        assert tok.encode(text) == special_first().encode(text).ids
    assert 0 not in tok.encode("a <|endoftext|> b")
    assert 0 in tok.encode("a <|endoftext|> b", special=True)


@pytest.fixture
def gpt1_folder(tmp_path):
    """A model of GPT-1's kind with a tokenizer of its kind, learned from a few words."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    inner.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=120, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    inner.train_from_iterator([LEARNED_FROM.lower()], trainer)
    content = json.loads(inner.to_str())["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(content["vocab"]))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in content["merges"]))
    config = transformers.OpenAIGPTConfig(
        vocab_size=len(content["vocab"]), n_positions=64, n_embd=24, n_layer=2, n_head=3
    )
    transformers.OpenAIGPTLMHeadModel(config).save_pretrained(tmp_path)
    return tmp_path


def test_gpt1_lowers_letters_and_has_no_end_of_text(gpt1_folder):
    model, tok = gptlab.load(gpt1_folder)
    there = transformers.OpenAIGPTTokenizer.from_pretrained(gpt1_folder)
    for text in ("The Cat sat, and THAT was that!", "a naïve hat", "xyz 42"):
        assert tok.encode(text) == there.encode(text, add_special_tokens=False)
    assert tok.decode(tok.encode("The Cat sat")) == "the cat sat"
    assert tok.end_of_text is None
    pieces = tok.pieces("the cat")
    assert "".join(piece.text for piece in pieces) == "the cat "
    with pytest.raises(ValueError, match="ids"):
        tok.decode([tok.vocab_size])
    assert prompt_ids(tok, "the cat").tolist() == [tok.encode("the cat")]
    with pytest.raises(ValueError, match="prompt is ''"):
        prompt_ids(tok, "")
    written = "".join(
        gptlab.stream(model, tok, "the cat", max_new_tokens=5, generator=torch.Generator().manual_seed(0))
    )
    assert written
    assert gptlab.apps.attention(model, tok, "the cat sat").still().data


def test_a_wrapped_tokenizer_is_not_saved_as_ours(gpt1_folder, tmp_path):
    model, tok = gptlab.load(gpt1_folder)
    for layout in ("gptlab", "huggingface"):
        with pytest.raises(ValueError, match="copying its files"):
            gptlab.save(tmp_path / "new", model, tok, layout=layout)
    assert not (tmp_path / "new").exists()


def test_without_the_library_it_says_what_to_install(gpt1_folder, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "tokenizers":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'gptlab\[hub\]'"):
        gptlab.load(gpt1_folder)


@pytest.mark.parametrize(
    "files", [{"vocab.json": "{}"}, {"vocab.json": "[", "merges.txt": ""}, {"tokenizer.json": "{}"}]
)
def test_damaged_files_are_refused_with_the_path(tmp_path, files):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=str(tmp_path)):
        read_tokenizer(tmp_path, "gpt2")


def test_a_folder_with_model_and_tokenizer_of_gpt2s_kind(tmp_path):
    tok = Tokenizer.train(LEARNED_FROM, 300)
    model = GPT(gptlab.GPTConfig(300, 32, 1, 2, 16)).eval()
    gptlab.save(tmp_path / "saved", model, tok, layout="huggingface")
    there = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "saved").eval()
    words = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    ids = words("the cat", return_tensors="pt").input_ids
    assert ids.tolist() == [tok.encode("the cat")]
    with torch.no_grad():
        torch.testing.assert_close(there(ids).logits, model(ids), atol=1e-4, rtol=1e-4)
    assert there.config.eos_token_id == tok.end_of_text
