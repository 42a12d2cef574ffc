"""How a live figure comes on the page: Plotly once for all of them, complete from the start, as wide as its place.

Plotly's own widget brings 5 MB of code with each figure, announces itself empty and sends the picture afterwards, and
draws before it knows how wide it may be. A page that is slow then shows empty axes, or gives up after two seconds.
After each change it also reports to the kernel every default that it filled in; nobody here asks for them, and until
they are dealt with the next move of a slider waits, twice as long as the picture takes. And what changes between the
announcement and the first drawing passes it by: so a page that has drawn a figure says so, and is told what it missed.
"""

from copy import deepcopy
from typing import Any

import anywidget
import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import traitlets

from gptlab.figures._canvas import CONFIG

# The first figure makes the library's text into a module, the others wait for it. Nothing is drawn off the page.
_FIGURE = """
function plotly(model) {
  globalThis.gptlabPlotly ??= (async () => {
    const library = await model.widget_manager.get_model(model.get("_library").replace("IPY_MODEL_", ""));
    const url = URL.createObjectURL(new Blob([library.get("code")], { type: "text/javascript" }));
    return import(url).finally(() => URL.revokeObjectURL(url));
  })();
  return globalThis.gptlabPlotly;
}

const defaults = ["_js2py_traceDeltas", "_js2py_layoutDelta", "_js2py_widget_layoutDelta"];

function withoutReports(model) {
  const set = (name, value) => { if (!defaults.includes(name)) model.set(name, value); };
  return new Proxy(model, {
    get: (_, name) => name === "set" ? set : typeof model[name] === "function" ? model[name].bind(model) : model[name],
  });
}

function width(el, seen) {
  let before = 0;
  const observer = new ResizeObserver(() => {
    if (el.clientWidth && el.clientWidth !== before) seen((before = el.clientWidth));
  });
  observer.observe(el);
  return () => observer.disconnect();
}

export default {
  async render({ model, el }) {
    const onThePage = new Promise(resolve => { const stop = width(el, () => { stop(); resolve(); }); });
    const [{ default: figure }] = await Promise.all([plotly(model), onThePage]);
    const { initialize, render } = figure();
    initialize({ model: withoutReports(model) });
    const remove = render({ el });
    const stop = width(el, () => window.dispatchEvent(new Event("resize")));
    model.send("drawn");
    return () => { stop(); remove(); };
  },
};
"""


class Library(anywidget.AnyWidget):
    """Plotly's code, sent once and held for all figures of a kernel; itself it shows nothing."""

    _esm = "export default {};"
    code = traitlets.Unicode().tag(sync=True)


class Canvas(go.FigureWidget):
    """A Plotly figure on the page."""

    _esm = _FIGURE
    _library = traitlets.Instance(Library).tag(sync=True, **widgets.widget_serialization)

    def __init__(self, figure: go.Figure) -> None:
        self._complete = False
        super().__init__(figure)
        self._library = the_library()
        self._config = self._config | CONFIG
        self._complete = True
        self.on_msg(self._hear)
        self.open()

    def open(self) -> None:
        """Announce the figure to the page, once there is something to announce."""
        if self._complete:
            super().open()

    def bring_up_to_date(self) -> None:
        """What was changed in place since then goes to the views that are made from now on, too."""
        of_traces, of_layout = self._since_announced()
        if any(of_traces):
            self._widget_data = deepcopy(self._data)
        if of_layout:
            self._widget_layout = deepcopy(self._layout)

    def _hear(self, widget: widgets.Widget, content: object, buffers: list[bytes]) -> None:
        """Tell a page that has just drawn the figure as it was announced what has changed since."""
        if content != "drawn":
            return
        of_traces, of_layout = self._since_announced()
        for index, changed in enumerate(of_traces):
            if changed:
                self._send_restyle_msg({name: [value] for name, value in changed.items()}, index)
        if of_layout:
            self._send_relayout_msg(of_layout)

    def _since_announced(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What has changed of each trace, and of the layout."""
        of_traces = [changes(*pair) for pair in zip(self._widget_data, self._data, strict=True)]
        return of_traces, changes(self._widget_layout, self._layout)


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What of a trace or layout has another value after, or none (None) any more."""
    return {key: after.get(key) for key in {**before, **after} if not _same(before.get(key), after.get(key))}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return one == other


_libraries: list[Library] = []


def the_library() -> Library:
    """The one that there is, or a new one if it was closed with all widgets."""
    if not _libraries or _libraries[-1].comm is None:
        _libraries[:] = [Library(code=str(go.FigureWidget._esm))]
    return _libraries[-1]
