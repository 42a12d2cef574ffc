"""The flow app: the points are where plain loops say, under a slider for the time and one for what the flow needs."""

import math

import numpy as np
import pytest
import torch

from gptlab import apps
from gptlab.apps.flows import MOST_FRAMES, euler
from tests.examples import example
from tests.pictures import HOSTILE, speech, words

STARTS = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)


def inwards(x):
    return -x


def around(x, speed):
    return speed * torch.stack([-x[:, 1], x[:, 0]], 1)


def drawn(app) -> np.ndarray:
    """Where the points of the last panel are."""
    return np.stack([app.figure.data[-1].x, app.figure.data[-1].y], 1)


def make(**options):
    return apps.flow(
        {"around": around}, STARTS, **{"step": 0.1, "steps": 8, "parameter": "speed", "values": (0, 1, 3)} | options
    )


def test_eulers_steps_are_those_of_plain_loops():
    path = euler(inwards, STARTS, 0.1, 4)
    expected = [[[(1 - 0.1) ** n * c for c in point] for point in STARTS.tolist()] for n in range(5)]
    torch.testing.assert_close(path, torch.tensor(expected, dtype=torch.float64))
    torch.testing.assert_close(euler(inwards, STARTS, 0.1, 4, every=2), path[::2])


def test_the_time_moves_the_points_in_place_and_computes_nothing_anew():
    calls = []

    def counted(x):
        calls.append(1)
        return -x

    app = apps.flow({"in": counted}, STARTS, step=0.1, steps=8)
    figure, before = app.figure, len(calls)
    app.time.value = 5
    np.testing.assert_allclose(drawn(app), STARTS * 0.9**5, rtol=1e-6)
    assert app.figure is figure and len(calls) == before == 8
    np.testing.assert_array_equal(drawn(app), np.stack([app.draw().data[-1].x, app.draw().data[-1].y], 1))


def test_the_other_slider_changes_the_flow_and_leaves_the_time():
    app = make(value=1)
    app.time.value = 8
    turned = drawn(app)
    app.value.value = 0
    np.testing.assert_array_equal(drawn(app), STARTS)
    app.value.value = 1
    np.testing.assert_array_equal(drawn(app), turned)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), [1.01**4, 2 * 1.01**4], rtol=1e-6)


def test_the_words_follow_the_flow():
    app = make()
    first = app._repr_mimebundle_()["text/plain"]
    app.value.value = 3
    assert app._repr_mimebundle_()["text/plain"] != first


def test_the_first_choice_is_the_nearest_to_the_value_asked_for():
    assert make(value=2.9).value.value == 3 and make().value.value == 0


def test_the_player_is_linked_to_the_time_and_does_not_start_by_itself():
    app = make()
    assert not app.play.playing and not app.play.repeat
    assert app.play.max == len(app.time.options) - 1 == 8
    assert app._link.source == (app.play, "value") and app._link.target == (app.time, "index")


@pytest.mark.parametrize("steps", [1, 39, 40, 41, 100, 1000])
def test_of_many_steps_some_forty_are_shown(steps):
    app = apps.flow({"in": inwards}, STARTS, step=0.01, steps=steps)
    assert len(app.still().frames) == len(app.time.options) <= MOST_FRAMES + 1
    last = float(app.time.options[-1][0])
    assert last <= 0.01 * steps + 1e-9 and last > 0.01 * steps * (1 - 1 / MOST_FRAMES) - 1e-9


def test_the_still_figure_plays_what_the_controls_say_and_begins_at_the_same_time():
    app = make(value=3)
    app.time.value = 2
    still = app.still()
    assert still.layout.sliders[0].active == 2 and len(still.frames) == 9
    np.testing.assert_array_equal(np.stack([still.data[-1].x, still.data[-1].y], 1), drawn(app))
    assert not app.figure.layout.sliders and not app.figure.layout.updatemenus


def test_the_ground_is_drawn_over_what_is_seen():
    app = apps.flow({"in": inwards}, STARTS, step=0.1, steps=2, grounds={"in": lambda x: (x**2).sum(-1)})
    assert app.figure.data[0].mode == "lines" and len(app.figure.data) == 2
    radii = np.hypot(app.figure.data[0].x, app.figure.data[0].y)
    assert np.nanmax(radii) < 1.2 * 2 * math.sqrt(2)
    assert list(app.figure.layout.xaxis.range) == pytest.approx([-2.4, 2.4])


def test_two_panels_start_alike():
    app = apps.flow({"in": inwards, "stay": lambda x: 0 * x}, STARTS, step=0.1, steps=4, groups=["a", "b"])
    app.time.value = 4
    assert [trace.name for trace in app.figure.data] == ["a", "b", "a", "b"]
    assert app.figure.data[0].x[0] == pytest.approx(0.9**4) and app.figure.data[2].x[0] == 1


def test_case_133_a_velocity_that_fails_is_told_in_the_apps_line():
    def velocity(x, speed):
        if speed == 3:
            raise RuntimeError("my <velocity>")
        return 0 * x

    app = apps.flow({"mine": velocity}, STARTS, step=0.1, steps=2, parameter="speed", values=(0, 3))
    app.value.value = 3
    assert speech(app) == "This did not work: my &lt;velocity&gt;"


def test_a_flow_that_leaves_all_bounds_is_told_and_not_drawn():
    app = apps.flow({"up": lambda x, speed: speed * x}, STARTS, step=1, steps=40, parameter="speed", values=(0, 1e9))
    app.value.value = 1e9
    assert "finite" in speech(app)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_no_markup(text):
    app = apps.flow({text: inwards}, STARTS, step=0.1, steps=1, time_name=text, groups=[text, "b"])
    assert not set(app.figure.data[0].name + app.figure.layout.annotations[0].text) & set("<>$%")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"step": 0}, "step is 0"),
        ({"step": math.nan}, "step is nan"),
        ({"steps": 0}, "steps is 0"),
        ({"groups": ["a"]}, "number of groups"),
        ({"grounds": {"other": lambda x: x[..., 0]}}, "grounds"),
    ],
)
def test_what_leads_nowhere_is_refused(options, named):
    with pytest.raises(ValueError, match=named):
        make(**options)


@pytest.mark.parametrize("shape", [(3, 1), (3, 4), (0, 2)])
def test_starts_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match="shape of starts"):
        apps.flow({"in": inwards}, torch.ones(shape), step=0.1, steps=1)


def test_no_panel_is_refused():
    with pytest.raises(ValueError, match="number of panels"):
        apps.flow({}, STARTS, step=0.1, steps=1)


def test_the_example_has_two_crowds_for_the_large_beta_and_says_so():
    app = example("app_flow")
    assert "5 points move from time 0 to 2" in words(app.still())
