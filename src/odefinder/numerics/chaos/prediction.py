"""How far a model predicts chaotic motion: the valid time, and R2 over short windows with a new start each.

Over a long record even the true law fails, because the error of its start grows by a factor of e per
Lyapunov time.  These scores ask no more than anyone can know.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.errors import DataError
from odefinder.expressions.program import Program
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.r2 import variance_weighted_r2

Floats = NDArray[np.float64]

# Root mean square over the variables, each relative to its standard deviation, above which a prediction is no
# longer valid; 0.4 is common for reservoir computers (Pathak et al., 2018).
THRESHOLD = 0.4
MOST_STEPS = 100_000


def valid_time(t: ArrayLike, truth: ArrayLike, predicted: ArrayLike, threshold: float = THRESHOLD) -> float:
    """The time from t[0] until the prediction (N, D) is off by more than the threshold.

    The whole record counts as valid if it never is.  Divided by the Lyapunov time it can be compared between
    systems.  Rows that are not finite are off; missing values of the truth are passed over.
    """
    times, x, y = (np.asarray(values, np.float64) for values in (t, truth, predicted))
    if x.ndim != 2 or x.shape != y.shape or times.shape != x.shape[:1]:
        raise DataError("give times (N,) and two records (N, D) of the same shape")
    spread = np.nanstd(x, axis=0)
    with np.errstate(all="ignore"):
        errors = ((x - y) / np.where(spread > 0.0, spread, 1.0)) ** 2
    errors = np.where(np.isfinite(y), errors, np.inf)
    seen = np.isfinite(x)
    share = np.where(seen, errors, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    off = np.flatnonzero(np.sqrt(share) > threshold)
    return float((times[off[0]] if len(off) else times[-1]) - times[0])


def window_r2(
    program: Program, t: ArrayLike, states: ArrayLike, length: float, starts: ArrayLike | None = None
) -> float:
    """R2 of predictions over windows of this length, such as a Lyapunov time, each from its observed start.

    Windows begin at complete rows of the record (N, D) and do not overlap.  -inf if one of them cannot be
    integrated, or none has two points.  A noisy start costs R2; starts (N, D) are smoothed
    states to begin at instead.
    """
    times, x = np.asarray(t, np.float64), np.asarray(states, np.float64)
    begin = x if starts is None else np.asarray(starts, np.float64)
    scale = float(np.nanmax(np.abs(x))) + 1e-12
    observed, predicted = [], []
    first = 0
    while first < len(times) - 1:
        if not np.isfinite(begin[first]).all():
            first += 1
            continue
        last = max(int(np.searchsorted(times, times[first] + length * (1.0 + 1e-9), side="right")), first + 2)
        path, status = integrate(
            program,
            begin[first],
            times[first:last],
            atol=1e-10 * scale,
            max_steps=MOST_STEPS,
            bound=1e6 * scale,
        )
        if status != Status.OK:
            return -np.inf
        observed.append(x[first + 1 : last])
        predicted.append(path[1:])
        first = last - 1
    if not observed:
        return -np.inf
    return variance_weighted_r2(np.concatenate(observed), np.concatenate(predicted))
