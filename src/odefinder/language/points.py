"""Observed points as the network reads them, in training and in use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.limits.sizes import MAX_DIMENSION


def network_input(times: NDArray[np.float64], states: NDArray[np.float64]) -> NDArray[np.float32]:
    """Times (..., P) and states (..., P, D) as points (..., P, 1 + MAX_DIMENSION).

    NaN stands for a missing value, and for all values of a variable that does not exist.
    """
    points = np.full((*times.shape, 1 + MAX_DIMENSION), np.nan, np.float32)
    points[..., 0] = times
    points[..., 1 : 1 + states.shape[-1]] = states
    return points
