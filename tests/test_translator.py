"""The translator: its vocabulary, its sentences, what it writes and reads, and the one that ships."""

import json
from importlib.resources import files

import pytest
import torch

import gptlab
from gptlab import world
from gptlab.corpus import IGNORE
from gptlab.relatives import translator as module
from gptlab.relatives.translator import (
    SentencePairs,
    agreement,
    is_held_out,
    load_translator,
    pair_batch,
    save_translator,
    sentence_pairs,
    velumi_tokenizer,
)
from gptlab.storage import read_tensors, write_tensors
from tests.examples.app_translation import translator as untrained
from tests.unchecked import unchecked

UNSEEN = range(3_000_000, 3_001_500)  # neither training nor the script's own judgement draws these


@pytest.fixture(scope="module")
def pairs():
    with unchecked():
        return sentence_pairs(range(60), held_out=False)


# Vocabulary and sentences -------------------------------------------------------------------------------------------


def test_every_word_of_a_velumi_sentence_is_one_token():
    tok = velumi_tokenizer()
    with unchecked():
        translations = [world.translate(world.sample(seed)) for seed in range(150)]
    for translation in translations:
        for sentence in translation.sentences:
            assert [tok.decode([id]) for id in tok.encode("".join(sentence.target))] == list(sentence.target)
    assert tok.vocab_size < 1_300


def test_other_text_goes_byte_by_byte():
    tok = velumi_tokenizer()
    assert tok.decode(tok.encode("Žluťoučký kůň")) == "Žluťoučký kůň"


def test_a_twentieth_of_all_sentences_is_held_out_and_the_rest_are_others():
    with unchecked():
        held_out, training = (sentence_pairs(range(400), held_out=held_out) for held_out in (True, False))
    texts = [{"".join(pair.source) for pair in part} for part in (held_out, training)]
    assert not texts[0] & texts[1]
    assert (len(texts[0]), len(texts[1])) == (len(held_out), len(training)), "each sentence comes once"
    assert len(held_out) / len(training) == pytest.approx(1 / 19, rel=0.3)
    assert all(map(is_held_out, texts[0])) and not any(map(is_held_out, texts[1]))


def test_a_batch_has_sources_of_one_length_and_targets_shifted_by_one(pairs):
    data = SentencePairs(pairs, tokens_per_batch=100)
    english, velumi = gptlab.Tokenizer.small_world(), velumi_tokenizer()
    known = {("".join(pair.source), "".join(pair.target)) for pair in pairs}
    for step in range(10):
        batch = data.batch(step)
        assert batch.source.shape[0] == max(1, 100 // batch.source.shape[1])
        assert batch.n_targets == int((batch.targets != IGNORE).sum())
        for source, inputs, targets in zip(*(part.tolist() for part in batch), strict=True):
            said = [id for id in targets if id != IGNORE]
            assert inputs[0] == said[-1] == velumi.end_of_text
            assert inputs[1 : len(said)] == said[:-1]
            assert (english.decode(source), velumi.decode(said[:-1])) in known
        assert all(map(torch.equal, batch, SentencePairs(pairs, tokens_per_batch=100).batch(step)))
    assert not all(map(torch.equal, data.batch(0), SentencePairs(pairs, tokens_per_batch=100, seed=1).batch(0)))


def test_pairs_that_do_not_do_are_refused(pairs):
    with pytest.raises(ValueError, match="pairs is"):
        SentencePairs([])
    with pytest.raises(ValueError, match="tokens_per_batch is 0"):
        SentencePairs(pairs, tokens_per_batch=0)
    lengths = {len(pair.source): pair for pair in pairs}
    with pytest.raises(ValueError, match=r"the lengths of the sources is \[\d+, \d+.* padding"):
        pair_batch(list(lengths.values())[:2])
    with pytest.raises(ValueError, match="word is ' dragon'"):
        pair_batch([pairs[0]._replace(source=(" dragon",))])


def test_agreement_is_the_share_of_rows_whose_largest_weight_is_on_a_partner():
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3]])
    assert agreement(weights, [(0, 0), (1, 1), (1, 2), (2, 2)]) == pytest.approx(2 / 3)
    assert agreement(weights, []) == 0


# Writing and reading ------------------------------------------------------------------------------------------------


def test_translations_come_in_the_order_of_the_sentences_and_alone_they_are_the_same():
    sentences = ["Tom Baker lived in the old meadow.", "It was red.", "He was calm because the night was cold."]
    told = untrained().translate([*sentences, sentences[0]])
    assert told[3] == told[0]
    assert told[:3] == [untrained().translate([sentence])[0] for sentence in sentences]
    assert untrained().translate([]) == []


def test_a_look_has_a_row_for_each_word_that_was_told():
    look = untrained().look("It was red.")
    assert [piece.text for piece in look.source] == ["It", " was", " red", "."]
    assert look.attention.shape == (1, 2, len(look.target), 4)
    assert "".join(piece.text for piece in look.target) == untrained().translate(["It was red."])[0]


@pytest.mark.parametrize("sentence", ["", "It was red. " * 9])
def test_a_sentence_that_does_not_fit_is_refused(sentence):
    with pytest.raises(ValueError, match="sentence is .*of 1 to 12 tokens"):
        untrained().translate([sentence])
    with pytest.raises(ValueError, match="sentence is"):
        untrained().look(sentence)


def test_what_is_saved_is_read_again(tmp_path):
    save_translator(tmp_path / "one", untrained().model, dtype=torch.float32)
    again = load_translator(tmp_path / "one")
    for old, new in zip(untrained().model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(old, new)
    assert not again.model.training


def test_reading_leaves_the_random_state_alone(tmp_path):
    save_translator(tmp_path, untrained().model)
    before = torch.get_rng_state()
    load_translator(tmp_path)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda w, m: m.pop("configs"), "is no translator"),
        (lambda w, m: m.update(vocabularies="others"), "was made for other vocabularies"),
        (lambda w, m: w.popitem(), "holds other weights than its own configs describe"),
        (lambda w, m: m.update(configs=m["configs"].replace('"n_heads": 2', '"n_heads": 3')), "d_model is 16"),
    ],
)
def test_a_file_that_does_not_do_is_refused(tmp_path, change, named):
    save_translator(tmp_path, untrained().model)
    path = tmp_path / "model.safetensors"
    weights, metadata = read_tensors(path)
    change(weights, metadata)
    write_tensors(path, weights, metadata)
    with pytest.raises(ValueError, match=named):
        load_translator(tmp_path)


def test_a_missing_and_a_damaged_file_are_refused(tmp_path):
    with pytest.raises(ValueError, match="folder is .*model.safetensors"):
        load_translator(tmp_path)
    save_translator(tmp_path, untrained().model)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ValueError, match="cut short"):
        load_translator(tmp_path)


# The one that ships -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped():
    return load_translator()


@pytest.fixture(scope="module")
def judged(shipped):
    with unchecked():
        pairs = sentence_pairs(UNSEEN, held_out=True)
        return pairs, shipped.translate(["".join(pair.source) for pair in pairs])


def test_at_least_95_in_100_held_out_sentences_are_translated_exactly(judged):
    pairs, told = judged
    exact = sum(one == "".join(pair.target) for one, pair in zip(told, pairs, strict=True))
    assert len(pairs) >= 300
    assert exact >= 0.95 * len(pairs), [
        one for one, pair in zip(told, pairs, strict=True) if one != "".join(pair.target)
    ]


def test_nouns_are_looked_at_when_they_are_told(shipped, judged):
    """By Velumi's own endings: nouns in four or five letters, without the names."""
    hits = []
    for pair, told in list(zip(*judged, strict=True))[:100]:
        if told == "".join(pair.target):
            largest = shipped.look("".join(pair.source)).attention[-1].mean(0).argmax(-1).tolist()
            for t, word in enumerate(pair.target):
                if word.strip().islower() and word.rstrip("n")[-1] in "ao" and len(word.strip()) in (4, 5):
                    hits.append((t, largest[t]) in pair.alignment)
    assert len(hits) > 100
    assert sum(hits) >= 0.8 * len(hits)


def test_its_file_is_small_and_its_record_is_of_this_file(shipped):
    folder = files("gptlab") / "data" / "translator"
    assert (folder / module.WEIGHTS).stat().st_size <= 3_000_000
    record = json.loads((folder / "curve.json").read_text())
    assert record["result"]["parameters"] == sum(p.numel() for p in shipped.model.parameters())
    assert record["result"]["exact"] >= 0.95
    curve = gptlab.recorded_curve("translator")
    assert curve.steps[-1] == record["settings"]["steps"] and curve.val_loss[-1] == record["result"]["loss"]
    assert (curve.floor == 0).all() and curve.loss[0] > 1 > curve.loss[-1] > 0
