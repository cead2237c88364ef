"""Noisy observations of one variable -> the most probable curve: a Kalman smoother.

The curve is modelled as a random walk integrated `order` times, observed with noise: its expected course is a
smoothing spline of degree 2 order + 1, found in linear time for any spacing and gaps.  Roughness and noise
level are those of highest likelihood, shared by all trajectories.  The noise counts as the same at all points
even where it grows with the value: weights by value were measured to blur what is fast and large.
Time is counted in mean intervals, so that numbers stay near 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats
from odefinder.limits.alarm import rings

# All relative to the signal's variance.
TINY = 1e-10  # noise that keeps the covariances regular
PRIOR = 4.0  # of the value and each derivative at the start of a trajectory
NOISES = np.array([1e-6, 1e-4, 1e-3, 1e-2, 1e-1])  # where the search begins
ROUGHNESSES = np.array([1e-8, 1e-6, 1e-4, 1e-2, 1.0])
CLOSE, ALIKE, STEPS = 0.05, 0.02, 60  # the search ends: logarithms, log-likelihoods, at the latest
# Rounding errors grow without limit where nearly exact values meet a nearly straight curve: more noise, then.
OFF, MORE, TRIES = 2.0, 10.0, 12  # times the largest value; factor of the noise
FACTORIALS = np.array([1.0, 1.0, 2.0, 6.0, 24.0, 120.0])


@compiled
def _predict(step: float, roughness: float, mean: Floats, cov: Floats, moved: Floats, work: Floats) -> None:
    """Mean and covariance (to `moved`) after a step of time of the integrated random walk."""
    n = len(mean)
    for i in range(n):  # mean = A mean, work = A cov, with A[i, j] = step^(j - i) / (j - i)!
        total = mean[i]
        factor = 1.0
        for j in range(n):
            work[i, j] = cov[i, j]
        for j in range(i + 1, n):
            factor *= step / (j - i)
            total += factor * mean[j]
            for k in range(n):
                work[i, k] += factor * cov[j, k]
        mean[i] = total
    for i in range(n):
        for j in range(n):
            total = work[i, j]
            factor = 1.0
            for k in range(j + 1, n):
                factor *= step / (k - j)
                total += factor * work[i, k]
            p, q = n - 1 - i, n - 1 - j
            noise = step ** (p + q + 1) / ((p + q + 1) * FACTORIALS[p] * FACTORIALS[q])
            moved[i, j] = total + roughness * noise


@compiled
def _update(value: float, variance: float, mean: Floats, cov: Floats, gain: Floats) -> float:
    """Take in one observation; -2 log likelihood of it."""
    n = len(mean)
    spread = cov[0, 0] + variance
    error = value - mean[0]
    for i in range(n):
        gain[i] = cov[i, 0] / spread
    for i in range(n):
        mean[i] += gain[i] * error
        for j in range(n):
            cov[i, j] -= gain[i] * gain[j] * spread
    return math.log(spread) + error * error / spread


@compiled
def _copy(source: Floats, target: Floats) -> None:
    """target[:] = source, as loops: for the error of an unequal shape numba compiles seconds of text."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@compiled
def _solve(matrix: Floats, right: Floats) -> None:
    """right (n, n) becomes matrix^-1 right, by elimination with pivots; the matrix is used up."""
    n = len(matrix)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
                right[k, j], right[pivot, j] = right[pivot, j], right[k, j]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
            for j in range(n):
                right[i, j] -= factor * right[k, j]
    for i in range(n - 1, -1, -1):
        for j in range(n):
            total = right[i, j]
            for k in range(i + 1, n):
                total -= matrix[i, k] * right[k, j]
            right[i, j] = total / matrix[i, i]


@compiled
def unlikelihood(
    t: Floats, x: Floats, variance: float, first: NDArray[np.bool_], order: int, roughness: float
) -> float:
    """-2 log likelihood of observations; `first` marks where a trajectory begins."""
    n = order + 1
    mean, gain = np.zeros(n), np.zeros(n)
    cov, moved, work = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    total = 0.0
    for i in range(len(t)):
        if first[i]:
            mean[:] = 0.0
            cov[:] = 0.0
            for k in range(n):
                cov[k, k] = PRIOR
        else:
            _predict(t[i] - t[i - 1], roughness, mean, cov, moved, work)
            _copy(moved, cov)
        total += _update(x[i], variance, mean, cov, gain)
    return total


@compiled
def _levels(logs: Floats) -> tuple[float, float]:
    """Noise and roughness from their logarithms."""
    noise, roughness = min(max(logs[0], -40.0), 10.0), min(max(logs[1], -40.0), 10.0)
    return math.exp(noise) + TINY, math.exp(roughness)


@compiled
def _cost(logs: Floats, t: Floats, x: Floats, first: NDArray[np.bool_], order: int) -> float:
    variance, roughness = _levels(logs)
    return unlikelihood(t, x, variance, first, order, roughness)


@compiled
def likeliest_levels(t: Floats, x: Floats, first: NDArray[np.bool_], order: int) -> tuple[float, float]:
    """The noise (a variance) and the roughness of highest likelihood, by the method of Nelder and Mead."""
    corner, cost = np.empty((3, 2)), np.empty(3)  # the simplex, best corner first
    trial, center = np.empty(2), np.empty(2)
    cost[0] = np.inf
    for noise in NOISES:
        for roughness in ROUGHNESSES:
            trial[0], trial[1] = math.log(noise), math.log(roughness)
            if rings() and cost[0] < np.inf:
                break
            value = _cost(trial, t, x, first, order)
            if value < cost[0]:
                corner[0, 0], corner[0, 1], cost[0] = trial[0], trial[1], value
    for k in range(2):
        for j in range(2):
            corner[k + 1, j] = corner[0, j]
        corner[k + 1, k] = 1.05 * corner[0, k] if corner[0, k] != 0.0 else 0.00025
        cost[k + 1] = _cost(corner[k + 1], t, x, first, order)
    for _ in range(STEPS):
        _sort(corner, cost)
        width, height = 0.0, 0.0
        for k in range(1, 3):
            height = max(height, abs(cost[k] - cost[0]))
            for j in range(2):
                width = max(width, abs(corner[k, j] - corner[0, j]))
        if (width <= CLOSE and height <= ALIKE) or rings():
            break
        for j in range(2):
            center[j] = (corner[0, j] + corner[1, j]) / 2.0
        # Away from the worst corner: further if that is better than all, less far if nothing is gained.
        reflected = _try(corner, center, 1.0, trial, t, x, first, order)
        best, share = reflected, 1.0
        if reflected < cost[0]:
            expanded = _try(corner, center, 2.0, trial, t, x, first, order)
            if expanded < reflected:
                best, share = expanded, 2.0
        elif reflected >= cost[1]:
            share = 0.5 if reflected < cost[2] else -0.5
            best = _try(corner, center, share, trial, t, x, first, order)
            if not (best <= reflected if share > 0.0 else best < cost[2]):
                share = 0.0
        if share != 0.0:
            for j in range(2):
                corner[2, j] = (1.0 + share) * center[j] - share * corner[2, j]
            cost[2] = best
        else:  # nothing is better: all corners move towards the best one
            for k in range(1, 3):
                for j in range(2):
                    corner[k, j] = corner[0, j] + 0.5 * (corner[k, j] - corner[0, j])
                cost[k] = _cost(corner[k], t, x, first, order)
    _sort(corner, cost)
    return _levels(corner[0])


@compiled
def _try(
    corner: Floats, center: Floats, share: float, trial: Floats, t: Floats, x: Floats,
    first: NDArray[np.bool_], order: int,
) -> float:  # fmt: skip
    """The cost on the line from the worst corner through the centre of the others."""
    for j in range(2):
        trial[j] = (1.0 + share) * center[j] - share * corner[2, j]
    return _cost(trial, t, x, first, order)


@compiled
def _sort(corner: Floats, cost: Floats) -> None:
    """Best corner first."""
    for i in range(1, 3):
        k = i
        while k > 0 and cost[k] < cost[k - 1]:
            cost[k], cost[k - 1] = cost[k - 1], cost[k]
            for j in range(2):
                corner[k, j], corner[k - 1, j] = corner[k - 1, j], corner[k, j]
            k -= 1


@compiled
def smoothed(
    t: Floats, x: Floats, variance: float, order: int, roughness: float
) -> tuple[Floats, Floats, Floats]:
    """Value, slope and variance of the value of one trajectory at all times; x is NaN where not observed."""
    n, size = order + 1, len(t)
    mean, gain = np.zeros(n), np.zeros(n)
    cov, work = np.zeros((n, n)), np.zeros((n, n))
    means, covs = np.zeros((size, n)), np.zeros((size, n, n))
    predicted, moved = np.zeros((size, n)), np.zeros((size, n, n))
    for k in range(n):
        cov[k, k] = PRIOR
    for i in range(size):
        if i > 0:
            _predict(t[i] - t[i - 1], roughness, mean, cov, moved[i], work)
            _copy(moved[i], cov)
        for k in range(n):
            predicted[i, k] = mean[k]
        if not np.isnan(x[i]):
            _update(x[i], variance, mean, cov, gain)
        for k in range(n):
            means[i, k] = mean[k]
        _copy(cov, covs[i])
    # Backwards: each estimate takes in what the later observations say.
    later, later_cov, back = mean, cov, np.zeros((n, n))
    values, slopes, spreads = np.empty(size), np.empty(size), np.empty(size)
    for i in range(size - 1, -1, -1):
        if i < size - 1:
            _gain_back(t[i + 1] - t[i], covs[i], moved[i + 1], work, back)
            _take_back(back, means[i], covs[i], predicted[i + 1], moved[i + 1], later, later_cov, gain, work)
        values[i], slopes[i], spreads[i] = later[0], later[1], later_cov[0, 0]
    return values, slopes, spreads


@compiled
def _gain_back(step: float, cov: Floats, moved: Floats, work: Floats, back: Floats) -> None:
    """back = moved^-1 A cov: how much of a later change reaches this time."""
    n = len(cov)
    for i in range(n):  # A cov, row by row
        for row in range(n):
            back[i, row] = cov[row, i]
        factor = 1.0
        for k in range(i + 1, n):
            factor *= step / (k - i)
            for row in range(n):
                back[i, row] += factor * cov[row, k]
    _copy(moved, work)
    _solve(work, back)


@compiled
def _take_back(
    back: Floats, mean: Floats, cov: Floats, predicted: Floats, moved: Floats,
    later: Floats, later_cov: Floats, change: Floats, work: Floats,
) -> None:  # fmt: skip
    """later = mean + G (later - predicted), later_cov = cov + G (later_cov - moved) G^T; G is back^T."""
    n = len(mean)
    for k in range(n):
        change[k] = later[k] - predicted[k]
    for i in range(n):
        total = 0.0
        for k in range(n):
            total += back[k, i] * change[k]
        later[i] = mean[i] + total
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += back[k, i] * (later_cov[k, j] - moved[k, j])
            work[i, j] = total
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += work[i, k] * back[k, j]
            later_cov[i, j] = cov[i, j] + total


class Smoother:
    """The smoother of one variable: roughness and noise level fitted, ready for any times."""

    def __init__(self, times: Sequence[Floats], values: Sequence[Floats], order: int) -> None:
        """Times and observed values of each trajectory, which may be empty."""
        self.times, self.values, self.order = times, values, order
        everything = np.concatenate(values)
        self.center = float(everything.mean())
        self.spread = float(everything.std()) or 1.0
        self.interval = float(np.concatenate([np.diff(t) for t in times]).mean())
        t, x = np.concatenate(times) / self.interval, (everything - self.center) / self.spread
        first = np.concatenate([np.arange(len(t)) == 0 for t in times])
        self.largest = float(np.abs(x).max())
        self.variance, self.roughness = likeliest_levels(t, x, first, order)

    @property
    def noise(self) -> float:
        """The standard deviation of the observations."""
        return self.spread * math.sqrt(self.variance)

    def at(self, trajectory: int, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Value, slope and standard deviation of the value at any times of one trajectory."""
        places = np.union1d(self.times[trajectory], t)
        x = np.full(len(places), np.nan)
        own = np.searchsorted(places, self.times[trajectory])
        x[own] = (self.values[trajectory] - self.center) / self.spread
        noise = self.variance
        for _ in range(TRIES):
            value, slope, variance = smoothed(places / self.interval, x, noise, self.order, self.roughness)
            if np.all(np.abs(value[own]) <= OFF * self.largest):
                break
            noise *= MORE
        wanted = np.searchsorted(places, t)
        return (
            self.center + self.spread * value[wanted],
            self.spread / self.interval * slope[wanted],
            self.spread * np.sqrt(np.maximum(variance[wanted], 0.0)),
        )
