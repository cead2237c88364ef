"""Curves through all points of one variable, and how well points are predicted by their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats
from odefinder.inference.fit.splines import evaluate_spline, knots_of, spline_coefficients
from odefinder.limits.alarm import alarm_rings

ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 9)  # of the polynomials through a point's neighbours


@dataclass(frozen=True)
class Curve:
    """A spline inside the observed times, a straight line outside, where a spline would shoot off."""

    knots: Floats
    coefficients: Floats
    degree: int

    def __call__(self, t: Floats) -> Floats:
        inside = np.clip(t, self.knots[0], self.knots[-1])
        values, slopes = self._at(inside)
        return values + (t - inside) * slopes

    def slope(self, t: Floats) -> Floats:
        """The derivative."""
        return self._at(np.clip(t, self.knots[0], self.knots[-1]))[1]

    def _at(self, inside: Floats) -> tuple[Floats, Floats]:
        values, slopes = np.empty(len(inside)), np.empty(len(inside))
        evaluate_spline(self.knots, self.coefficients, self.degree, inside, values, slopes)
        return values, slopes


def interpolate(t: Floats, x: Floats, degree: int) -> Curve:
    """The spline of this odd degree through all points, or of the highest degree the points allow.

    A single point is continued as a constant; without points the curve is 0.
    """
    if len(t) < 2:
        t, x = (np.array([t[0], t[0] + 1.0]), np.repeat(x, 2)) if len(t) else (np.arange(2.0), np.zeros(2))
    degree = min(degree, (len(t) - 2) // 2 * 2 + 1)
    knots = knots_of(t, degree)
    return Curve(
        knots, spline_coefficients(np.ascontiguousarray(t), np.ascontiguousarray(x), knots, degree), degree
    )


@dataclass(frozen=True)
class Windows:
    """A window of neighbours around each of some times."""

    rows: NDArray[np.int64]  # (n, width)
    weights: Floats  # (n, width): of the values there, up to a factor the error of predicting one of them
    norms: Floats  # (n,)

    def errors(self, x: Floats) -> Floats:
        """Errors of predicting each point from the others of its window, so that orders can be compared.

        For pure noise of standard deviation s their root mean square is s, whatever the order.
        """
        return (self.weights * x[self.rows]).sum(axis=1) / self.norms

    def mixed(self, variances: Floats) -> Floats:
        """The variances of these errors, from those of the points."""
        return (self.weights**2 * variances[self.rows]).sum(axis=1) / self.norms**2


Known = dict[tuple[bytes, int], Windows]  # by times and order: variables are mostly seen at the same times


def windows_of(t: Floats, order: int) -> Windows:
    """Around each time, a window of it and its order + 1 neighbours."""
    n, width = len(t), order + 2  # a window of the point and its neighbours
    first = np.clip(np.arange(n) - width // 2, 0, n - width)
    window = first[:, None] + np.arange(width)
    # The divided difference over the window vanishes for polynomials of this order: up to a factor, it is the
    # error of predicting any of the window's points from the others.
    gaps = t[window][:, :, None] - t[window][:, None, :]
    gaps[:, np.arange(width), np.arange(width)] = 1.0
    log_weights = -np.log(np.abs(gaps)).sum(axis=2)  # products of many gaps would under- or overflow
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True)) * np.sign(gaps).prod(axis=2)
    return Windows(window, weights, np.linalg.norm(weights, axis=1))


def error_by_order(times: Sequence[Floats], values: Sequence[Floats], known: Known | None = None) -> Floats:
    """The typical leave-one-out error over all trajectories, for each order from 1 that has enough points.

    known: windows of other variables, which are used again, and gets those of this one.
    """
    known = {} if known is None else known
    result: list[float] = []
    for order in ORDERS:
        if result and alarm_rings():
            break
        errors = [
            known_windows(t, order, known).errors(x)
            for t, x in zip(times, values, strict=True)
            if len(t) >= order + 3
        ]
        if errors:
            result.append(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    return np.array(result)


def known_windows(t: Floats, order: int, known: Known) -> Windows:
    """Those around these times, computed once."""
    key = t.tobytes(), order
    if key not in known:
        known[key] = windows_of(t, order)
    return known[key]
