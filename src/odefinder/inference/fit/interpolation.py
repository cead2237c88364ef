"""Curves through all points of one variable, and how well points are predicted by their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odefinder.data.observations import Floats

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 9)  # of the polynomials through a point's neighbours


@dataclass(frozen=True)
class Curve:
    """A spline inside the observed times, a straight line outside, where a spline would shoot off."""

    spline: BSpline

    def __call__(self, t: Floats) -> Floats:
        inside = np.clip(t, self.spline.t[0], self.spline.t[-1])
        return self.spline(inside) + (t - inside) * self.spline(inside, 1)

    def slope(self, t: Floats) -> Floats:
        """The derivative."""
        return self.spline(np.clip(t, self.spline.t[0], self.spline.t[-1]), 1)


def interpolate(t: Floats, x: Floats, degree: int) -> Curve:
    """The spline of this odd degree through all points, or of the highest degree the points allow.

    A single point is continued as a constant; without points the curve is 0.
    """
    from scipy.interpolate import make_interp_spline  # slow to import

    if len(t) < 2:
        t, x = (np.array([t[0], t[0] + 1.0]), np.repeat(x, 2)) if len(t) else (np.arange(2.0), np.zeros(2))
    degree = min(degree, (len(t) - 2) // 2 * 2 + 1)
    return Curve(make_interp_spline(t, x, k=degree))


def leave_one_out(t: Floats, x: Floats, order: int) -> Floats:
    """Errors of predicting each point from its order + 1 neighbours, scaled so that orders can be compared.

    For pure noise of standard deviation s their root mean square is s, whatever the order.
    """
    n, width = len(t), order + 2  # a window of the point and its neighbours
    first = np.clip(np.arange(n) - width // 2, 0, n - width)
    window = first[:, None] + np.arange(width)
    # The divided difference over the window vanishes for polynomials of this order: up to a factor, it is the
    # error of predicting any of the window's points from the others.
    gaps = t[window][:, :, None] - t[window][:, None, :]
    gaps[:, np.arange(width), np.arange(width)] = 1.0
    log_weights = -np.log(np.abs(gaps)).sum(axis=2)  # products of many gaps would under- or overflow
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True)) * np.sign(gaps).prod(axis=2)
    return (weights * x[window]).sum(axis=1) / np.linalg.norm(weights, axis=1)


def error_by_order(times: Sequence[Floats], values: Sequence[Floats]) -> Floats:
    """The typical leave-one-out error over all trajectories, for each order from 1 that has enough points."""
    result = []
    for order in ORDERS:
        errors = [
            leave_one_out(t, x, order) for t, x in zip(times, values, strict=True) if len(t) >= order + 3
        ]
        if errors:
            result.append(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    return np.array(result)
