"""How many parameters a GPT has, part by part: published models, and any sizes one sets. Nothing is allocated."""

from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab.apps._frame import FigureApp, control
from gptlab.config import PRESETS, GPTConfig
from gptlab.figures.counts import parameter_bars

NAMES = {
    "gpt1": "GPT-1",
    "gpt2": "GPT-2",
    "gpt2-medium": "GPT-2 medium",
    "gpt2-large": "GPT-2 large",
    "gpt2-xl": "GPT-2 XL",
    "gpt3": "GPT-3",
}
OWN = "own sizes"
BYTES = 2  # a number in 16 bits
# What the sliders offer besides the presets' sizes.
SIZES = {
    "vocab_size": (256, 2_000, 10_000, 100_000, 200_000),
    "context_length": (128, 256, 4_096, 8_192, 32_768),
    "n_heads": (1, 2, 4, 8, 32, 64),
    "d_model": (64, 128, 256, 512, 2_048, 4_096, 8_192),
}
LABELS = {"vocab_size": "vocabulary", "context_length": "context", "n_heads": "heads", "d_model": "width"}


class Counter(FigureApp):
    """A slider over published models, and a control for each size that one may change."""

    def __init__(self, preset: str) -> None:
        self._base = GPTConfig.preset(preset)
        self._setting = False  # while a preset moves the controls, none of them draws
        # A slider, not a menu: in a menu the arrow keys would be JupyterLab's, which goes to another cell.
        self.model = control(widgets.SelectionSlider, "model", options=[*NAMES.values(), OWN], value=NAMES[preset])
        self.sizes = {"n_layers": control(widgets.IntSlider, "layers", min=1, max=128, value=self._base.n_layers)}
        for name, more in SIZES.items():
            options = sorted({*more, *(sizes[name] for sizes in PRESETS.values())})
            options = [(f"{size:,}", size) for size in options]
            value = getattr(self._base, name)
            self.sizes[name] = control(widgets.SelectionSlider, LABELS[name], options=options, value=value)
        self.sizes["bias"] = control(widgets.Checkbox, "biases", value=self._base.bias, indent=False)
        self.sizes["tie_weights"] = control(widgets.Checkbox, "tied", value=self._base.tie_weights, indent=False)
        # In two columns, so that the picture is in sight while a slider is moved.
        left = ["n_layers", "d_model", "n_heads"]
        right = [size for name, size in self.sizes.items() if name not in left]
        columns = [[self.model, *(self.sizes[name] for name in left)], right]
        columns = [widgets.VBox(column, layout={"flex": "1 1 320px"}) for column in columns]
        super().__init__(widgets.HBox(columns, layout={"flex_flow": "row wrap"}))
        self.model.observe(self.take_preset, "value")
        for size in self.sizes.values():
            size.observe(self.resize, "value")
        self.line.say(self.remark())

    @property
    def config(self) -> GPTConfig:
        """What the controls say; norm and activation are those of the model chosen last."""
        return replace(self._base, d_ff=None, **{name: size.value for name, size in self.sizes.items()})

    def take_preset(self, change: Any = None) -> None:
        """Move all controls to the model that the first one says: its handler."""
        if self._setting:
            return
        if self.model.value != OWN:
            (preset,) = [preset for preset, name in NAMES.items() if name == self.model.value]
            self._base, self._setting = GPTConfig.preset(preset), True
            for name, size in self.sizes.items():
                size.value = getattr(self._base, name)
            self._setting = False
        self.refresh()

    def resize(self, change: Any = None) -> None:
        """Count what the controls say: their handler."""
        if self._setting:
            return
        self._setting = True
        sizes = {name: size.value for name, size in self.sizes.items()}
        published = [GPTConfig.preset(preset) for preset in NAMES]
        same = [all(getattr(one, name) == size for name, size in sizes.items()) for one in published]
        self.model.value = [*NAMES.values()][same.index(True)] if any(same) else OWN
        self._setting = False
        self.refresh()

    def draw(self) -> go.Figure:
        # Sizes that make no model are refused here, and what was counted last stays on the page and in the still copy.
        self._count, self._shown = self.config.parameter_count(), self.model.value
        return parameter_bars(self._count, name=self._shown)

    def still(self) -> go.Figure:
        counts = {name: GPTConfig.preset(preset).parameter_count() for preset, name in NAMES.items()}
        own = {OWN: self._count} if self._shown == OWN else {}
        return parameter_bars(own | counts, name=self._shown)

    def remark(self) -> str:
        config = self.config
        weigh = config.parameter_count()["total"] * BYTES / 1e9
        return f"In 16 bits a number: {weigh:,.2f} GB. Each of the {config.n_heads} heads is {config.d_head} wide."


def parameter_counter(preset: str = "gpt2") -> FigureApp:
    """Where the parameters of a GPT are, for "gpt1", "gpt2", … "gpt3" and for sizes of one's own."""
    return Counter(preset)
