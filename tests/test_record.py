"""The recorded curve of the shipped model: complete, and in agreement with what its file says of the result."""

import numpy as np
import pytest

from gptlab.record import recorded_curve


def test_the_curve_runs_from_the_untrained_model_down_to_the_floor():
    curve = recorded_curve("small-world")
    assert (np.diff(curve.steps) > 0).all() and (np.diff(curve.tokens) > 0).all() and (np.diff(curve.seconds) > 0).all()
    assert len({len(column) for column in curve}) == 1
    assert curve.loss[0] > 5 > curve.loss[-1] > curve.floor[-1] - 0.05
    assert np.isfinite(curve.val_loss[-1])
    assert np.nanargmin(curve.val_loss - curve.floor) > len(curve.steps) // 2


def test_a_name_without_a_curve_is_refused():
    with pytest.raises(ValueError, match="'gpt5'.*'small-world'"):
        recorded_curve("gpt5")
