"""How well data determine a system: the covariance of its constants and initial values.

Near the minimum the sum of squares is a quadratic function, whose matrix follows from the sensitivities of
the trajectories.  It is divided by the variance of what the fit leaves; where neighbouring residuals are
alike, they count as fewer.  `profile.py` looks further where a quadratic function misleads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.inference.fit.constants import pinned_constants
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import MOST_SLOPES, Fit, expansion, given_constants, held_starts
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

    def errors(self) -> Floats:
        """Standard errors (P,): inf where not determined, 0 where held."""
        return self.errors_of(np.eye(len(self.free)))

    def errors_of(self, slopes: Floats) -> Floats:
        """Standard errors (n,) of numbers with these derivatives (n, P) by the parameters.

        inf: the data do not determine it; 0: it depends on nothing that is free.
        """
        slopes = slopes[:, self.free]
        moves = (slopes != 0.0).any(axis=1)
        if not moves.any() or self.freedom <= 0 or not np.isfinite(self.variance):
            return np.where(moves, np.inf, 0.0)
        length, values, vectors = self._decomposed
        parts = (slopes / length) @ vectors
        seen = values > 0.0
        errors = np.sqrt(self.variance * (parts[:, seen] ** 2 / values[seen]).sum(axis=1))
        blind = np.linalg.norm(parts[:, ~seen], axis=1) >= PART * np.linalg.norm(parts, axis=1)
        return np.where(blind & moves, np.inf, errors)

    @property
    def blind(self) -> Floats:
        """(n, free): directions, of length 1, in which the data say nothing."""
        if not self.free.any() or not np.isfinite(self.matrix).all():
            return np.empty((0, int(self.free.sum())))
        length, values, vectors = self._decomposed
        directions = (vectors[:, values == 0.0] / length[:, None]).T
        return np.asarray(directions / np.linalg.norm(directions, axis=1)[:, None])

    @cached_property
    def _decomposed(self) -> tuple[Floats, Floats, Floats]:
        """Lengths, eigenvalues and eigenvectors of the matrix of free parameters, each divided by its length.

        Eigenvalues are 0 where the data say nothing.
        """
        matrix = self.matrix[np.ix_(self.free, self.free)]
        length = np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
        values, vectors = np.linalg.eigh(matrix / np.outer(length, length))
        return length, np.where(values > FLAT * max(values[-1], 0.0), values, 0.0), vectors


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
    starts = np.zeros(0, np.bool_)
    if len(matrix) > len(constants):
        starts = held_starts(data, fit_starts)
    free = ~np.concatenate([constants, starts])
    freedom = data.count - int(free.sum())
    variance = cost / freedom if freedom > 0 and np.isfinite(cost + matrix.sum()) else np.inf
    if alike and np.isfinite(variance):
        variance *= dependence(residuals_of(fit, data), data)
    return Curvature(matrix, free, cost, freedom, variance)


def standard_errors(
    fit: Fit, data: Observations, *, fit_starts: bool, conventions: Bools | None = None
) -> Floats:
    """Standard errors of the fitted constants, as if residuals were independent; inf where undetermined.

    In program order; 0 for constants that the canonical form, the user or a convention gave.
    """
    held = pinned_constants(fit.program) | (False if conventions is None else conventions)
    found = curvature_of(fit, data, fit_starts=fit_starts, held=held, alike=False)
    return found.errors()[: len(held)]
