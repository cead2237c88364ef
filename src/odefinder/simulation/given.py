"""Times as users give them to a simulation, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.edge.arrays import numbers
from odefinder.errors import DataError


def increasing_times(t: ArrayLike) -> NDArray[np.float64]:
    """The times (N,) of a simulation."""
    times = numbers(t, "t")
    if times.ndim != 1 or len(times) == 0:
        raise DataError(
            f"t has shape {times.shape}; give a list of at least one time, starting with that of x0"
        )
    if not np.isfinite(times).all():
        raise DataError("a time is NaN or infinite; remove it")
    steps = np.diff(times)
    if (steps < 0).any():
        raise DataError(
            f"the times go back after t = {times[np.argmax(steps < 0)]:g}; sort them (numpy.sort)"
        )
    if (steps == 0).any():
        raise DataError(
            f"the time {times[np.argmax(steps == 0)]:g} occurs twice; keep one of each (numpy.unique)"
        )
    if not (np.diff(times - times[0]) > 0).all():
        raise DataError("some times are too close to be told apart; take times nearer to the first")
    return times
