"""Descent: the paths are those of the rules, in place, and no more is computed than the sliders ask for."""

import math

import numpy as np
import pytest
import torch

from gptlab import apps
from gptlab.apps.slopes import RATES, path_down
from tests.references.learning import adamw


def valley(theta):
    return (theta[..., 0] ** 2 + 20 * theta[..., 1] ** 2) / 2


def gradient_descent(theta, gradient, memory, eta):
    return theta - eta * gradient


def adam(theta, gradient, memory, eta):
    t = memory["t"] = memory.get("t", 0) + 1
    m = memory["m"] = 0.9 * memory.get("m", 0) + 0.1 * gradient
    v = memory["v"] = 0.95 * memory.get("v", 0) + 0.05 * gradient**2
    return theta - eta * (m / (1 - 0.9**t)) / ((v / (1 - 0.95**t)).sqrt() + 1e-8)


def make(**options):
    rules = {"descent": gradient_descent, "Adam": adam}
    return apps.descent(valley, rules, (1.8, 0.8), **{"extent": ((-2, 2), (-1, 1)), "steps": 12} | options)


def test_gradient_descent_in_a_bowl_shrinks_each_coordinate_by_its_own_factor():
    path = path_down(valley, gradient_descent, (1.8, 0.8), 0.03, 12)
    expected = [(1.8 * 0.97**n, 0.8 * 0.4**n) for n in range(13)]
    torch.testing.assert_close(path, torch.tensor(expected, dtype=torch.float64))


def test_adams_path_is_that_of_plain_loops():
    x, gradients = 1.8, []
    places = [x]
    for _ in range(12):
        gradients.append(x)  # the slope along θ₁ is θ₁
        x = adamw(1.8, gradients, [0.05] * len(gradients), 0.9, 0.95, 0.0)
        places.append(x)
    path = path_down(valley, adam, (1.8, 0.8), 0.05, 12)
    assert path[:, 0].tolist() == pytest.approx(places)


def test_two_over_the_steepest_curvature_is_where_descent_breaks():
    app = make()
    app.rate.value = 0.08
    assert abs(app.figure.data[1].y[-1]) < 0.8
    app.rate.value = 0.11
    assert abs(app.figure.data[1].y[-1]) > 0.8
    assert "descent leaves the map" in app._repr_mimebundle_()["text/plain"]


def test_the_sliders_change_the_paths_in_place():
    app = make(learning_rate=0.02)
    figure, messages = app.figure, []
    figure.observe(lambda change: messages.append(change.new), "_py2js_update")
    app.steps.value = 5
    assert len(figure.data[1].x) == len(figure.data[2].x) == 6
    app.rate.value = 0.05
    expected = path_down(valley, adam, (1.8, 0.8), 0.05, 5)
    np.testing.assert_allclose(np.stack([figure.data[2].x, figure.data[2].y], 1), expected)
    assert app.figure is figure and all("heatmap" not in str(message) for message in messages)
    np.testing.assert_allclose(figure.data[2].x, app.draw().data[2].x)


def test_the_still_figure_has_every_learning_rate_of_the_slider():
    app = make(learning_rate=0.025)
    assert [step.label for step in app.still().layout.sliders[0].steps] == [
        f"{rate:g}" for rate in sorted({*RATES, 0.025})
    ]
    assert app.still().layout.sliders[0].active == sorted({*RATES, 0.025}).index(0.025)


def test_a_rule_begins_each_path_with_an_empty_memory():
    app = make()
    first = app.figure.data[2].x.tolist()
    app.rate.value = 0.3
    app.rate.value = 0.02
    assert app.figure.data[2].x.tolist() == first


def test_case_133_a_rule_that_fails_is_told_in_the_apps_line():
    broken = []

    def rule(theta, gradient, memory, eta):
        if broken:
            raise RuntimeError("my <rule>")
        return theta

    app = apps.descent(valley, {"mine": rule}, (1, 1))
    broken.append(True)
    app.rate.value = 0.1
    assert "This did not work: my &lt;rule&gt;" in app.line.value


@pytest.mark.parametrize(
    ("options", "named"),
    [({"learning_rate": 0}, "learning_rate is 0"), ({"learning_rate": math.nan}, "learning_rate is nan"),
     ({"steps": 0}, "steps is 0")],
)  # fmt: skip
def test_what_leads_nowhere_is_refused(options, named):
    with pytest.raises(ValueError, match=named):
        make(**options)
    with pytest.raises(ValueError, match="start is"):
        apps.descent(valley, {"descent": gradient_descent}, (1, 2, 3))
