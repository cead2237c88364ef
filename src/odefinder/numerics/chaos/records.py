"""Records of chaotic motion: on an even grid, their time scale, and delay embedding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.errors import DataError

Floats = NDArray[np.float64]

MOST_POINTS = 100_000  # of an even grid: very uneven times would ask for more


def even_grid(t: ArrayLike, states: ArrayLike, step: float | None = None) -> tuple[float, Floats]:
    """The record (N, D) at times that are one step apart, interpolated; the median step if none is given.

    Rows with missing values are left out.  Nothing is changed where the times are even already.
    """
    times, x = np.asarray(t, np.float64), np.asarray(states, np.float64)
    if x.ndim != 2 or times.shape != x.shape[:1]:
        raise DataError(f"give times (N,) and states (N, D), not {times.shape} and {x.shape}")
    known = np.isfinite(x).all(axis=1)
    times, x = times[known], x[known]
    if len(times) < 3:
        raise DataError("give at least three points without missing values")
    gaps = np.diff(times)
    width = float(np.median(gaps)) if step is None else step
    if np.abs(gaps - width).max() <= 1e-6 * width:
        return width, x
    grid = np.arange(times[0], times[-1] + 1e-9 * width, max(width, np.ptp(times) / MOST_POINTS))
    return width, np.stack([np.interp(grid, times, column) for column in x.T], axis=1)


def mean_period(t: ArrayLike, states: ArrayLike) -> float:
    """The time scale of a record (N, D): six times the lag at which its autocorrelation is one half.

    For a harmonic oscillation that is the period.  White noise adds to lag 0 only, so the values at small
    lags are compared with lag 1.  Variables are averaged geometrically: neither a slow nor a fast one rules.
    """
    step, x = even_grid(t, states)
    lags = [_half_lag(column - column.mean()) for column in x.T if np.ptp(column) > 0.0]
    if not lags:
        raise DataError("nothing changes in this record, so it has no period")
    return float(6.0 * step * np.exp(np.mean(np.log(lags))))


def _half_lag(x: Floats) -> float:
    """The first lag, in steps, at which the autocorrelation falls to one half."""
    n = len(x)
    power = np.abs(np.fft.rfft(x, 2 * n)) ** 2
    covariance = np.fft.irfft(power)[: max(3, n // 2)] / np.arange(n, n - max(3, n // 2), -1)
    top = covariance[1] if covariance[1] > 0.5 * covariance[0] else covariance[0]
    share = np.concatenate([[1.0], covariance[1:] / top])
    below = np.flatnonzero(share <= 0.5)
    if len(below) == 0:
        return float(len(share))
    k = int(below[0])
    return float(k - 1 + (share[k - 1] - 0.5) / (share[k - 1] - share[k]))


def delay_embedded(states: Floats, delays: int, lag: int) -> Floats:
    """(N, D) -> (N - delays * lag, (1 + delays) * D): a state and those `lag`, 2 `lag`, ... steps later."""
    if delays < 0 or lag < 1:
        raise DataError(f"delays is 0 or more and lag 1 or more, got {delays} and {lag}")
    points = len(states) - delays * lag
    if points < 1:
        raise DataError(f"{len(states)} points are too few for {delays} delays of {lag} steps")
    return np.concatenate([states[k * lag : k * lag + points] for k in range(delays + 1)], axis=1)
