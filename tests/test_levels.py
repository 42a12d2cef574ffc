"""Lines of equal height: on them the ground has that height."""

import numpy as np

from gptlab.figures._levels import level_lines


def test_level_lines_are_where_the_ground_has_one_height():
    side = np.linspace(-2, 2, 81)
    x, y = level_lines(side**2 + side[:, None] ** 2, 2)
    there = np.isfinite(x)
    heights = x[there] ** 2 + y[there] ** 2
    expected = 8 * (np.arange(1, 12) / 12) ** 2
    assert np.abs(heights[:, None] - expected).min(1).max() < 0.01
    assert {int(np.abs(height - expected).argmin()) for height in heights} == set(range(11))
    assert (~there[2::3]).all() and there[0::3].all() and there[1::3].all()  # pieces of two ends


def test_rows_of_the_ground_go_up_and_columns_to_the_right():
    x, y = level_lines(np.arange(5.0) + np.zeros((4, 1)), 1)
    assert np.ptp(x[:2]) < 1e-6 and np.nanmin(y) == -1 and np.nanmax(y) == 1
