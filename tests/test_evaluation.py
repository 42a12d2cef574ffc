"""Evaluation against models whose divergence from the truth is known, and against plain loops."""

import math
from collections import defaultdict

import pytest
import torch
from torch import nn

from gptlab import GPT, GPTConfig, Tokenizer
from gptlab.evaluation import could_have_told, evaluate
from gptlab.world import END, ENGLISH_WORLD

STORIES = 20  # more than a batch


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return Tokenizer.small_world()


class TruthTeller(nn.Module):
    """A model that knows the world: its logits are the logarithm of the truth, over a temperature."""

    def __init__(self, tok: Tokenizer, temperature: float = 1.0):
        super().__init__()
        self.tok, self.temperature = tok, temperature

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        logits = torch.zeros(*ids.shape, self.tok.vocab_size, dtype=torch.float64)
        for row, story in zip(logits, ids.tolist(), strict=True):
            while story[-1] == 0:  # padding
                story.pop()
            truth = ENGLISH_WORLD.token_distributions(self.tok.decode(story[1:]), self.tok)
            row[: len(story)] = torch.from_numpy(truth).log() / self.temperature
        return logits


class Indifferent(nn.Module):
    def __init__(self, vocab_size: int):
        super().__init__()
        self.vocab_size = vocab_size

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.zeros(*ids.shape, self.vocab_size)


def by_plain_loops(model: nn.Module, tok: Tokenizer, seed: int) -> tuple[float, float, float, dict]:
    """The same figures, a story and a word at a time."""
    losses, floors, divergences, kinds = [], [], [], defaultdict(list)
    for n in range(STORIES):
        text = ENGLISH_WORLD.sample(seed + n)
        readings = ENGLISH_WORLD.analyse(text, complete=True)
        ids = [tok.end_of_text, *(tok.encode(reading.word)[0] for reading in readings[:-1]), tok.end_of_text]
        with torch.no_grad():
            logits = model(torch.tensor([ids[:-1]]))[0].double()
        so_far = ""
        for reading, row, target in zip(readings, logits.tolist(), ids[1:], strict=True):
            normaliser = math.log(math.fsum(math.exp(logit) for logit in row))
            log_q = [logit - normaliser for logit in row]
            truth = {
                tok.end_of_text if word == END else tok.encode(word)[0]: p
                for word, p in ENGLISH_WORLD.next_word_distribution(so_far).items()
            }
            so_far += reading.word
            losses.append(-log_q[target])
            floors.append(-math.log(truth[target]))
            divergences.append(math.fsum(p * (math.log(p) - log_q[id]) for id, p in truth.items()))
            likeliest = max(range(len(row)), key=row.__getitem__)
            right = None if max(truth.values()) <= 0.999 else likeliest == max(truth, key=truth.__getitem__)
            for kind in {link.kind for link in reading.links}:
                kinds[kind].append((divergences[-1], right))
    by_kind = {}
    for kind, places in kinds.items():
        rights = [right for _, right in places if right is not None]
        mean_kl = math.fsum(kl for kl, _ in places) / len(places)
        by_kind[kind] = (len(places), mean_kl, sum(rights) / len(rights) if rights else None)
    return sum(losses) / len(losses), sum(floors) / len(floors), sum(divergences) / len(divergences), by_kind


@pytest.mark.parametrize("make", ["untrained", "truth at temperature 2"])
def test_evaluate_agrees_with_plain_loops(tok, make):
    torch.manual_seed(0)
    untrained = GPT(GPTConfig(tok.vocab_size, 256, 1, 2, 16)).eval()
    model = untrained if make == "untrained" else Lifted(TruthTeller(tok, temperature=2.0))
    result = evaluate(model, tok, ENGLISH_WORLD, STORIES, seed=5)
    loss, floor, kl, by_kind = by_plain_loops(model, tok, seed=5)
    assert result.loss == pytest.approx(loss, abs=1e-6)
    assert result.floor == pytest.approx(floor, abs=1e-9)
    assert result.kl == pytest.approx(kl, abs=1e-6)
    assert result.by_kind.keys() == by_kind.keys()
    for kind, (count, mean_kl, accuracy) in by_kind.items():
        assert result.by_kind[kind].count == count
        assert result.by_kind[kind].kl == pytest.approx(mean_kl, abs=1e-6)
        assert result.by_kind[kind].accuracy == (None if accuracy is None else pytest.approx(accuracy, abs=1e-12))


class Lifted(nn.Module):
    """A model without logits of minus infinity, which the plain loops could not take."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids).clamp(min=-20)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_truth_does_not_diverge_from_itself(tok, dtype):
    model = TruthTeller(tok)
    result = evaluate(nn.Sequential(model, Cast(dtype)), tok, ENGLISH_WORLD, STORIES)
    assert 0 <= result.kl < 1e-6
    assert result.loss == pytest.approx(result.floor, abs=1e-6)
    for kind, (count, kl, accuracy) in result.by_kind.items():
        assert count > 0
        assert 0 <= kl < 1e-6
        assert accuracy in (1.0, None), kind
    assert result.by_kind["coreference"].accuracy == 1.0


class Cast(nn.Module):
    def __init__(self, dtype: torch.dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.to(self.dtype)


def test_a_model_that_knows_nothing_loses_the_logarithm_of_the_vocabulary(tok):
    result = evaluate(Indifferent(tok.vocab_size), tok, ENGLISH_WORLD, STORIES)
    entropy = ENGLISH_WORLD.entropy_rate(STORIES)
    assert result.loss == pytest.approx(math.log(tok.vocab_size), abs=1e-6)
    assert result.kl == pytest.approx(math.log(tok.vocab_size) - entropy, abs=1e-6)
    assert all(at.accuracy in (0.0, None) for at in result.by_kind.values())


def test_loss_and_floor_differ_by_the_divergence(tok):
    torch.manual_seed(0)
    model = GPT(GPTConfig(tok.vocab_size, 256, 1, 2, 16))
    result = evaluate(model, tok, ENGLISH_WORLD, 100)
    assert result.loss - result.floor == pytest.approx(result.kl, abs=0.05)


def test_evaluation_leaves_the_model_as_it_was(tok):
    torch.manual_seed(0)
    model = GPT(GPTConfig(tok.vocab_size, 256, 1, 2, 16, dropout=0.5)).train()
    first, second = (evaluate(model, tok, ENGLISH_WORLD, 3, seed=1) for _ in range(2))
    assert first == second  # dropout was off
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_no_story_to_evaluate_is_refused(tok):
    with pytest.raises(ValueError, match="stories is 0"):
        evaluate(Indifferent(tok.vocab_size), tok, ENGLISH_WORLD, 0)


def test_a_tokenizer_that_cuts_words_is_refused():
    tok = Tokenizer.gpt2()
    with pytest.raises(ValueError, match="one token for each word"):
        evaluate(Indifferent(tok.vocab_size), tok, ENGLISH_WORLD, 20)


def test_the_share_that_the_world_could_have_told():
    story = ENGLISH_WORLD.sample(4)
    beginning = story[: story.index(".") - 1].rpartition(" ")[0]
    assert could_have_told([story]) == could_have_told([beginning]) == could_have_told([END + story + END]) == 1.0
    assert could_have_told([beginning + END]) == could_have_told([beginning + " twice"]) == 0.0
    assert could_have_told([story, beginning, beginning + END, beginning + " twice"]) == 0.5
    with pytest.raises(ValueError, match="at least one text"):
        could_have_told([])
