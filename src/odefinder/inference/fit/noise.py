"""How uncertain each observation is: sd(x)^2 = a^2 + (b x)^2 for each variable, and a few outliers.

Estimated from the data (`noise_shape.py`), or given with them.  The shape says how points are weighted
against each other; the likelihood takes the most likely level, but none below that of given errors.  Exact
data need none of this.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats, Observations
from odefinder.inference.fit.states import StateEstimate

OUTLYING = 7.0  # standard deviations of an outlier, at least
ISOLATED = 0.5  # its neighbours are off by less than this share of it: otherwise it is a fast change
JUMP = 0.1  # of a signal's range: a smaller step of it makes no kink that could be taken for an outlier
FEW = 0.05  # share of the values of a variable: if there are more, they are not outliers
TO_DEVIATION = 1.4826  # the standard deviation of a normal distribution from its median absolute deviation


def without_outliers(data: Observations, estimate: StateEstimate) -> tuple[Observations, int]:
    """The data with single values missing that are far from a smooth curve, and how many these are."""
    if not estimate.smoothed:
        return data, 0
    states, count = data.states.copy(), 0
    kinks = _at_jumps(data)
    for d in range(data.dimension):
        seen = np.flatnonzero(np.isfinite(data.states[:, d]))
        left = np.abs(data.states[seen, d] - estimate.states[seen, d])
        left /= np.sqrt(estimate.relative[seen, d])
        spread = TO_DEVIATION * float(np.median(left)) if len(left) else 0.0
        around = np.maximum(np.append(left[1:], 0.0), np.append(0.0, left[:-1]))
        far = seen[(left > OUTLYING * spread) & (around < ISOLATED * left) & ~kinks[seen]]
        if spread > 0.0 and len(far) <= FEW * len(seen):
            states[far, d] = np.nan
            count += len(far)
    return (replace(data, states=states), count) if count else (data, 0)


def _at_jumps(data: Observations) -> NDArray[np.bool_]:
    """The points (N,) next to a jump of an input or to a dose, where no smooth curve is to be expected."""
    found = np.zeros(len(data.times), dtype=bool)
    for (first, last), signals in zip(data.spans(), data.signals, strict=bool(data.signals)):
        every = np.concatenate([signals.before, signals.after])
        steps = np.abs(signals.after - signals.before) > JUMP * np.ptp(every, axis=0)
        jumps = signals.knots[steps.any(axis=1) | (signals.doses != 0.0).any(axis=1)]
        after = first + np.searchsorted(data.times[first:last], jumps)
        for shift in (-1, 0, 1):
            found[np.clip(after + shift, first, last - 1)] = True
    return found


def observation_errors(data: Observations, estimate: StateEstimate) -> Floats | None:
    """Standard deviations of all observations (N, D); None if they are the same relative to each scale.

    Given errors stay; where they are missing, they are estimated.
    """
    if data.errors is not None and np.isfinite(data.errors[np.isfinite(data.states)]).all():
        return data.errors
    if not estimate.smoothed:
        return data.errors
    errors = estimate.noise * np.sqrt(estimate.relative)
    errors = np.maximum(errors, 1e-3 * data.scale)  # no variable may decide alone
    return errors if data.errors is None else np.where(np.isfinite(data.errors), data.errors, errors)


def least_error(data: Observations) -> float:
    """The mean squared scaled residual that given errors allow; 0 where some are not given.

    Data are often far more precise than any law of a few terms is exact: an encoder sees a millionth of a
    turn, and friction is never quite linear.  Given errors say how close is close enough.
    """
    seen = np.isfinite(data.states)
    if data.errors is None or not seen.any() or not np.isfinite(data.errors[seen]).all():
        return 0.0
    return float(np.mean((data.errors / data.scale)[seen] ** 2))
