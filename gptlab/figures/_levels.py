"""Lines of equal height on a ground.

Axes: R × C heights (upwards, to the right).
"""

import numpy as np

from gptlab.figures._canvas import Number

N_LEVELS = 12


def level_lines(heights: np.ndarray, reach: Number) -> tuple[np.ndarray, np.ndarray]:
    """Where heights (R,C) over the square from -reach to reach have one of some values: pieces of line, x and y.

    The values are closer the lower they are, so that a bowl is not empty in the middle. Each cell of the grid is cut
    into two triangles, and a level crosses none or two sides of a triangle.
    """
    y, x = (np.linspace(-reach, reach, n) for n in heights.shape)
    corners = np.stack([*np.meshgrid(x, y), heights], -1)
    low, right, up, far = corners[:-1, :-1], corners[:-1, 1:], corners[1:, :-1], corners[1:, 1:]
    halves = ((low, right, up), (far, right, up))
    starts = np.concatenate([np.stack(half, -2).reshape(-1, 3, 3) for half in halves])
    ends = np.roll(starts, -1, axis=1)
    pieces = []
    for share in np.arange(1, N_LEVELS) / N_LEVELS:
        level = heights.min() + share**2 * (heights.max() - heights.min())
        crossed = (starts[..., 2] > level) != (ends[..., 2] > level)
        start, end = starts[crossed], ends[crossed]
        way = (level - start[:, 2]) / (end[:, 2] - start[:, 2])
        met = start[:, :2] + way[:, None] * (end - start)[:, :2]
        pieces.append(np.pad(met.reshape(-1, 2, 2), ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2))
    x, y = np.concatenate(pieces).T.astype(np.float32)
    return x, y
