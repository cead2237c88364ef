"""How well data determine a system: the covariance of its constants and initial values.

Near the minimum the sum of squares is a quadratic function, whose matrix follows from the sensitivities of
the trajectories.  It is divided by the variance of what the fit leaves; where neighbouring residuals are
alike, they count as fewer.  `profile.py` looks further where a quadratic function is no guide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.inference.fit.constants import pinned_constants
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import MOST_SLOPES, Fit, expansion, given_constants
from odefinder.inference.fit.residuals import dependence, residuals_of

FLAT = 1e-10  # eigenvalue, relative to the largest, of a direction in which the data say nothing
PART = 0.03  # a parameter with a larger component of such a direction is not determined
SMALLEST_ERROR = 1e-7  # relative: no fit is more accurate than the integration


@dataclass(frozen=True)
class Curvature:
    """The sum of squares around a minimum; parameters are all constants, then initial values if free."""

    matrix: Floats  # (P, P): half the second derivative; rows and columns of the identity where held
    free: Bools  # (P,)
    cost: float  # the sum of squares at the minimum
    freedom: int  # values minus parameters
    variance: float  # of a weighted residual, larger where neighbours are alike

    def covariance(self) -> tuple[Floats, Bools]:
        """(P, P), 0 for what is held, and which parameters are determined."""
        covariance = np.zeros(self.matrix.shape)
        determined = ~self.free
        own = np.flatnonzero(self.free)
        if len(own) == 0 or self.freedom <= 0 or not np.isfinite(self.variance):
            return covariance, determined
        matrix = self.matrix[np.ix_(own, own)]
        length = np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
        values, vectors = np.linalg.eigh(matrix / np.outer(length, length))
        flat = values <= FLAT * values[-1]
        inverse = (vectors[:, ~flat] / values[~flat]) @ vectors[:, ~flat].T
        covariance[np.ix_(own, own)] = self.variance * inverse / np.outer(length, length)
        determined[own] = np.sqrt((vectors[:, flat] ** 2).sum(axis=1)) < PART
        return covariance, determined

    def errors(self) -> Floats:
        """Standard errors (P,): inf where not determined, 0 where held."""
        covariance, determined = self.covariance()
        return np.where(determined, np.sqrt(np.diag(covariance)), np.inf)


def curvature_of(
    fit: Fit, data: Observations, *, fit_starts: bool, held: Bools | None = None, alike: bool = True
) -> Curvature:
    """The sum of squares around a fit.

    held (constants,): those that were not fitted.  alike: whether residuals that are alike count as fewer.
    """
    if data.states.size * (len(fit.program.constants) + data.dimension) > MOST_SLOPES:
        size = len(fit.program.constants) + (fit.starts.size if fit_starts or data.unseen.any() else 0)
        return Curvature(np.zeros((size, size)), np.ones(size, np.bool_), np.inf, 0, np.inf)
    cost, _, matrix = expansion(fit.program, data, fit.starts, fit_starts=fit_starts, fixed=held)
    constants = given_constants(fit.program, data) | (False if held is None else held)
    starts = np.zeros(len(matrix) - len(constants), np.bool_)
    if len(starts) and not fit_starts:
        starts = np.tile(~data.unseen, len(data.bounds) - 1)
    free = ~np.concatenate([constants, starts])
    freedom = data.count - int(free.sum())
    variance = cost / freedom if freedom > 0 and np.isfinite(cost + matrix.sum()) else np.inf
    if alike and np.isfinite(variance):
        variance *= dependence(residuals_of(fit, data), data)
    return Curvature(matrix, free, cost, freedom, variance)


def standard_errors(fit: Fit, data: Observations, *, fit_starts: bool) -> Floats:
    """Standard errors of the fitted constants, as if residuals were independent; inf where undetermined.

    In program order; 0 for constants that the canonical form or the user gave.
    """
    held = pinned_constants(fit.program)
    found = curvature_of(fit, data, fit_starts=fit_starts, held=held, alike=False)
    return found.errors()[: len(held)]
