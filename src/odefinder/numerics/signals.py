"""Known signals that drive a system, as the integrator reads them.

Every signal is piecewise linear between knots and may jump at them: `before` is its value just before a
knot, `after` the one just after it.  Linear interpolation has equal ones; a held value repeats `after` in the
next `before`.  Outside of the knots the first and the last value hold.  Doses are jumps of states at knots.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Driving(NamedTuple):
    """The signals of several trajectories, one after the other."""

    knots: Floats  # (K,)
    before: Floats  # (K, I)
    after: Floats  # (K, I)
    doses: Floats  # (K, D) or (K, 0)
    bounds: NDArray[np.int64]  # (trajectories + 1,): where the knots of each begin, and the end


def driving_of(signals: Sequence[Signals], trajectories: int) -> Driving:
    """The signals of all trajectories together; of none, if there are no signals."""
    if not signals:
        nothing = np.empty((0, 0))
        return Driving(np.empty(0), nothing, nothing, nothing, np.zeros(trajectories + 1, np.int64))
    return Driving(
        np.concatenate([one.knots for one in signals]),
        np.concatenate([one.before for one in signals]),
        np.concatenate([one.after for one in signals]),
        np.concatenate([one.doses for one in signals]),
        np.cumsum([0, *(len(one.knots) for one in signals)], dtype=np.int64),
    )


@compiled
def signals_of(driving: Driving, number: int) -> Signals:
    """The signals of one trajectory."""
    first, last = driving.bounds[number], driving.bounds[number + 1]
    return Signals(
        driving.knots[first:last], driving.before[first:last], driving.after[first:last],
        driving.doses[first:last],
    )  # fmt: skip


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
