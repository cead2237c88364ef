"""What a fit leaves: residuals in standard deviations, and whether they look like noise.

The errors of constants assume that residuals are independent.  Where neighbours are alike, there is less in
the data than their number says, and something that the system does not explain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.inference.fit.noise import TO_DEVIATION
from odefinder.inference.fit.refine import BOUND, Fit, residual_weights, steps_at_knots
from odefinder.numerics.integrate import integrate

SIGNIFICANT = 4.0  # standard errors: with several checks of many fits, two would be chance
ALIKE = 0.3  # correlation of neighbours from which on a note is worth it
OUTLYING = 5.0  # robust standard deviations
MOST_ALIKE = 0.98  # correlation of neighbours: more is taken as this much
FEW = 12  # values of a variable: from fewer nothing can be said


@dataclass(frozen=True)
class Check:
    """What the residuals of one variable look like."""

    correlation: float  # between neighbours
    correlated: bool  # whether that is more than chance
    drift: float  # change of the mean from the first to the last value, in standard deviations
    drifts: bool  # whether that is more than chance
    outliers: int  # values that are far off
    count: int


def residuals_of(fit: Fit, data: Observations) -> Floats:
    """Simulated minus observed, (N, D), weighted as in the fit; NaN where nothing was observed or found."""
    left = np.full(data.states.shape, np.nan)
    systems = data.whole_systems(fit.program)
    for k, (first, last) in enumerate(data.spans()):
        states, _ = integrate(
            systems[k], fit.starts[k], data.times[first:last], signals=data.signals_of(k), rtol=1e-7,
            atol=1e-10 * data.largest, max_steps=10_000 + steps_at_knots(data), bound=BOUND * data.largest,
        )  # fmt: skip
        left[first:last] = states - data.states[first:last]
    weights = residual_weights(data)
    return np.where(weights > 0.0, left * weights, np.nan)


def neighbours(residuals: Floats, data: Observations, variable: int) -> tuple[Floats, Floats]:
    """Pairs of residuals of one variable that follow each other in a trajectory."""
    first, second = [], []
    for a, b in data.spans():
        own = residuals[a:b, variable]
        own = own[np.isfinite(own)]
        first.append(own[:-1])
        second.append(own[1:])
    return np.concatenate(first), np.concatenate(second)


def dependence(residuals: Floats, data: Observations) -> float:
    """How many values count as one, 1 if neighbours are independent."""
    pairs = [neighbours(residuals, data, d) for d in range(data.dimension)]
    product = sum(float(one @ other) for one, other in pairs)
    square = sum(float(one @ one + other @ other) for one, other in pairs) / 2.0
    count = sum(len(one) for one, _ in pairs)
    correlation = product / square if square > 0.0 else 0.0
    if not correlation > 2.0 / np.sqrt(max(count, 1)):
        return 1.0
    return _values_as_one(correlation)


def checks(residuals: Floats, data: Observations) -> list[Check | None]:
    """One for each variable; None where there is too little to check."""
    return [_check(residuals, data, d) for d in range(data.dimension)]


def _check(residuals: Floats, data: Observations, variable: int) -> Check | None:
    values = residuals[:, variable]
    seen = np.isfinite(values)
    count = int(seen.sum())
    if count < FEW or not np.any(values[seen] != 0.0):
        return None
    one, other = neighbours(residuals, data, variable)
    square = float(one @ one + other @ other) / 2.0
    correlation = float(one @ other) / square if square > 0.0 else 0.0
    correlated = correlation > max(ALIKE, SIGNIFICANT / np.sqrt(len(one)))
    drift, drift_error = _drift(data.times[seen], values[seen])
    drift_error *= np.sqrt(_values_as_one(correlation))
    spread = TO_DEVIATION * float(np.median(np.abs(values[seen])))
    outliers = int((np.abs(values[seen]) > OUTLYING * spread).sum()) if spread > 0.0 else 0
    drifts = abs(drift) > SIGNIFICANT * drift_error
    return Check(correlation, bool(correlated), drift, bool(drifts), outliers, count)


def _values_as_one(correlation: float) -> float:
    """How many values count as one if neighbours have this correlation, (1 + r)/(1 - r)."""
    alike = min(max(correlation, 0.0), MOST_ALIKE)
    return (1.0 + alike) / (1.0 - alike)


def _drift(times: Floats, values: Floats) -> tuple[float, float]:
    """The change along the regression line over the time, and its standard error, in standard deviations."""
    centred = times - times.mean()
    length = float(centred @ centred)
    spread = float(values.std())
    if length == 0.0 or spread == 0.0:
        return 0.0, np.inf
    span = float(np.ptp(times))
    slope = float(centred @ (values - values.mean())) / length
    left = values - values.mean() - slope * centred
    error = float(np.sqrt(np.mean(left**2) / length))
    return slope * span / spread, error * span / spread
