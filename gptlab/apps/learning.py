"""Training before one's eyes: curves, a sample text and a head's attention, while the model learns.

Nothing starts by itself. The training runs in a thread; the page is changed from the kernel's own loop, where sliders
are heard as well, so that no two of them draw at once.
"""

import asyncio
import math
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.apps._frame import FigureApp, control
from gptlab.apps._session import Session
from gptlab.apps.films import Film
from gptlab.corpus import Corpus
from gptlab.model import GPT
from gptlab.recipe import check_whole
from gptlab.tokenizer import Tokenizer

RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
PACE = 0.4  # seconds between two pictures
MOST_FRAMES = 14  # of the still film

# Which buttons can be pressed in which state.
BUTTONS = {
    "ready": {"start"},
    "running": {"pause", "stop"},
    "paused": {"resume", "stop"},
    "stopping": set(),
    "stopped": {"start", "resume"},
    "finished": {"start"},
    "failed": {"start"},
}


class Learning(FigureApp):
    """Four buttons over a training and its film."""

    def __init__(self, session: Session, steps: int, learning_rate: float, film: Film | None) -> None:
        self.session, self.recorded = session, film
        self._watcher: asyncio.Task | None = None
        rates = [(f"{rate:g}", rate) for rate in sorted({*RATES, learning_rate})]
        self.rate = control(widgets.SelectionSlider, "learning rate", options=rates, value=learning_rate)
        self.steps = control(widgets.IntSlider, "steps", value=steps, min=1, max=4 * steps)
        n_layers, n_heads = session.film.looks[0].attention.shape[:2]
        self.layer = control(widgets.IntSlider, "layer", min=0, max=n_layers - 1, value=n_layers - 1)
        self.head = control(widgets.IntSlider, "head", min=0, max=n_heads - 1)
        self.bar = widgets.FloatProgress(min=0, max=1, layout={"width": "100%", "max_width": "640px"})
        handlers = {"start": self.start, "pause": self.pause, "resume": self.resume, "stop": self.stop}
        self.buttons = {name: widgets.Button(description=name.capitalize()) for name in handlers}
        row = widgets.HBox(list(self.buttons.values()), layout={"flex_flow": "wrap"})
        super().__init__(self.rate, self.steps, row, self.bar, self.layer, self.head)
        for name, handler in handlers.items():
            self.buttons[name].on_click(handler)
        for slider in (self.layer, self.head):
            slider.observe(self.refresh, "value")
        for slider in (self.rate, self.steps):
            slider.observe(self.show_state, "value")
        self.show_state()

    @property
    def model(self) -> GPT:
        """The model that learns here: a copy of the one that was given."""
        return self.session.model

    def start(self, button: Any = None) -> None:
        """Begin at the beginning; the handler of a button, as are the next three."""
        self.attempt(lambda: self.session.start(self.steps.value, self.rate.value))
        self._follow()

    def resume(self, button: Any = None) -> None:
        """Go on after a pause or a stop."""
        self.attempt(lambda: self.session.resume(self.steps.value, self.rate.value))
        self._follow()

    def pause(self, button: Any = None) -> None:
        """Hold the training."""
        self.session.pause()
        self.show_state()

    def stop(self, button: Any = None) -> None:
        """End the training and keep its work."""
        self.session.stop()
        self.show_state()

    def close(self) -> None:
        """Stop, clear away and leave the page."""
        if self._watcher is not None:
            self._watcher.cancel()
        self.session.close()
        super().close()

    def _follow(self) -> None:
        """Draw what comes, until the training has ended."""
        if not self.session.busy:
            return
        self.show_state()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no page: who wants to see calls `refresh`
            return
        if self._watcher is None or self._watcher.done():
            self._watcher = loop.create_task(self._watch())

    async def _watch(self) -> None:
        seen = None
        while self.session.busy:
            now = self.session.state, self.session.progress
            if now != seen:
                self.refresh()
            seen = now
            await asyncio.sleep(PACE)
        self.refresh()

    def draw(self) -> go.Figure:
        film = self.session.film
        return film.picture(self.layer.value, self.head.value, looks=film.looks[-1:])

    def still(self) -> go.Figure:
        """The film of this training or, as long as there is none, of the one that was recorded before."""
        film = self.session.film if self.session.film.steps or self.recorded is None else self.recorded
        every = -(-len(film.looks) // MOST_FRAMES)
        return film.picture(self.layer.value, self.head.value, looks=film.looks[:-1:every] + film.looks[-1:])

    def refresh(self, change: Any = None) -> None:
        """Draw what has come since, and say where the training stands."""
        super().refresh()
        self.show_state()

    def show_state(self, change: Any = None) -> None:
        """Buttons, bar and sentence for the present state."""
        state = self.session.state
        for name, button in self.buttons.items():
            button.disabled = name not in BUTTONS[state]
        self.buttons["start"].description = "Start" if state == "ready" else "Start anew"
        for slider in (self.rate, self.steps):
            slider.disabled = self.session.busy
        self.bar.value = self.session.progress
        self.line.say(self.remark())

    def remark(self) -> str:
        return self.session.describe(self.steps.value)


def training(
    model: GPT,
    tok: Tokenizer,
    data: Corpus,
    steps: int,
    *,
    prompt: str = "",
    learning_rate: float | int = 3e-3,
    look_every: int = 25,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    film: Film | None = None,
) -> Learning:
    """Train a copy of `model` on `data` (`gptlab.corpus`), when its Start is pressed, and show how it learns.

    Before that the app says how long it will take and how much memory. Every `look_every` steps it validates, lets the
    model write on behind `prompt` and shows what a chosen head looks at there. Pause and Resume hold the training; Stop
    keeps it in a checkpoint from which Resume goes on, taking the very steps that it would have taken. `checkpoint` is
    its path, for work that is to outlive the kernel; else it lies in a temporary folder. One training runs at a time:
    starting another stops it. `film` is what a page without a kernel shows, a training recorded in a cell.

    The app's `model` is the one that learns. Raises ValueError for what `gptlab.train` and `Film` refuse.
    """
    check_whole("steps", steps, at_least=1)
    if not 0 < learning_rate < math.inf:
        raise refuse("learning_rate", learning_rate, "a finite number above 0")
    session = Session(model, tok, data, prompt=prompt, look_every=look_every, seed=seed, checkpoint=checkpoint)
    return Learning(session, steps, float(learning_rate), film)
