"""What every app is made of: controls, a line that speaks, a picture that is changed in place, and a still copy.

The still copy stands beside the live widget in the output. A page without a kernel shows it, sliders and all; its
alternative text is the output's text.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab.apps._page import Canvas, changes
from gptlab.figures import _canvas


class Line(widgets.HTML):
    """One sentence under the controls, or nothing. What it says is text, whatever it looks like."""

    def say(self, sentence: str) -> None:
        """Show the sentence in place of the last one."""
        self.value = f"{_style()}<div role='status'>{escape(sentence)}</div>"
        self.layout.display = None if sentence else "none"


class App(widgets.VBox):
    """Controls, a line that speaks, and what they are about; `still` is the picture for a page without a kernel."""

    def __init__(self, controls: Sequence[widgets.Widget], shown: widgets.Widget) -> None:
        self.line = Line()
        self.line.say("")
        super().__init__([*controls, self.line, shown])
        self.add_class("gptlab-app")

    def still(self) -> go.Figure:
        """The picture for a page without a kernel."""
        raise NotImplementedError

    def attempt(self, do: Callable[[], Any]) -> None:
        """Do it, and say in the app's own line what went wrong: an error in a handler is seen nowhere else."""
        try:
            do()
        except Exception as reason:
            self.line.say(f"This did not work: {reason}")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        still = self.still()
        return bundle(super()._repr_mimebundle_(**options), still, _canvas.description(still))


class FigureApp(App):
    """An app whose picture `draw` makes; a control's change is drawn into the figure that is there."""

    def __init__(self, *controls: widgets.Widget) -> None:
        self._drawn = self.draw()
        self.figure = Canvas(self._drawn)
        super().__init__(controls, self.figure)

    def draw(self) -> go.Figure:
        """The picture for what the controls say now."""
        raise NotImplementedError

    def still(self) -> go.Figure:
        """The same, where the picture has no control that would work in the browser alone."""
        return self.draw()

    def refresh(self, change: Any = None) -> None:
        """Show what the controls say now: a handler."""
        self.attempt(self._redraw)

    def change(self, trace: int, **properties: Any) -> None:
        """Change this of one trace and leave the rest, which is quicker than drawing anew; for what a slider moves."""
        with self.figure.batch_update():
            self.figure.data[trace].update(properties)
        self._drawn.data[trace].update(properties)
        self.line.say(self.remark())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        self.figure.bring_up_to_date()
        return super()._repr_mimebundle_(**options)

    def remark(self) -> str:
        """What the line says beside a picture that succeeded."""
        return ""

    def _redraw(self) -> None:
        drawn = self.draw()
        # Against what was drawn last, not against what is on the page: there somebody may have zoomed in.
        with self.figure.batch_update():
            for shown, before, after in zip(self.figure.data, self._drawn.data, drawn.data, strict=True):
                _change(shown, before, after)
            _change(self.figure.layout, self._drawn.layout, drawn.layout)
        self._drawn = drawn
        self.line.say(self.remark())


def bundle(live: dict[str, Any], still: go.Figure, description: str) -> dict[str, Any]:
    """A live widget's output with the still figure beside it, and words for both."""
    return live | _canvas.shown(still, description)


def control(kind: type[widgets.Widget], name: str, **options: Any) -> widgets.Widget:
    """A control whose name is written out, which it would otherwise cut after some eight letters."""
    layout = options.pop("layout", {"width": "100%", "max_width": "640px"})
    return kind(description=name, style={"description_width": "initial"}, layout=layout, **options)


def _change(shown: Any, before: Any, after: Any) -> None:
    for key, value in changes(before.to_plotly_json(), after.to_plotly_json()).items():
        shown[key] = value


def _style() -> str:
    """Text of controls as large as that of figures; their own is 13 px."""
    size, height = _canvas.px(_canvas.TEXT_PX), _canvas.px(32)
    return (
        f"<style>.gptlab-app {{ --jp-widgets-font-size: {size}px; --jp-widgets-inline-height: {height}px; "
        "width: 100%; }</style>"
    )
