"""Interpolating splines of odd degree (compiled), as B-splines with not-a-knot ends.

SciPy has them, too, but takes a third of a second to import, more than all compiled functions of a fit.
Curves go through all points; the knots are the points except for (degree + 1) / 2 at either end (de Boor: A
Practical Guide to Splines).  The equations for the coefficients are totally positive, so that elimination
needs no pivots.
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats


def knots_of(t: Floats, degree: int) -> Floats:
    """The knots of the spline through len(t) > degree points."""
    skipped = (degree + 1) // 2
    return np.concatenate(
        [np.repeat(t[0], degree + 1), t[skipped : len(t) - skipped], np.repeat(t[-1], degree + 1)]
    )


@compiled
def _span(knots: Floats, degree: int, x: float) -> int:
    """The index i with knots[i] <= x < knots[i + 1]; of the last interval at its end."""
    low, high = degree, len(knots) - degree - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x < knots[middle]:
            high = middle
        else:
            low = middle
    return low


@compiled
def _basis(knots: Floats, degree: int, span: int, x: float, out: Floats) -> None:
    """The degree + 1 B-splines that are not 0 at x, by their recurrence."""
    out[0] = 1.0
    for d in range(1, degree + 1):
        saved = 0.0
        for r in range(d):
            right, left = knots[span + r + 1], knots[span + 1 - d + r]
            share = out[r] / (right - left)
            out[r] = saved + (right - x) * share
            saved = (x - left) * share
        out[d] = saved


@compiled
def spline_coefficients(t: Floats, x: Floats, knots: Floats, degree: int) -> Floats:
    """The coefficients (n,) of the spline through the points (t, x)."""
    n, width = len(t), 2 * degree + 1
    band = np.zeros((n, width))  # row i holds the columns i - degree to i + degree
    basis = np.empty(degree + 1)
    coefficients = x.copy()
    for i in range(n):
        span = _span(knots, degree, t[i])
        _basis(knots, degree, span, t[i], basis)
        for j in range(degree + 1):
            band[i, span - degree + j - i + degree] = basis[j]
    for k in range(n):
        for i in range(k + 1, min(n, k + degree + 1)):
            factor = band[i, k - i + degree] / band[k, degree]
            if factor != 0.0:
                for j in range(k, min(n, k + degree + 1)):
                    band[i, j - i + degree] -= factor * band[k, j - k + degree]
                coefficients[i] -= factor * coefficients[k]
    for i in range(n - 1, -1, -1):
        total = coefficients[i]
        for j in range(i + 1, min(n, i + degree + 1)):
            total -= band[i, j - i + degree] * coefficients[j]
        coefficients[i] = total / band[i, degree]
    return coefficients


@compiled
def evaluate_spline(
    knots: Floats, coefficients: Floats, degree: int, t: Floats, values: Floats, slopes: Floats
) -> None:
    """Values and derivatives of a spline at the times t, inside its knots."""
    basis = np.empty(degree + 1)
    for i in range(len(t)):
        span = _span(knots, degree, t[i])
        first = span - degree
        _basis(knots, degree - 1, span, t[i], basis)
        slope = 0.0
        for j in range(degree):
            k = first + j
            rise = (coefficients[k + 1] - coefficients[k]) / (knots[k + degree + 1] - knots[k + 1])
            slope += degree * rise * basis[j]
        _basis(knots, degree, span, t[i], basis)
        value = 0.0
        for j in range(degree + 1):
            value += coefficients[first + j] * basis[j]
        values[i], slopes[i] = value, slope
