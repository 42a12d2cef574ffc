"""LayerNorm on one vector, as an app: its numbers are torch's, and what its sliders leave unchanged."""

import numpy as np
import pytest
import torch

from gptlab import apps

X = [1.2, -0.4, 0.3, 2.0, -1.1]


@pytest.fixture
def app():
    return apps.layer_norm(X)


def bars(app):
    return {trace.name: trace.y for trace in app.figure.data}


def test_the_bars_are_torchs(app):
    vector, by_deviation, by_variance = bars(app).values()
    np.testing.assert_allclose(vector, X)
    np.testing.assert_allclose(by_deviation, torch.nn.functional.layer_norm(torch.tensor(X), (5,)), rtol=1e-5)
    np.testing.assert_allclose(by_variance * np.var(X), vector - np.mean(X), rtol=1e-4)


def test_factor_and_offset_change_the_vector_and_not_its_norm(app):
    _, before, by_variance = bars(app).values()
    app.factor.value, app.offset.value = 2, 1.5
    vector, after, halved = bars(app).values()
    np.testing.assert_allclose(vector, 2 * np.array(X) + 1.5)
    np.testing.assert_allclose(after, before, rtol=1e-4)
    np.testing.assert_allclose(halved, by_variance / 2, rtol=1e-4)


def test_one_scale_for_all_factors(app):
    ends = []
    for factor in (0.25, 2):
        app.factor.value = factor
        assert all(np.abs(trace.y).max() <= app.figure.layout.yaxis.range[1] for trace in app.figure.data)
        ends.append(tuple(app.figure.layout.yaxis.range))
    assert ends[0] == ends[1]


def test_the_still_copy_has_the_factors(app):
    app.factor.value = 2
    (slider,) = app.still().layout.sliders
    assert [step.label for step in slider.steps] == ["0.25", "0.5", "1", "2"] and slider.active == 3
    np.testing.assert_allclose(slider.steps[3].args[0]["y"][1], bars(app)["divided by the deviation: LayerNorm"])


@pytest.mark.parametrize("vector", [[], [1.0, 1.0], [[1.0, 2.0]], [1.0, float("nan")]])
def test_what_has_no_deviation_is_refused(vector):
    with pytest.raises(ValueError, match="vector is"):
        apps.layer_norm(vector)
