"""What a laboratory makes of clean values: noise, rounding, outliers and gaps (compiled).

How an example is measured is drawn first (`draw_measurement`) and then done to all of its observed points
at once (`measure`), so that levels refer to each variable's spread over everything that is observed of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.roles import SEEN
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, normal, pick, uniform
from odefinder.prior.examples import Example

Floats = NDArray[np.float64]

NOISE_MAX = 0.1  # largest standard deviation of noise: of a value (multiplicative), of a spread (additive)
MULTIPLICATIVE, ADDITIVE, BOTH, NONE = range(4)  # kinds of noise
OUTLIERS_MAX = 0.02  # of the cells
GAPS_MAX = 0.2  # of the cells that are missing one by one
LEAST_VALUES = 4  # that every variable keeps
OUTLIER_MIN, OUTLIER_MAX = 1.0, 6.0  # size of an outlier in spreads
STEP_MIN, STEP_MAX = 0.001, 0.03  # rounding, in ranges


class Laboratory(NamedTuple):
    """How examples are measured.  Shares are of all examples that are not clean."""

    noise_weights: Floats  # (4,): multiplicative, additive, both, none
    own_levels: float  # share in which every variable has an additive level of its own
    rounded: float  # share with rounded values
    outliers: float  # share with outliers
    gaps: float  # share in which single cells are missing
    stretches: float  # share in which a column is missing for a while


class Measurement(NamedTuple):
    """How one example is measured."""

    multiplicative: float  # standard deviation relative to the value
    additive: Floats  # (MAX_DIMENSION,): standard deviation relative to the variable's spread
    step: float  # of rounding, relative to the variable's range; 0: not rounded
    outliers: float  # probability of an outlier in a cell
    gaps: float  # probability that a cell is missing
    stretches: int  # columns that are missing for a while


@compiled
def draw_measurement(s: Stream, lab: Laboratory) -> Measurement:
    """A laboratory that is not perfect."""
    kind = pick(s, lab.noise_weights)
    multiplicative = 0.0
    if kind in (MULTIPLICATIVE, BOTH):
        multiplicative = NOISE_MAX * uniform(s)
    level = 0.0
    if kind in (ADDITIVE, BOTH):  # small levels are as frequent as large ones
        level = NOISE_MAX * uniform(s) if chance(s, 0.5) else log_uniform(s, 0.002, NOISE_MAX)
    own = chance(s, lab.own_levels)
    additive = np.full(MAX_DIMENSION, level)
    if own:
        for j in range(MAX_DIMENSION):
            additive[j] *= log_uniform(s, 0.1, 1.0)
    step = log_uniform(s, STEP_MIN, STEP_MAX) if chance(s, lab.rounded) else 0.0
    outliers = OUTLIERS_MAX * uniform(s) if chance(s, lab.outliers) else 0.0
    gaps = GAPS_MAX * uniform(s) if chance(s, lab.gaps) else 0.0
    stretches = 0
    if chance(s, lab.stretches):
        stretches = 1 if chance(s, 0.7) else 2
    return Measurement(multiplicative, additive, step, outliers, gaps, stretches)


@compiled
def perfect() -> Measurement:
    """A measurement that changes nothing."""
    return Measurement(0.0, np.zeros(MAX_DIMENSION), 0.0, 0.0, 0.0, 0)


@compiled
def spread_and_range(x: Floats) -> tuple[float, float]:
    """Standard deviation of a series, and its largest minus its smallest value."""
    low = high = x[0]
    total = 0.0
    for value in x:
        total += value
        low, high = min(low, value), max(high, value)
    mean, squares = total / len(x), 0.0
    for value in x:
        squares += (value - mean) ** 2
    return np.sqrt(squares / len(x)), high - low


@compiled
def _delete(x: Floats, i: int, j: int, left: NDArray[np.int64]) -> bool:
    """Make a cell missing, unless its row would be empty or its variable hardly known."""
    if np.isnan(x[i, j]) or left[j] <= LEAST_VALUES:
        return False
    others = 0
    for k in range(x.shape[1]):
        others += k != j and not np.isnan(x[i, k])
    if others == 0:
        return False
    x[i, j] = np.nan
    left[j] -= 1
    return True


@compiled
def _leave_gaps(s: Stream, how: Measurement, trajectory: NDArray[np.int8], x: Floats) -> int:
    """Delete cells (points, dimension); how many.  A row always keeps a value, a variable at least four.

    A single variable has no gaps: a row without any value is left out, which is what dropped points are.
    """
    n, dimension = x.shape
    if dimension == 1:
        return 0
    missing = 0
    left = np.full(dimension, n)
    for _ in range(how.stretches):
        j, first = integer(s, 0, dimension - 1), integer(s, 0, n - 1)
        length = max(1, int(n * (0.05 + 0.45 * uniform(s))))
        for i in range(first, min(n, first + length)):
            if trajectory[i] != trajectory[first]:
                break
            missing += _delete(x, i, j, left)
    if how.gaps > 0.0:
        for i in range(n):
            for j in range(dimension):
                if chance(s, how.gaps):
                    missing += _delete(x, i, j, left)
    return missing


@compiled
def measure(s: Stream, how: Measurement, example: Example) -> None:
    """Corrupt everything that is observed in an example, in place, and note what was done."""
    n, dimension = example.n_points, 0
    while dimension < example.dimension and example.roles[dimension] == SEEN:  # the observed ones come first
        dimension += 1
    x = example.states[:n, :dimension]
    most = 0.0
    for j in range(dimension):
        spread, span = spread_and_range(x[:, j])
        noise = how.additive[j] * spread
        most = max(most, how.additive[j])
        step = how.step * span
        for i in range(n):
            value = x[i, j]
            if how.multiplicative > 0.0:
                value *= 1.0 + how.multiplicative * normal(s)
            if noise > 0.0:
                value += noise * normal(s)
            if how.outliers > 0.0 and chance(s, how.outliers):
                error = spread * log_uniform(s, OUTLIER_MIN, OUTLIER_MAX)
                value += error if chance(s, 0.5) else -error
            if step > 0.0:
                value = step * np.round(value / step)
            x[i, j] = value
    missing = _leave_gaps(s, how, example.trajectory, x)
    example.sigma = how.multiplicative
    example.additive = most
    example.step = how.step
    example.outliers = how.outliers
    example.missing = missing / (n * dimension)
