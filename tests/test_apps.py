"""Apps: live in place, still without a kernel, and never a traceback. The page itself is for the browser tests."""

import asyncio
import json
import time

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from gptlab import apps, figures, world
from gptlab.apps import _page
from gptlab.apps._prompt import Reading
from gptlab.decoding import stream
from gptlab.tokenizer import Tokenizer
from gptlab.tracing import trace
from tests.examples import NAMES, example
from tests.examples._model import untrained
from tests.pictures import speech
from tests.references.figures import softmax

APPS = [name for name in NAMES if name.startswith("app_")]
VIEW, FIGURE, TEXT = "application/vnd.jupyter.widget-view+json", "application/vnd.plotly.v1+json", "text/plain"
PROMPT = "The cat saw the cat"
HOSTILE = "<img src=x onerror=alert(1)> $x$ %{y}"
PROMPTS = {
    "empty": "",
    "one token": ".",
    "pasted": "The cat saw the cat. " * 500,
    "only line ends": "\n\n\n\n",
    "right to left": "مرحبا بالعالم",
    "markup": HOSTILE,
    "lone surrogate": "\ud83d",
    "words outside the world": "The dragon zzz",
}


@pytest.fixture
def machine():
    return apps.Machine(*untrained(), PROMPT, truth=world, max_new_tokens=8)


def texts(widget) -> list[str]:
    """All HTML that a widget and its children hold."""
    own = [widget.value] if isinstance(widget, widgets.HTML) else []
    return own + [text for child in getattr(widget, "children", ()) for text in texts(child)]


# Live and still ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", APPS)
def test_an_output_holds_the_live_app_a_still_figure_and_words(name):
    output = example(name)._repr_mimebundle_()
    assert set(output) == {VIEW, FIGURE, TEXT}
    json.dumps(output, allow_nan=False)
    figure = go.Figure({key: output[FIGURE][key] for key in ("data", "layout")})
    assert figure.data
    assert output[TEXT] and "\n" not in output[TEXT]
    assert len(json.dumps(output[FIGURE])) < 50_000


@pytest.mark.parametrize("name", APPS)
def test_two_runs_give_the_same_still_figure_and_words(name):
    first, second = (example(name)._repr_mimebundle_() for _ in range(2))
    assert first[FIGURE] == second[FIGURE]
    assert first[TEXT] == second[TEXT]
    assert "uid" not in json.dumps(first[FIGURE])


@pytest.mark.parametrize("name", APPS)
def test_no_output_widget_and_every_control_has_its_name(name):
    controls = list(descendants(example(name)))
    assert not any(isinstance(control, widgets.Output) for control in controls)
    named = [c for c in controls if isinstance(c, widgets.Text | widgets.FloatSlider | widgets.SelectionSlider)]
    assert all(control.description and control.style.description_width == "initial" for control in named)


def descendants(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from descendants(child)


def test_case_137_the_words_change_when_the_picture_does(machine):
    before = {part: getattr(machine, part)._repr_mimebundle_()[TEXT] for part in ("tokens", "attention", "next_token")}
    machine.prompt.box.value = "The old dog"
    machine.attention.head.value = 1
    for part, words in before.items():
        assert getattr(machine, part)._repr_mimebundle_()[TEXT] != words


def test_a_still_figure_has_sliders_of_its_own(machine):
    sliders = {
        part: [slider["currentvalue"]["prefix"].strip() for slider in layout.get("sliders", ())]
        for part in ("attention", "next_token", "text")
        for layout in [getattr(machine, part)._repr_mimebundle_()[FIGURE]["layout"]]
    }
    assert sliders == {"attention": ["layer", "head"], "next_token": ["temperature"], "text": ["temperature"]}
    still = machine.next_token.still()
    assert len(still.layout.sliders[0].steps) == 26


def test_of_too_many_heads_the_still_figure_shows_the_chosen_one(monkeypatch, machine):
    machine.attention.layer.value, machine.attention.head.value = 1, 0
    monkeypatch.setattr("gptlab.apps.heads.MOST_BYTES", 10)
    still = machine.attention.still()
    assert not still.layout.sliders
    np.testing.assert_array_equal(still.data[0].z, machine.prompt.reading.attention[1, 0])


# On the page ------------------------------------------------------------------------------------------------------


def test_a_figure_is_announced_complete(monkeypatch):
    announced = []
    monkeypatch.setattr(widgets.Widget, "open", lambda self: announced.append(self.get_state()))
    _page.Canvas(go.Figure(go.Bar(y=[1, 2])))
    states = [state for state in announced if "_widget_data" in state]
    assert [len(state["_widget_data"]) for state in states] == [1]
    assert states[0]["_config"]["responsive"]


def test_plotly_is_sent_once_for_all_figures():
    figures_made = [_page.Canvas(go.Figure()) for _ in range(3)]
    assert len({figure._library for figure in figures_made}) == 1
    assert all(len(figure.get_state()["_esm"]) < 3_000 for figure in figures_made)
    assert len(figures_made[0]._library.code) > 1_000_000


def test_after_all_widgets_were_closed_a_new_figure_has_a_library_again():
    first = _page.the_library()
    first.close()
    assert _page.the_library() is not first


def test_a_page_that_has_drawn_is_told_what_it_missed(machine):
    figure, sent = machine.next_token.figure, []
    figure.bring_up_to_date()
    for name in ("_py2js_restyle", "_py2js_relayout"):
        figure.observe(lambda change: sent.append(change["new"]), names=name)
    figure._handle_custom_msg("drawn", [])
    assert sent == []
    machine.next_token.temperature.value = 0
    figure.layout.title = {"text": "later"}
    sent.clear()
    figure._handle_custom_msg("something else", [])
    assert sent == []
    figure._handle_custom_msg("drawn", [])
    restyled = [one for one in sent if one and "restyle_data" in one]
    assert {one["restyle_traces"][0] for one in restyled} >= {1}
    for one in restyled:
        (index,), data = one["restyle_traces"], one["restyle_data"]
        for name, (value,) in data.items():
            np.testing.assert_equal(value, figure.data[index].to_plotly_json()[name])
    assert [one["relayout_data"]["title"]["text"] for one in sent if one and "relayout_data" in one] == ["later"]


def test_a_view_that_is_made_later_shows_what_has_changed_since(machine):
    machine.next_token.temperature.value = 0
    machine.next_token._repr_mimebundle_()
    figure = machine.next_token.figure
    np.testing.assert_array_equal(figure._widget_data[1]["x"], figure.data[1].x)


# In place ---------------------------------------------------------------------------------------------------------


def test_a_slider_changes_the_figure_in_place_with_one_message(machine):
    figure, messages = machine.next_token.figure, []
    figure.observe(lambda change: messages.append(change.new), "_py2js_update")
    machine.next_token.temperature.value = 0.5
    assert machine.next_token.figure is figure
    (message,) = filter(None, messages)
    assert message["style_traces"] == [1] and list(message["style_data"]) == ["x"]
    assert not message["layout_data"]


def test_the_bars_are_those_of_the_sliders_and_take_no_forward_pass(machine, passes):
    app, logits = machine.next_token, machine.prompt.reading.logits.tolist()
    model, cooled = softmax(logits), softmax(logits, 0.7)
    ids = sorted(range(len(logits)), key=lambda id: -model[id])[:8]
    passes.clear()

    def bars(trace: int) -> list[float]:
        return app.figure.data[trace].x.tolist()[:8]

    app.temperature.value = 0.7
    assert bars(1) == pytest.approx([cooled[id] for id in ids], rel=1e-4)
    app.top_k.value = 2
    both = cooled[ids[0]] + cooled[ids[1]]
    assert bars(1)[:3] == pytest.approx([cooled[ids[0]] / both, cooled[ids[1]] / both, 0], rel=1e-4)
    app.top_p.value = 0.05
    assert bars(1)[:2] == [1, 0]
    app.top_p.value, app.temperature.value = 1, 0
    assert bars(1)[:2] == [1, 0]
    assert bars(0) == pytest.approx([model[id] for id in ids], rel=1e-4)
    assert passes == []


def test_a_prompt_takes_one_forward_pass_for_the_bars_and_one_for_the_attention(passes):
    for app in (apps.attention, apps.next_token):
        passes.clear()
        made = app(*untrained(), PROMPT)
        made.still()
        made.children[0].box.value = "The dog"
        assert len(passes) == 2, "one for each of the two prompts"


def test_a_slider_never_offers_more_than_the_vocabulary():
    app = apps.next_token(*untrained(), PROMPT)
    offered = [value for _, value in app.top_k.options]
    assert offered[-1] == untrained()[1].vocab_size == app.top_k.value
    assert offered == sorted(offered)


def test_the_heatmap_is_the_head_of_the_sliders(machine):
    weights = trace(untrained()[0], machine.prompt.reading.ids).attention[:, 0]
    app = machine.attention
    for layer in range(2):
        for head in range(2):
            app.layer.value, app.head.value = layer, head
            np.testing.assert_allclose(app.figure.data[0].z, 100 * weights[layer, head], atol=0.51)


def test_equal_tokens_keep_their_places_in_every_picture(machine):
    machine.prompt.box.value = "the cat saw the cat"
    labels = ["<|endoftext|>", "the", "␣cat", "␣saw", "␣the", "␣cat"]
    heatmap = machine.attention.figure
    assert list(heatmap.layout.xaxis.ticktext) == list(heatmap.layout.yaxis.ticktext) != labels[:1]
    assert len(heatmap.data[0].x) == len(heatmap.data[0].z) == 6
    assert len(set(machine.tokens.figure.data[0].base)) == 6


def test_zoom_is_kept_when_a_slider_moves(machine):
    heatmap = machine.attention.figure
    heatmap.layout.xaxis.range = [0.5, 2.5]
    machine.attention.layer.value = 1
    assert tuple(heatmap.layout.xaxis.range) == (0.5, 2.5)


def test_200_slider_events_leave_no_backlog(machine):
    app = machine.next_token
    started = time.perf_counter()
    for event in range(200):
        app.temperature.value = 0.05 * (event % 40 + 1)
    took = time.perf_counter() - started
    np.testing.assert_allclose(app.figure.data[1].x, app.draw().data[1].x)
    assert took < 10 * 1.3  # a second of events and 0.3 s after it, with room for a busy machine


def test_two_apps_of_one_kind_are_independent():
    one, other = (apps.next_token(*untrained(), PROMPT) for _ in range(2))
    before = other.figure.data[1].x.tolist()
    one.temperature.value = 0
    one.children[0].box.value = "The dog"
    assert other.figure.data[1].x.tolist() == before


# What is typed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_any_prompt_is_drawn_or_answered_in_a_sentence(prompt, machine, capsys):
    machine.prompt.box.value = prompt
    for part in (machine.tokens, machine.attention, machine.next_token, machine.text):
        assert "did not work" not in speech(part)
        assert set(part._repr_mimebundle_()) == {VIEW, FIGURE, TEXT}
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
@pytest.mark.parametrize("app", [apps.attention, apps.next_token, apps.generate])
def test_any_prompt_can_be_the_first(app, prompt):
    assert app(*untrained(), prompt)._repr_mimebundle_()[TEXT]


def test_what_the_prompt_is_like_is_said_under_the_box(machine):
    said = {}
    for name, prompt in PROMPTS.items():
        machine.prompt.box.value = prompt
        said[name] = speech(machine.prompt)
    assert said["empty"] == "Nothing typed: the model begins a text."
    assert said["pasted"].startswith("The prompt has 3,002 tokens; shown are the last 32.")
    assert "‘␣dragon’, ‘␣zzz’" in said["words outside the world"]
    assert "&lt;" in said["markup"] and "<" not in said["markup"]


def test_where_the_world_cannot_tell_the_prompt_the_truth_is_hidden_and_the_reason_said(machine):
    app = machine.next_token
    machine.prompt.box.value = ""
    assert app.figure.data[2].visible and speech(app) == ""
    machine.prompt.box.value = "cat cat"
    assert not app.figure.data[2].visible
    assert speech(app) == "The small world never says ‘cat’ there (word 1); the truth is hidden."
    machine.prompt.box.value = ""
    assert app.figure.data[2].visible and speech(app) == ""


def test_the_truth_is_the_worlds(machine):
    machine.prompt.box.value = ""
    tok = untrained()[1]
    truth = machine.prompt.reading.truth
    assert {tok.decode([int(id)]): truth[id] for id in np.flatnonzero(truth)} == pytest.approx(
        world.next_word_distribution("")
    )


def test_no_text_is_ever_read_as_html(machine):
    machine.prompt.box.value = HOSTILE
    machine.text.press()
    for html in texts(machine):
        assert "<img" not in html and "onerror=alert(1)>" not in html


# What goes wrong --------------------------------------------------------------------------------------------------


def test_case_133_what_goes_wrong_in_a_handler_is_said_in_the_apps_own_line(machine, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("the <b>weights</b> are NaN")

    handlers = {
        machine.attention: machine.attention.choose,
        machine.next_token: machine.next_token.reshape,
        machine.text: machine.text.press,
        machine.tokens: machine.tokens.refresh,
        machine.prompt: machine.prompt.read,
    }
    monkeypatch.setattr("gptlab.apps.bars.next_token_probabilities", fail)
    monkeypatch.setattr("gptlab.apps.writing.stream", fail)
    monkeypatch.setattr("gptlab.figures.token_strip", fail)
    monkeypatch.setattr("gptlab.apps.heads.HEATMAP", 99)
    monkeypatch.setattr("gptlab.apps._prompt.prompt_ids", fail)
    for app, handler in handlers.items():
        handler(None)
        assert "This did not work" in speech(app) or "cannot be read" in speech(app)
        assert "<b>" not in speech(app)


def test_an_app_goes_on_after_an_error(machine, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("gptlab.apps.bars.next_token_probabilities", lambda *_: 1 / 0)
        machine.next_token.temperature.value = 0.5
        assert "division" in speech(machine.next_token)
    machine.prompt.box.value = ""
    assert speech(machine.next_token) == ""


# Writing ----------------------------------------------------------------------------------------------------------


def test_the_button_writes_what_stream_gives_and_another_text_each_time():
    model, tok = untrained()
    app = apps.generate(model, tok, PROMPT, max_new_tokens=8, seed=3)
    written = []
    for _ in range(2):
        app.press()
        written.append(app.written)
    assert written == ["".join(stream(model, tok, PROMPT, 8, generator=seed)) for seed in (4, 5)]
    assert written[0] != written[1]
    again = apps.generate(model, tok, PROMPT, max_new_tokens=8, seed=3)
    again.press()
    assert again.written == written[0]


def test_temperature_0_writes_the_greedy_text_each_time():
    app = apps.generate(*untrained(), PROMPT, max_new_tokens=8)
    app.temperature.value = 0
    app.press()
    first = app.written
    app.press()
    assert app.written == first


def test_on_a_page_the_text_grows_piece_by_piece_and_the_button_stops_it(monkeypatch):
    monkeypatch.setattr("gptlab.apps.writing.READING_PACE", 0)
    app = apps.generate(*untrained(), PROMPT, max_new_tokens=20)
    grown = []
    app.text.observe(lambda change: grown.append(app.written), "value")

    async def watch():
        app.press()
        assert app.button.description == "Stop"
        while len(grown) < 5:
            await asyncio.sleep(0)
        app.press()
        stopped = app.written
        await asyncio.sleep(0.05)
        assert app.written == stopped and app.button.description == "Write on"
        app.press()
        while app.button.description == "Stop":
            await asyncio.sleep(0.001)
        assert len(asyncio.all_tasks()) == 1, "nothing left running"

    asyncio.run(watch())
    assert all(later.startswith(earlier) for earlier, later in zip(grown[:4], grown[1:5], strict=True))


@pytest.mark.parametrize("end", [lambda app: app.close(), lambda app: setattr(app.prompt.box, "value", "The dog")])
def test_a_closed_app_and_another_prompt_stop_the_writing(end):
    app = apps.generate(*untrained(), PROMPT, max_new_tokens=20)

    async def watch():
        app.press()
        await asyncio.sleep(0)
        end(app)
        await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(watch())


def test_what_goes_wrong_while_writing_is_said(monkeypatch):
    def broken(*args, **options):
        yield "so"
        raise RuntimeError("no more memory")

    monkeypatch.setattr("gptlab.apps.writing.stream", broken)
    app = apps.generate(*untrained(), PROMPT)

    async def watch():
        app.press()
        while app.button.description == "Stop":
            await asyncio.sleep(0.001)

    asyncio.run(watch())
    assert speech(app) == "This did not work: no more memory" and app.written == "so"
    assert app.button.description == "Write on"


def test_the_text_of_the_still_figure_stands_in_the_live_app_too(machine):
    output = machine.text._repr_mimebundle_()
    assert machine.text.written
    assert output[TEXT] == f"The text at temperature 1: {PROMPT}|{machine.text.written}"


# Other models -----------------------------------------------------------------------------------------------------


def test_a_model_is_left_in_the_mode_it_was_in():
    model, tok = untrained()
    model.train()
    machine = apps.Machine(model, tok, PROMPT, max_new_tokens=4)
    machine.text.press()
    assert model.training
    model.eval()


def test_of_a_large_model_only_one_text_is_written_for_the_still_figure(monkeypatch, machine):
    monkeypatch.setattr("gptlab.apps.writing.MOST_PARAMETERS", 10)
    assert not machine.text.still().layout.sliders


def test_512_tokens_and_no_more_are_looked_at():
    model, tok = untrained(600)
    reading = Reading(model, tok, "a" * 700)
    assert reading.ids.shape == (1, 512) and reading.attention.dtype == np.uint8
    figure = figures.attention_heatmap(reading.attention[0, 0], reading.pieces)
    assert figure.data[0].z.shape == (512, 512)
    assert torch.isfinite(reading.logits).all()


def test_gpt2s_tokenizer_shows_the_truth_as_hidden():
    tok = Tokenizer.gpt2()
    reading = Reading(untrained()[0], tok, "", world)
    assert reading.truth is None and "The truth is hidden" in reading.hidden_because


def test_the_gallery_shows_each_example_with_one_plotly(tmp_path):
    from scripts.gallery import main

    page = main(tmp_path).read_text(encoding="utf-8")
    assert all(f'id="{name}"' in page for name in NAMES)
    assert len(page) < 25_000 * len(NAMES) and page.count("plotly.min.js") == 1
    assert "http" not in page.replace("https://plot.ly", "")
