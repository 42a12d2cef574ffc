"""A window that slides over a picture: what it sees, what its kernel makes of that, and the output so far.

Axes: H rows (downwards, the first on top) and W columns of the picture, K rows and columns of the window.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from gptlab._refuse import refuse
from gptlab.figures._canvas import MASKED, ORANGE, SKY, area, as_array, canvas, escaped, px, slider
from gptlab.figures._panels import GREYS, PAGE_PX, SIGNED, cell_axes, fits, panel_title, written_numbers

GAP = "\u2002"  # Plotly names as many places below a slider as fit; so they keep apart
PADDINGS = ("valid", "same", "full")
# The trace that shows the whole input, its outline, the window; then the output's cover and the place in it.
INPUT, OUTLINE, WINDOW, COVER, PLACE, KERNEL, PARTS, OUTPUT = range(8)
# Where the panels lie, across and upwards: the input, the kernel, below it what it makes of the window, the output.
PANELS = [([0, 0.41], [0, 0.93]), ([0.46, 0.63], [0.55, 0.93]), ([0.46, 0.63], [0, 0.38]), ([0.68, 1], [0, 0.93])]


class Slide(NamedTuple):
    """A window at every place, in the order of reading; (N,) places."""

    padded: np.ndarray  # (H',W')  what it slides over; NaN around a picture of which maxima are taken
    kernel: np.ndarray  # (K,K)    NaN for maxima
    parts: np.ndarray  # (N,K,K)   window × kernel, or the window itself for maxima
    output: np.ndarray  # (H",W")  their sums, or their maxima

    @property
    def takes_maxima(self) -> bool:
        return bool(np.isnan(self.kernel).all())


def padding_of(padding: str, size: int) -> tuple[int, int]:
    """Cells added before and after a picture under a window of `size`."""
    return {"valid": (0, 0), "same": ((size - 1) // 2, size // 2), "full": (size - 1, size - 1)}[padding]


def slide(picture: np.ndarray, window: Any, padding: str, stride: int) -> Slide:
    """Move a window over a picture: a (K,K) kernel, or K for the maximum of K × K.

    Around the picture stand zeros, and nothing for maxima.
    """
    largest = np.ndim(window) == 0
    kernel = np.full((window, window), np.nan) if largest else as_array(window, float)
    size = len(kernel)
    padded = np.pad(picture, padding_of(padding, size), constant_values=np.nan if largest else 0.0)
    seen = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape)[::stride, ::stride]
    parts = (seen if largest else seen * kernel).reshape(-1, size, size)
    output = np.nanmax(parts, (1, 2)) if largest else parts.sum((1, 2))
    return Slide(padded, kernel, parts, output.reshape(seen.shape[:2]))


def sliding_window(
    picture: Any,
    windows: Mapping[str, Any],
    *,
    shown: str | None = None,
    padding: str = "valid",
    stride: int = 1,
    step: int = 0,
    slides: bool = True,
) -> go.Figure:
    """Draw a window at one of its places over a small picture, and the output up to there.

    picture: (H,W) numbers. windows: name → a kernel (K,K), whose products with the window are added up (the kernel is
    not turned around: cross-correlation), or a whole number K for the maximum of K × K; several must be alike in size
    and kind. shown: which of them, the first if None. padding: "valid", none; "same", an output as large as the
    picture at stride 1; "full", every place that touches it. step: the place, from 0, in the order of reading.
    slides: whether sliders that work in the browser alone choose the place and, of several windows, one.
    ValueError, naming it, for what does not fit.
    """
    picture = as_array(picture, float)
    shown = next(iter(windows), None) if shown is None else shown
    _check(picture, windows, shown, padding, stride)
    every = {name: slide(picture, window, padding, stride) for name, window in windows.items()}
    now = every[shown]
    if not 0 <= step < now.output.size:
        raise refuse("step", step, f"a place from 0 to {now.output.size - 1}")
    before, _ = padding_of(padding, len(now.kernel))
    traces = [
        _cells(now.padded, 1),
        _line(SKY, "dash", 1),
        _line(ORANGE, "solid", 1),
        _cover(),
        _line(ORANGE, "solid", 4),
    ]
    if padding != "valid":
        traces[OUTLINE].update(_box(before, before, *picture.shape))
    for name, one in every.items():
        signed = not one.takes_maxima
        panels = [_cells(one.kernel, 2, signed=True), _cells(one.parts[step], 3, ends=one.parts, signed=signed)]
        traces += [trace.update(visible=name == shown) for trace in (*panels, _cells(one.output, 4))]
    moved = _moved(every, step, stride)
    for place, trace in enumerate(moved["traces"]):
        traces[trace].update({key: moved[key][place] for key in "xyz" if moved[key][place] is not None})
    shapes = [now.padded.shape, now.kernel.shape, now.kernel.shape, now.output.shape]
    axes = {}
    for number, (shape, domains) in enumerate(zip(shapes, PANELS, strict=True), start=1):
        axes |= cell_axes(number, shape, *domains)
    for axis in ("xaxis2", "yaxis2"):  # a maximum has no kernel
        axes[axis]["visible"] = not now.takes_maxima
    sliders = _sliders(every, shown, step, stride) if slides else []
    return canvas(
        traces,
        description=_description(shown, now, picture.shape, padding, stride, step),
        height=430 + 90 * len(sliders),
        annotations=_titles(now, picture.shape),
        sliders=sliders,
        showlegend=False,
        **axes,
    )


def _check(picture: np.ndarray, windows: Mapping[str, Any], shown: str | None, padding: str, stride: int) -> None:
    if picture.ndim != 2 or 0 in picture.shape or not np.isfinite(picture).all():
        raise refuse("picture", picture.shape, "rows and columns of finite numbers")
    if shown not in windows:
        raise refuse("shown", shown, f"one of {', '.join(windows) or 'the windows; there is none'}")
    if padding not in PADDINGS:
        raise refuse("padding", padding, "'valid', 'same' or 'full'")
    if isinstance(stride, bool) or not isinstance(stride, int) or stride < 1:
        raise refuse("stride", stride, "a whole number of at least 1")
    kinds = {name: kind_of(name, window) for name, window in windows.items()}
    if len(set(kinds.values())) > 1:
        raise refuse(
            "the sizes of the windows", [size for _, size in kinds.values()], "one, and no kernels among maxima"
        )
    size = kinds[shown][1]
    if min(picture.shape) + sum(padding_of(padding, size)) < size:
        raise refuse("the size of the window", size, f"at most {min(picture.shape)}, as the picture without padding")


def kind_of(name: str, window: Any) -> tuple[str, int]:
    """Whether it takes sums or maxima, and its size."""
    if isinstance(window, int) and not isinstance(window, bool) and window >= 1:
        return "maximum", window
    kernel = as_array(window)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1] or not kernel.size or not np.isfinite(kernel).all():
        raise refuse(
            f"the window {name!r}", window, "a square kernel of finite numbers, or a whole number for a maximum"
        )
    return "sum", len(kernel)


def _cells(values: np.ndarray, panel: int, *, ends: np.ndarray | None = None, signed: bool = False) -> go.Heatmap:
    """A panel of numbers, coloured from the lowest to the highest of `ends`, and written where there is room."""
    ends = values if ends is None else ends
    finite = ends[np.isfinite(ends)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if signed:
        high = max(abs(low), abs(high))
        low = -high
    (left, right), _ = PANELS[panel - 1]
    cell = PAGE_PX * (right - left) / values.shape[1]
    return go.Heatmap(
        z=_listed(values),
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        zmin=low,
        zmax=high if high > low else low + 1,
        colorscale=SIGNED if signed else GREYS,
        showscale=False,
        hoverongaps=False,
        hovertemplate="row %{y}, column %{x}: %{z:.3~g}<extra></extra>",
        xgap=1,
        ygap=1,
        **(written_numbers() if fits(ends, cell) else {}),
    )


def _listed(values: np.ndarray) -> list[list[float | None]]:
    """In lists: slides hold them in writing, and a live figure sends them so; there NaN is no JSON."""
    return [[float(f"{number:.6g}") if np.isfinite(number) else None for number in row] for row in values]


def _line(colour: str, dash: str, panel: int) -> go.Scatter:
    line = {"color": colour, "dash": dash, "width": 4}
    return go.Scatter(x=[], y=[], xaxis=f"x{panel}", yaxis=f"y{panel}", mode="lines", line=line, hoverinfo="skip")


def _cover() -> go.Scatter:
    """A hatched sheet over that part of the output which is still to come."""
    hatched = {"shape": "/", "fgcolor": "#989898", "bgcolor": MASKED, "size": px(8), "solidity": 0.2}
    return area([], [], MASKED, xaxis="x4", yaxis="y4", fillpattern=hatched)


def _box(row: int, column: int, n_rows: int, n_columns: int) -> dict[str, list[float]]:
    top, left = row - 0.5, column - 0.5
    bottom, right = top + n_rows, left + n_columns
    return {"x": [left, right, right, left, left], "y": [top, top, bottom, bottom, top]}


def _moved(every: Mapping[str, Slide], step: int, stride: int) -> dict[str, list]:
    """What changes from place to place: x, y and z of some traces."""
    first = next(iter(every.values()))
    (n_rows, n_columns), size = first.output.shape, len(first.kernel)
    row, column = divmod(step, n_columns)
    right, bottom = n_columns - 0.5, n_rows - 0.5
    cover = {
        "x": [column + 0.5, right, right, -0.5, -0.5, column + 0.5],
        "y": [row - 0.5, row - 0.5, bottom, bottom, row + 0.5, row + 0.5],
    }
    boxes = [_box(row * stride, column * stride, size, size), cover, _box(row, column, 1, 1)]
    n = len(every)
    return {
        "traces": [WINDOW, COVER, PLACE, *(PARTS + 3 * number for number in range(n))],
        # A slider has one list for all traces, so the cells are told their places again.
        "x": [box["x"] for box in boxes] + [list(range(size))] * n,
        "y": [box["y"] for box in boxes] + [list(range(size))] * n,
        "z": [None] * 3 + [_listed(one.parts[step]) for one in every.values()],
    }


def _sliders(every: Mapping[str, Slide], shown: str, step: int, stride: int) -> list[dict[str, Any]]:
    steps, n_columns = [], every[shown].output.shape[1]
    for place in range(every[shown].output.size):
        moved = _moved(every, place, stride)
        row, column = divmod(place, n_columns)
        steps.append((f"{GAP}{row}, {column}{GAP}", [{key: moved[key] for key in "xyz"}, moved["traces"]]))
    inset = {"x": 0.04, "len": 0.92}  # room for the names at its ends
    sliders = [slider("output at row, column:", steps, step, top=20) | inset]
    if len(every) > 1:
        panels = list(range(KERNEL, KERNEL + 3 * len(every)))
        chosen = [
            (escaped(name), [{"visible": [name == other for other in every for _ in range(3)]}, panels])
            for name in every
        ]
        sliders.append(slider("filter:", chosen, list(every).index(shown), top=110) | inset)
    return sliders


def _titles(now: Slide, shape: tuple[int, ...]) -> list[dict[str, Any]]:
    padded, size, output = (" × ".join(map(str, one)) for one in (now.padded.shape, now.kernel.shape, now.output.shape))
    picture = " × ".join(map(str, shape)) if shape == now.padded.shape else f"padded to {padded}"
    texts = [f"picture, {picture}", f"kernel, {size}", "window × kernel", f"output, {output}"]
    if now.takes_maxima:
        texts[1:3] = ["", f"the window, {size}"]
    return [panel_title(text, sum(x) / 2, y[1]) for text, (x, y) in zip(texts, PANELS, strict=True)]


def _description(name: str, now: Slide, shape: tuple[int, ...], padding: str, stride: int, step: int) -> str:
    row, column = divmod(step, now.output.shape[1])
    sizes = [" × ".join(map(str, one)) for one in (now.kernel.shape, shape, now.output.shape)]
    how = "the maximum" if now.takes_maxima else "the sum of the products"
    return (
        f"‘{name}’ of {sizes[0]} slides over a picture of {sizes[1]}, padding {padding}, stride {stride}: "
        f"output of {sizes[2]} from {now.output.min():.2f} to {now.output.max():.2f}; at row {row}, column {column} "
        f"{how} is {now.output[row, column]:.2f}."
    )
