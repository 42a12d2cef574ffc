"""AdamW against torch's and against plain loops; the schedule's values; the bound on the gradient."""

import math
import subprocess
import sys

import pytest
import torch

from gptlab.optimizer import AdamW, clip_by_norm, cosine_schedule
from tests.references import learning

RATES = [cosine_schedule(i, peak=0.1, final=0.01, warmup=3, decay=20) for i in range(20)]


def draw(generator, shapes, dtype=torch.float64):
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def test_it_is_torchs_adamw_with_decay_on_matrices_only():
    generator = torch.Generator().manual_seed(0)
    ours = draw(generator, [(3, 4), (4,), (2, 3, 2)])
    theirs = [torch.nn.Parameter(p.clone()) for p in ours]
    optimizer = AdamW(ours, betas=(0.8, 0.95), weight_decay=0.3)
    groups = [{"params": [theirs[0], theirs[2]], "weight_decay": 0.3}, {"params": [theirs[1]], "weight_decay": 0.0}]
    peer = torch.optim.AdamW(groups, betas=(0.8, 0.95), eps=1e-8)
    for rate in RATES:
        gradients = draw(generator, [p.shape for p in ours])
        optimizer.step(gradients, rate)
        for group in peer.param_groups:
            group["lr"] = rate
        for parameter, gradient in zip(theirs, gradients, strict=True):
            parameter.grad = gradient.clone()
        peer.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other.detach(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_it_is_the_papers_algorithm(shape):
    gradients = [math.sin(3 * t) + 0.2 for t in range(20)]
    theta = torch.full(shape, 0.7, dtype=torch.float64)
    optimizer = AdamW([theta], betas=(0.9, 0.99), weight_decay=0.2)
    for g, rate in zip(gradients, RATES, strict=True):
        optimizer.step([torch.full(shape, g, dtype=torch.float64)], rate)
    decay = 0.2 if len(shape) == 2 else 0.0
    assert theta.item() == pytest.approx(learning.adamw(0.7, gradients, RATES, 0.9, 0.99, decay), abs=1e-12)


def test_case_94_the_learning_rate_is_right_at_each_step():
    rates = [cosine_schedule(i, peak=1.0, final=0.1, warmup=4, decay=8) for i in range(10)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 0.868198, 0.55, 0.231802, 0.1, 0.1], abs=1e-6)


@pytest.mark.parametrize(("warmup", "decay"), [(0, 8), (8, 8), (0, 0), (3, 1), (0, 1)])
def test_case_94_no_warm_up_or_nothing_but_warm_up_divides_by_nothing(warmup, decay):
    rates = [cosine_schedule(i, peak=1.0, final=0.1, warmup=warmup, decay=decay) for i in range(12)]
    assert all(0 < rate <= 1 for rate in rates)
    assert rates[:warmup] == pytest.approx([(i + 1) / (warmup + 1) for i in range(warmup)])
    assert rates[max(warmup, decay) :] == [0.1] * (12 - max(warmup, decay))


def test_gradients_are_shortened_together_and_only_when_they_are_too_long():
    gradients = [torch.tensor([3.0, 0.0]), torch.tensor([[4.0]])]
    assert clip_by_norm(gradients, 10) == pytest.approx(5)
    assert gradients[0].tolist() == [3, 0]
    assert clip_by_norm(gradients, None) == pytest.approx(5)
    assert clip_by_norm(gradients, 1) == pytest.approx(5)
    assert gradients[0].tolist() == pytest.approx([0.6, 0]) and gradients[1].item() == pytest.approx(0.8)


def test_a_step_does_not_import_torchs_compiler():
    """It takes a second and some 70 MB."""
    program = (
        "import sys, torch; from gptlab.optimizer import AdamW; "
        "AdamW([torch.ones(2)]).step([torch.ones(2)], 0.1); print('torch._dynamo' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"
