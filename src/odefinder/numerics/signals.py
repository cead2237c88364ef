"""Known signals that drive a system, as the integrator reads them.

Every signal is piecewise linear between knots and may jump at them: `before` is its value just before a
knot, `after` the one just after it.  Linear interpolation has equal ones; a held value repeats `after` in the
next `before`.  Outside of the knots the first and the last value hold.  Doses are jumps of states at knots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.compiling.jit import compiled

Floats = NDArray[np.float64]


class Signals(NamedTuple):
    """The inputs of one trajectory: K knots, I signals, D states.  None of them: K = I = 0."""

    knots: Floats  # (K,), strictly increasing
    before: Floats  # (K, I)
    after: Floats  # (K, I)
    doses: Floats  # (K, D), added to the states just after a knot; (K, 0) where there are none


NO_SIGNALS = Signals(np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))


@compiled
def signal_at(signals: Signals, number: int, time: float) -> float:
    """The value of one signal; at a jump the one after it."""
    knots = signals.knots
    k = np.searchsorted(knots, time, side="right")  # the first knot after that time
    if k == 0:
        return float(signals.before[0, number])
    value = float(signals.after[k - 1, number])
    if k == len(knots):
        return value
    share = (time - knots[k - 1]) / (knots[k] - knots[k - 1])
    return value + share * (float(signals.before[k, number]) - value)


def linear(knots: ArrayLike, values: ArrayLike) -> Signals:
    """Signals (K, I) that are linear between their knots (K,)."""
    times, signals = _arrays(knots, values)
    return Signals(times, signals, signals.copy(), np.empty((len(times), 0)))


def held(knots: ArrayLike, values: ArrayLike) -> Signals:
    """Signals that keep each value (K, I) until the next knot; the first one also holds before."""
    times, signals = _arrays(knots, values)
    before = np.concatenate([signals[:1], signals[:-1]])
    return Signals(times, before, signals, np.empty((len(times), 0)))


def constant(values: ArrayLike) -> Signals:
    """Signals (I,) that never change."""
    return held([0.0], np.asarray(values, np.float64)[None])


def _arrays(knots: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    return np.array(knots, np.float64), np.array(values, np.float64, order="C", ndmin=2)
