"""The texts that a beam search considers, as a tree that grows to the right: a column a step.

In each column the continuations stand by rank, the likeliest on top. Axes: D steps, V vocabulary.
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import BLUE, INK, VERMILION, canvas, columns, escaped, px, slider, token_labels

PROMPT = "prompt"
KEPT, DROPPED, BEST = "kept", "dropped", "likeliest text so far"
# For every step a trace of lines to the tokens and one of the tokens, in this order: what matters is drawn last.
PARTS = ((DROPPED, "lines"), (DROPPED, "tokens"), (KEPT, "lines"), (KEPT, "tokens"), (BEST, "lines"), (BEST, "tokens"))
BEFORE = 4  # traces that stand before those: the prompt, and an entry of each kind in the legend
LINE = {
    DROPPED: {"color": INK, "width": 1, "dash": "dot"},
    KEPT: {"color": BLUE, "width": 2},
    BEST: {"color": VERMILION, "width": 4},
}
SIZE = {DROPPED: 8, KEPT: 11, BEST: 11}
TEXT = "%{text}<br>%{customdata[0]:.2f}"
HOVER = "‘%{text}’ %{customdata[1]:.1%}<br>log-probability of the text %{customdata[0]:.3f}<br>%{customdata[2]}"
MOST_ROWS = 9
LONGEST_TOKEN = 10
ROW_PX = 48
CHARACTER_PX, PAGE_PX = 9, 960  # about: how wide a letter is, and a picture


def beam_tree(
    trees: Any,
    labels: Any,
    *,
    width: int | None = None,
    shown: int | None = None,
    n_steps: int | None = None,
) -> go.Figure:
    """Draw the nodes of a `BeamTree`: each continuation with its log-probability, where it comes from, and its fate.

    trees: the nodes of one search; or a dict from width to nodes, which gets a slider for the width and one for the
    steps, both working in the browser alone, and begins at `width`. labels: V labels or pieces, or a dict of
    those that occur. shown: how many steps are drawn, all if None. n_steps: for how many there is room, as many as the
    searches took if None. Of one step at most the 9 likeliest continuations are drawn.

    ValueError, naming it, for no search, for a width that was not searched, and for steps that there are not.
    """
    searches = {key: list(nodes) for key, nodes in trees.items()} if isinstance(trees, Mapping) else {None: list(trees)}
    if not searches or not all(searches.values()):
        raise refuse("the number of nodes", 0, "at least 1: grow the tree by a search first")
    taken = max(node.depth for nodes in searches.values() for node in nodes)
    n_steps = taken if n_steps is None else n_steps
    shown = n_steps if shown is None else shown
    width = next(iter(searches)) if width is None else width
    if n_steps < taken:
        raise refuse("n_steps", n_steps, f"at least {taken}, the steps that were taken")
    if not 1 <= shown <= n_steps:
        raise refuse("shown", shown, f"a number of steps from 1 to {n_steps}")
    if isinstance(trees, Mapping) and width not in searches:
        raise refuse("width", width, f"one of {', '.join(map(str, searches))}")

    drawn = {key: _Drawing(nodes, labels, n_steps) for key, nodes in searches.items()}
    here = drawn[width if isinstance(trees, Mapping) else None]
    traces = [_trace(key, part, shown) for key, part in here.parts.items()]
    sliders = _sliders(drawn, width, shown, n_steps) if isinstance(trees, Mapping) else []
    n_rows = max(drawing.n_rows for drawing in drawn.values())
    steps = list(range(1, n_steps + 1))
    return canvas(
        [_root(), *map(_legend, LINE), *traces],
        description=here.description(width if isinstance(trees, Mapping) else None, shown),
        height=ROW_PX * n_rows + 110 + 90 * len(sliders),
        xaxis={"range": [-0.1, n_steps + 0.9], "tickvals": steps, "showgrid": False, "zeroline": False}
        | {"title": {"text": "step"}},
        yaxis={"range": [n_rows - 0.4, -0.6], "visible": False},
        sliders=sliders,
        showlegend=True,
    )


class _Drawing:
    """Where the nodes of one search stand and how they are joined: `parts` holds what each trace shows."""

    def __init__(self, nodes: Sequence[Any], labels: Any, n_steps: int) -> None:
        self.nodes, self.n_steps = nodes, n_steps
        self.texts = [token_labels([labels[node.token]])[0] for node in nodes]
        self.rows, in_column = [], [0] * (n_steps + 1)
        for node in nodes:
            self.rows.append(in_column[node.depth])
            in_column[node.depth] += 1
        self.n_rows = min(MOST_ROWS, max(in_column))
        longest = max(map(len, [PROMPT, *map(_short, self.texts)]))
        # How much of the way to the next column the token's own text takes: there the lines to its children begin.
        self.text_end = min(0.8, (CHARACTER_PX * longest + 16) * (n_steps + 1) / columns(PAGE_PX))
        self.in_column = in_column
        self.parts = {
            (step, kind, what): self._lines(chosen) if what == "lines" else self._tokens(chosen, kind)
            for step in range(1, n_steps + 1)
            for kind, what in PARTS
            for chosen in [self._chosen(step, kind)]
        }

    def best(self, step: int) -> list[int]:
        """The likeliest text after that many steps, ended or not, as its nodes from the first to the last."""
        last = [
            index
            for index, node in enumerate(self.nodes)
            if node.kept and (node.depth == step or (node.ended and node.depth < step))
        ]
        index = max(last, key=lambda index: self.nodes[index].log_prob, default=None)
        path = []
        while index is not None:
            path.append(index)
            index = self.nodes[index].parent
        return path[::-1]

    def _chosen(self, step: int, kind: str) -> list[int]:
        """The nodes of that kind which a step shows and there is a row for."""
        if kind == BEST:
            chosen = self.best(step)
        else:
            kept = kind == KEPT
            chosen = [index for index, node in enumerate(self.nodes) if node.depth == step and node.kept == kept]
        return [index for index in chosen if self.rows[index] < MOST_ROWS]

    def _lines(self, chosen: Sequence[int]) -> dict[str, list]:
        """From the end of the parent's text to the child."""
        part = {"x": [], "y": []}
        for index in chosen:
            node = self.nodes[index]
            part["x"] += [node.depth - 1 + self.text_end, node.depth, None]
            part["y"] += [0 if node.parent is None else self.rows[node.parent], self.rows[index], None]
        return part

    def _tokens(self, chosen: Sequence[int], kind: str) -> dict[str, list]:
        nodes = [self.nodes[index] for index in chosen]
        part = {
            "x": [node.depth for node in nodes],
            "y": [self.rows[index] for index in chosen],
            "marker.symbol": [("square" if node.ended else "circle") + "-open" * (not node.kept) for node in nodes],
        }
        if kind != BEST:  # which runs over what is written there already
            part["text"] = [escaped(_short(self.texts[index])) for index in chosen]
            part["customdata"] = [self._numbers(index) for index in chosen]
        return part

    def _numbers(self, index: int) -> list:
        """Log-probability of the text up to here, probability of its last token, rank and fate."""
        node = self.nodes[index]
        before = 0.0 if node.parent is None else self.nodes[node.parent].log_prob
        fate = (KEPT if node.kept else DROPPED) + (", ended" if node.ended else "")
        rank = f"rank {self.rows[index] + 1} of {self.in_column[node.depth]}: {fate}"
        return [node.log_prob, exp(node.log_prob - before), rank]

    def description(self, width: int | None, shown: int) -> str:
        said = "Beam search" + ("" if width is None else f" of width {width}")
        path = self.best(shown)
        if not path:
            return f"{said} after step {shown}: no text."
        text = "".join(self.texts[index] for index in path).replace("␣", " ")
        here = [node for node in self.nodes if node.depth == shown]
        kept = sum(node.kept for node in here)
        return (
            f"{said} after step {shown}: the likeliest text is ‘{text}’, log-probability "
            f"{self.nodes[path[-1]].log_prob:.2f}; {kept} of {len(here)} continuations kept."
        )


def _short(label: str) -> str:
    room = columns(LONGEST_TOKEN)
    return label if len(label) <= room else f"{label[: room - 1]}…"


def _root() -> go.Scatter:
    return go.Scatter(
        x=[0],
        y=[0],
        mode="markers+text",
        text=[PROMPT],
        textposition="middle right",
        marker={"color": VERMILION, "size": px(11)},
        textfont={"size": px(16)},
        hoverinfo="skip",
        showlegend=False,
    )


def _trace(key: tuple[int, str, str], part: dict[str, list], shown: int) -> go.Scatter:
    _, kind, what = key
    trace = {"x": part["x"], "y": part["y"], "legendgroup": kind, "showlegend": False, "hoverinfo": "skip"}
    trace["visible"] = _visible(key, shown)
    if what == "lines":
        return go.Scatter(trace, mode="lines", line=LINE[kind])
    marker = {"color": LINE[kind]["color"], "size": px(SIZE[kind]), "symbol": part["marker.symbol"]}
    if kind == BEST:
        return go.Scatter(trace, mode="markers", marker=marker)
    trace |= {"text": part["text"], "customdata": part["customdata"], "hoverinfo": None, "texttemplate": TEXT}
    trace |= {"textposition": "middle right", "textfont": {"size": px(16)}, "hovertemplate": f"{HOVER}<extra></extra>"}
    return go.Scatter(trace, mode="markers+text", marker=marker, cliponaxis=False)


def _legend(kind: str) -> go.Scatter:
    """An entry of its own, for of the steps' traces some are hidden or empty."""
    marker = {"color": LINE[kind]["color"], "size": px(SIZE[kind])}
    marker["symbol"] = "circle-open" if kind == DROPPED else "circle"
    return go.Scatter(
        x=[None], y=[None], mode="lines+markers", name=kind, legendgroup=kind, line=LINE[kind], marker=marker
    )


def _visible(key: tuple[int, str, str], shown: int) -> bool:
    step, kind, _ = key
    return step == shown if kind == BEST else step <= shown


def _sliders(drawn: Mapping[int, _Drawing], width: int, shown: int, n_steps: int) -> list[dict]:
    """Two sliders that know nothing of each other: the width's says where tokens stand, the steps' what is visible."""
    keys = list(next(iter(drawn.values())).parts)
    every = list(range(BEFORE, BEFORE + len(keys)))
    names = ("x", "y", "text", "customdata", "marker.symbol")
    widths = []
    for value, drawing in drawn.items():
        parts = [drawing.parts[key] for key in keys]
        widths.append((str(value), [{name: [part.get(name) for part in parts] for name in names}, every]))
    steps = [(str(n), [{"visible": [_visible(key, n) for key in keys]}, every]) for n in range(1, n_steps + 1)]
    return [slider("width", widths, list(drawn).index(width), top=60), slider("steps", steps, shown - 1, top=150)]
