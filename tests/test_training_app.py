"""The training app: nothing starts by itself; however it is held or ended, it takes an unbroken training's steps."""

import asyncio
import json
import math
import threading
import time
from copy import copy
from functools import cache

import numpy as np
import pytest
import torch
from ipywidgets.widgets.widget import _remove_buffers
from jupyter_client.manager import KernelManager

from gptlab import apps
from gptlab.apps import _background, _session
from gptlab.apps._cost import COPIES, try_step
from gptlab.apps.films import Film
from gptlab.apps.learning import BUTTONS
from gptlab.corpus import StoryCorpus
from gptlab.figures.curves import MOST_POINTS
from gptlab.training import Step, train
from gptlab.world import ENGLISH_WORLD
from tests.examples._model import untrained
from tests.pictures import speech

PROMPT = "The cat saw the cat"
SECONDS = 300  # until something must have happened, on a busy machine
LONG = 100_000  # steps, more than are taken before the test ends


@cache
def stories():
    """One for all: a batch is a function of its step, and to draw them takes longer than to learn from them."""
    return StoryCorpus(ENGLISH_WORLD, untrained(192)[1], tokens_per_batch=64, held_out_stories=2)


@pytest.fixture
def make():
    """Apps that are closed after the test. Some are held within a step, as if that took long, until they are let go."""
    made = []

    def make(steps=6, *, held_in=None, **options):
        (model, tok), data = untrained(192), copy(stories())
        held, let_go = threading.Event(), threading.Event()

        def batch(step):
            if step + 1 == held_in:
                held.set()
                assert let_go.wait(SECONDS)
            return stories().batch(step)

        data.batch = batch
        made.append(apps.training(model, tok, data, steps, **{"prompt": PROMPT, "look_every": 2} | options))
        made[-1].held, made[-1].let_go = held, let_go
        return made[-1]

    yield make
    for app in made:
        app.let_go.set()
        app.close()


def wait_for(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def wait_for_step(app, number):
    wait_for(lambda: app.session.run.number >= number or not app.session.busy)


def finish(app):
    app.session.run.wait()
    app.refresh()


def pressable(app):
    return {name for name, button in app.buttons.items() if not button.disabled}


def unbroken(steps=6, learning_rate=3e-3):
    model = _session.deepcopy(untrained(192)[0])
    losses = [step.loss for step in train(model, stories(), steps, learning_rate=learning_rate)]
    return losses, list(model.parameters())


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "gptlab training"]


# Before the start -------------------------------------------------------------------------------------------------


def test_nothing_starts_by_itself_and_the_model_stays_as_it_is(make):
    before = [p.clone() for p in untrained(192)[0].parameters()]
    app = make()
    app._repr_mimebundle_()
    assert threads() == [] and app.session.state == "ready" and pressable(app) == {"start"}
    assert app.session.film.steps == []
    assert all(map(torch.equal, before, untrained(192)[0].parameters()))
    assert all(map(torch.equal, before, app.model.parameters()))


def test_time_and_memory_are_said_before_the_start_and_follow_the_number_of_steps(make, monkeypatch):
    app = make()
    app.session.cost = app.session.cost._replace(step=2.0, validation=1.0, memory=12_345_678)
    app.steps.value = 10
    assert speech(app) == "Nothing runs yet. 10 steps will take about 25 seconds here and 12 MB of memory."
    app.steps.value = 24
    app.session.cost = app.session.cost._replace(step=60.0)
    app.show_state()
    assert "about 24 minutes" in speech(app)


def test_the_cost_is_of_the_order_of_what_it_then_is(monkeypatch):
    monkeypatch.setattr("gptlab.apps._cost.perf_counter", time.process_time)  # others may be at work here
    model, data = _session.deepcopy(untrained(192)[0]), stories()
    cost = try_step(model, data)
    weights = sum(4 * p.numel() for p in model.parameters())
    logits = 4 * data.batch(0).inputs.numel() * model.config.vocab_size
    assert COPIES * weights < cost.memory < COPIES * weights + 8 * logits
    began = time.process_time()
    list(train(model, data, 20, validate_every=10))
    assert cost.seconds(20, 10) / 10 < time.process_time() - began < 10 * cost.seconds(20, 10)


def test_trying_a_step_leaves_weights_mode_and_random_state():
    model = _session.deepcopy(untrained(192)[0]).train()
    before, state = [p.clone() for p in model.parameters()], torch.get_rng_state()
    try_step(model, stories())
    assert all(map(torch.equal, before, model.parameters())) and model.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"look_every": 0}, "every is 0"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"learning_rate": math.nan}, "learning_rate is nan"),
        ({"prompt": "a " * 200}, "tokens of prompt"),
    ],
)
def test_what_cannot_be_is_refused(make, options, named):
    with pytest.raises(ValueError, match=named):
        make(**options)


# Start, pause, resume, stop ---------------------------------------------------------------------------------------


def test_it_takes_the_steps_of_a_training_in_a_cell(make):
    app = make()
    app.start()
    finish(app)
    losses, weights = unbroken()
    assert [step.loss for step in app.session.film.steps] == losses
    assert all(map(torch.equal, app.model.parameters(), weights))
    assert app.session.state == "finished" and pressable(app) == {"start"} and app.bar.value == 1
    assert speech(app).startswith("Done, step 6 of 6")


def test_paused_it_stands_still_until_it_is_told_to_go_on(make):
    app = make(LONG, held_in=3)
    app.start()
    wait_for(app.held.is_set)
    app.pause()
    assert app.session.state == "paused" and pressable(app) == {"resume", "stop"}
    assert "Paused" in speech(app) and app.rate.disabled and app.steps.disabled
    app.let_go.set()
    wait_for_step(app, 3)  # the step under way
    time.sleep(0.2)
    assert app.session.run.number == 3
    app.resume()
    wait_for_step(app, 5)
    assert app.session.state == "running"


def test_case_99_stopped_and_gone_on_with_it_takes_the_very_steps_of_the_unbroken_training(make):
    app = make(12, held_in=4)
    app.start()
    wait_for(app.held.is_set)
    app.stop()
    app.let_go.set()
    finish(app)
    assert app.session.state == "stopped" and len(app.session.film.steps) == 4 and app.session.checkpoint.exists()
    assert pressable(app) == {"start", "resume"} and "work is kept" in speech(app)
    app.rate.value = 0.3  # for a training to come; this one goes on as it began
    app.resume()
    finish(app)
    losses, weights = unbroken(12)
    assert [step.loss for step in app.session.film.steps] == losses
    assert all(map(torch.equal, app.model.parameters(), weights))


def test_a_paused_training_can_be_stopped(make):
    app = make(LONG)
    app.start()
    wait_for_step(app, 1)
    app.pause()
    app.stop()
    finish(app)
    assert app.session.state == "stopped" and threads() == []


def test_started_anew_it_begins_at_the_beginning(make):
    app = make()
    for _ in range(2):
        app.start()
        finish(app)
        assert [step.loss for step in app.session.film.steps] == unbroken()[0]
    assert app.buttons["start"].description == "Start anew"


def test_the_sliders_say_how_long_and_how_fast(make):
    app = make()
    app.steps.value, app.rate.value = 3, 0.1
    app.start()
    finish(app)
    assert [step.loss for step in app.session.film.steps] == unbroken(3, 0.1)[0]
    assert app.session.film.steps[-1].learning_rate < 0.1


def test_a_checkpoint_outlives_the_app(make, tmp_path):
    path = tmp_path / "deeper" / "work.safetensors"
    app = make(12, checkpoint=path, held_in=4)
    app.start()
    wait_for(app.held.is_set)
    app.stop()
    app.let_go.set()
    app.close()
    again = make(12, checkpoint=path)
    assert pressable(again) == {"start", "resume"} and str(path) in speech(again)
    again.resume()
    finish(again)
    losses, weights = unbroken(12)
    numbers = [step.number for step in again.session.film.steps]
    assert numbers == list(range(5, 13))
    assert [step.loss for step in again.session.film.steps] == losses[4:]
    assert all(map(torch.equal, again.model.parameters(), weights))


# One at a time, and nothing left behind ---------------------------------------------------------------------------


def test_case_98_an_app_made_again_begins_with_the_model_that_was_given(make):
    app = make()
    app.start()
    finish(app)
    assert torch.equal(make().model.token_embedding.weight, untrained(192)[0].token_embedding.weight)


def test_a_second_start_does_no_harm(make):
    app = make(LONG)
    app.start()
    run = app.session.run
    app.start()
    assert app.session.run is run and len(threads()) == 1


def test_one_training_at_a_time_and_the_one_that_gave_way_keeps_its_work_and_says_so(make):
    first, second = make(LONG), make()
    first.start()
    wait_for_step(first, 2)
    second.start()
    assert not first.session.busy
    first.refresh()
    assert speech(first).startswith("Another training was started, so this one has stopped after step")
    assert pressable(first) == {"start", "resume"}
    finish(second)
    assert second.session.state == "finished"
    done = first.session.run.number
    first.resume()
    wait_for_step(first, done + 1)
    assert [step.number for step in first.session.film.steps][: done + 1] == list(range(1, done + 2))


def test_closed_while_it_trains_it_leaves_nothing_running_and_no_file(make):
    app = make(LONG)
    app.start()
    wait_for_step(app, 1)
    folder = app.session.checkpoint.parent
    app.close()
    assert threads() == [] and not folder.exists()


def test_at_the_end_of_the_kernel_the_checkpoint_is_written(make, tmp_path):
    app = make(LONG, checkpoint=tmp_path / "work", look_every=100)
    app.start()
    wait_for_step(app, 1)
    _background.stop_training()
    assert (tmp_path / "work").exists() and threads() == []


# What goes wrong --------------------------------------------------------------------------------------------------


def test_a_loss_that_is_no_number_is_said_in_the_app(make):
    app = make()
    app.session.untrained.blocks[0].register_forward_hook(lambda module, x, y: y * (math.nan if module.training else 1))
    app.start()
    finish(app)
    assert app.session.state == "failed" and pressable(app) == {"start"}
    assert "failed after step 0 of 6: " in speech(app) and "nan" in speech(app)


def test_a_disk_that_takes_nothing_is_said_in_the_app(make, tmp_path):
    (tmp_path / "file").write_text("in the way")
    app = make(checkpoint=tmp_path / "file" / "work")
    app.start()
    finish(app)
    assert app.session.state == "failed" and "failed after step" in speech(app)


def test_a_checkpoint_of_another_training_is_refused_in_words(make, tmp_path):
    first = make(4, checkpoint=tmp_path / "work")
    first.start()
    finish(first)
    second = make(5, checkpoint=tmp_path / "work")
    second.resume()
    assert "This did not work: steps is 5" in speech(second)
    second.start()
    finish(second)
    assert second.session.state == "finished"


def test_case_133_an_error_in_drawing_is_said_and_the_training_goes_on(make, monkeypatch):
    app = make()
    app.start()

    def fail(*_, **__):
        raise RuntimeError("<b>no ink</b>")

    with monkeypatch.context() as patch:
        patch.setattr(Film, "picture", fail)
        app.attempt(app._redraw)
        assert "This did not work: &lt;b&gt;no ink" in speech(app)
    finish(app)
    assert app.session.state == "finished"


def test_every_state_has_its_buttons_and_its_sentence(make):
    app = make()
    app.start()
    finish(app)
    for state in set(BUTTONS) - {"ready"}:
        type(app.session.run).state, before = property(lambda run, state=state: state), type(app.session.run).state
        try:
            assert app.remark().endswith((".", "None"))
        finally:
            type(app.session.run).state = before


INTERRUPTED = """
import time
from tests.examples._model import untrained
from tests.test_training_app import PROMPT, stories
from gptlab import apps
app = apps.training(*untrained(192), stories(), 100_000, prompt=PROMPT)
app.start()
while app.session.run.number < 1:
    time.sleep(0.01)
"""


def test_an_interrupt_of_the_kernel_ends_a_cell_and_not_the_training():
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)

        def ask(expression):
            reply = client.execute_interactive(
                "", user_expressions={"it": expression}, timeout=SECONDS, output_hook=lambda message: None
            )
            return reply["content"]["user_expressions"]["it"]["data"]["text/plain"]

        reply = client.execute_interactive(INTERRUPTED, timeout=SECONDS, output_hook=lambda message: None)
        assert reply["content"]["status"] == "ok", reply["content"]
        manager.interrupt_kernel()  # nobody is at work but the training
        client.execute("print('asleep', flush=True); time.sleep(600)", stop_on_error=False)  # else no more is answered
        wait_for(lambda: "asleep" in client.get_iopub_msg(timeout=SECONDS)["content"].get("text", ""))
        manager.interrupt_kernel()
        wait_for(lambda: client.get_shell_msg(timeout=SECONDS)["content"].get("ename") == "KeyboardInterrupt")
        before = int(ask("app.session.run.number"))
        assert ask("app.session.state") == "'running'"
        wait_for(lambda: int(ask("app.session.run.number")) > before)
        assert ask("app.stop() or app.session.run.wait() or app.session.state") == "'stopped'"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# The picture ------------------------------------------------------------------------------------------------------


def test_on_a_page_the_picture_follows_the_training(make, monkeypatch):
    monkeypatch.setattr("gptlab.apps.learning.PACE", 0.01)
    app = make(held_in=2)
    drawn = []
    app.figure.observe(lambda change: drawn.append(change.new), "_py2js_update")

    async def watch():
        app.start()
        app.let_go.set()
        await asyncio.wait_for(app._watcher, SECONDS)

    asyncio.run(watch())
    assert app.session.state == "finished" and any(drawn)
    np.testing.assert_allclose(app.figure.data[0].y, unbroken()[0], rtol=1e-5)
    assert list(app.figure.data[1].x) == [2, 4, 6]
    assert speech(app).startswith("Done")


def test_a_head_is_chosen_by_the_sliders(make):
    app = make()
    attention = app.session.film.looks[-1].attention
    for layer, head in ((0, 0), (0, 1), (1, 1)):
        app.layer.value, app.head.value = layer, head
        shown = [[share for share in row if share is not None] for row in app.figure.data[5].z]
        assert shown == [row[: query + 1].tolist() for query, row in enumerate(attention[layer, head])]


def test_what_is_sent_to_the_page_is_strict_json(make):
    """An array in two dimensions is sent as lists, where NaN would be no JSON."""
    app = make()
    app.start()
    finish(app)
    app._repr_mimebundle_()
    state, _, _ = _remove_buffers(app.figure.get_state())
    json.dumps(state["_widget_data"], allow_nan=False, default=str)


def test_a_page_without_a_kernel_shows_the_film_that_was_recorded_or_the_own_one(make):
    recorded = make(4)
    recorded.start()
    finish(recorded)
    app = make(film=recorded.session.film)
    words = app._repr_mimebundle_()["text/plain"]
    assert words.startswith("training loss") and "at step 4" in words
    assert len(app.still().layout.sliders[0].steps) == 3
    app.start()
    finish(app)
    assert "at step 6" in app._repr_mimebundle_()["text/plain"]
    assert make()._repr_mimebundle_()["text/plain"].startswith("Not trained yet.")


def step(number, val_loss=None):
    return Step(number, 3.0 + math.sin(number), val_loss, None, 0.1, 1.0, number, 1.0, 0)


def test_case_132_of_a_long_training_the_picture_keeps_some_thousand_points_and_its_pace():
    model, tok = untrained(192)
    film = Film(model, tok, PROMPT, every=10**6)
    seconds = {}
    for number in range(1, 50_001):
        film.take(step(number, val_loss=1.0 if number % 100 == 0 else None))
        if number in (100, 50_000):
            film.picture(0, 0)
            began = time.perf_counter()
            figure = film.picture(0, 0)
            seconds[number] = time.perf_counter() - began
    losses = [one.loss for one in film.steps]
    assert len(figure.data[0].y) <= MOST_POINTS + 500 and len(figure.data[1].y) == 500
    assert figure.data[0].y.min() == pytest.approx(min(losses)) and figure.data[0].y.max() == pytest.approx(max(losses))
    assert (figure.data[0].x[0], figure.data[0].x[-1]) == (1, 50_000)
    assert seconds[50_000] < 10 * 0.5


def test_a_film_looks_at_its_beginning_and_every_so_many_steps_and_never_grows_without_bound(monkeypatch):
    model, tok = untrained(192)
    film = Film(model, tok, PROMPT, every=2, n_new=3)
    for number in range(1, 8):
        film.take(step(number))
    film.look()
    film.look()
    assert [look.step for look in film.looks] == [0, 2, 4, 6, 7]
    assert film.looks[0].attention.shape == (2, 2, 6, 6) and film.looks[0].attention.dtype == np.uint8
    monkeypatch.setattr("gptlab.apps.films.MOST_LOOKS", 4)
    film.take(step(8))
    assert [look.step for look in film.looks] == [0, 4, 7, 8]


def test_a_film_leaves_the_model_as_it_is():
    model = _session.deepcopy(untrained(192)[0]).train()
    before, state = [p.clone() for p in model.parameters()], torch.get_rng_state()
    Film(model, untrained(192)[1], PROMPT)
    assert all(map(torch.equal, before, model.parameters())) and model.training
    assert torch.equal(torch.get_rng_state(), state)
