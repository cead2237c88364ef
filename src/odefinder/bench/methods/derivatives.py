"""Derivatives of observed trajectories by finite differences, as the paper's baselines take them.

The differences are exact for polynomials of degree `order` on any grid.  They are taken over a point and
`order` neighbours: equally many on both sides if the order is even, one more on the right if it is odd,
shifted inwards at the ends.  These are the stencils of pysindy's `FiniteDifference`.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import savgol_filter

from odefinder.bench.methods.method import Floats
from odefinder.errors import DataError

ORDERS = (2, 3, 4)  # the paper's search (appendix on baselines)
WINDOWS: tuple[int | None, ...] = (None, 15)
SMOOTHING_DEGREE = 3  # of the Savitzky-Golay polynomials: pysindy's default


def derivatives(t: Floats, x: Floats, order: int = 2, window: int | None = None) -> tuple[Floats, Floats]:
    """The states that were differentiated and their derivatives, both (N, D).

    window: points of a Savitzky-Golay filter that smooths the states first; None for no smoothing.  Like the
    paper's it counts points, not time, so it is right only on regular grids.  With fewer points than the
    window, it shrinks to the largest odd number of points, and the order to the highest they allow.
    """
    t, x = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
    check(t, x)
    states = x if window is None else _smoothed(x, window)
    return states, finite_differences(t, states, order)


def check(t: Floats, x: Floats) -> None:
    """Raise unless this is one complete trajectory with at least two points."""
    if x.ndim != 2 or t.shape != x.shape[:1] or len(t) < 2:
        raise DataError(f"two or more times (N,) and states (N, D) are needed, got {t.shape} and {x.shape}")
    if not (np.isfinite(t).all() and np.isfinite(x).all()):
        raise DataError("the trajectory has missing or infinite values; derivatives need complete data")
    if not (np.diff(t) > 0).all():
        raise DataError("the times must increase strictly; sort them and remove repeated ones")


def finite_differences(t: Floats, x: Floats, order: int) -> Floats:
    """The first derivatives (N, D) at all times of x (N, D)."""
    count = len(t)
    order = min(order, count - 1)
    first = np.clip(np.arange(count) - order // 2, 0, count - 1 - order)
    window = first[:, None] + np.arange(order + 1)  # (N, order + 1)
    offsets = t[window] - t[:, None]
    scale = np.abs(offsets).max(axis=1, keepdims=True)
    # Weights under which every power of the offset has its true derivative at 0: 1 for the first, else 0.
    powers = (offsets / scale)[:, None, :] ** np.arange(order + 1)[None, :, None]
    target = np.zeros((count, order + 1, 1))
    target[:, 1] = 1.0
    weights = np.linalg.solve(powers, target)[:, :, 0] / scale
    return np.einsum("np,npd->nd", weights, x[window])


def _smoothed(x: Floats, window: int) -> Floats:
    window = min(window, len(x) - (len(x) + 1) % 2)  # odd
    if window <= SMOOTHING_DEGREE + 1:
        return x
    return savgol_filter(x, window, SMOOTHING_DEGREE, axis=0)
