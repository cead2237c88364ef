"""Constants fitted to the observed trajectories.

The residuals are those of the integrated trajectory, each variable divided by its own scale; under noise
the initial values are fitted too.  The work is done in `trajectories`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import CONST, Program, component_bounds
from odefinder.inference.fit.least_squares import NO_LIMITS, Bools, Pace
from odefinder.inference.fit.trajectories import Observed, fit_trajectories
from odefinder.numerics.solver import Tolerance

FLOOR = 1e-9  # mean squared scaled residual below which a fit is as good as exact
BOUND = 1e4  # times the largest observed value
DAMPING, SHRINK, GROW = 1.0, 0.2, 5.0
TOLERANCE = 1e-9  # relative decrease of the cost below which a step counts as no progress
NO_EXPANSION: Floats = np.empty((0, 0))
EXACT = 1e-20  # cost per point below which nothing is left to gain
MOST_SLOPES = 20_000_000  # derivatives of a trajectory: where there would be more, constants are not fitted


@dataclass(frozen=True)
class Fit:
    """A system with fitted constants."""

    program: Program
    starts: Floats  # (trajectories, D)
    error: float  # mean squared scaled residual; inf if the system cannot be integrated


def fit_constants(
    program: Program,
    data: Observations,
    *,
    starts: Floats | None = None,
    fit_starts: bool = False,
    fixed: Bools | None = None,
    weights: Floats | None = None,
    iterations: int = 40,
    rtol: float = 1e-6,
    max_steps: int = 2000,
    bends: bool = False,
) -> Fit:
    """The program with the constants that fit the data best, starting from the current ones.

    fit_starts: fit the initial values of observed states, too; those of others always are.  fixed
    (constants,): which constants stay as they are.  weights (N, D): factors of the residuals; by
    default one over the scale of each variable.  bends: steps follow curved valleys, as where constants
    hardly matter.  That helps near an exact fit; a wrong structure would only go further astray.
    Where the derivatives would fill the memory, it is the program as it stands.
    """
    if data.states.size * (len(program.constants) + data.dimension) > MOST_SLOPES:
        iterations = 0
    x0 = starts_within(data.states[data.bounds[:-1]] if starts is None else starts, data)
    pace, free_starts = _pace(data, iterations, bends), fit_starts or bool(data.unseen.any())
    whole, limits = data.completed(program), limits_of(program, data)
    constants = within(program.constants, limits)
    if free_starts and iterations > 0:  # without any, initial values are not parameters
        limits = _with_starts(limits, len(constants), data)
    cost = fit_trajectories(
        whole.program.ops, whole.program.values.copy(), whole.owners, constants, x0,
        _observed(data, weights), tolerance_of(data, rtol, max_steps), free_starts,
        _fixed(program, data, fit_starts, fixed), limits, pace, NO_EXPANSION,
    )  # fmt: skip
    return Fit(program.with_constants(constants), x0, cost / data.count)


def limits_of(program: Program, data: Observations) -> Floats:
    """Lower and upper bounds (2, constants) of the constants; (2, 0) where there are none."""
    if data.given is None or not len(data.given.numbers):
        return NO_LIMITS
    limits = np.full((2, len(program.constants)), np.inf)
    limits[0] = -np.inf
    limits[:, limits.shape[1] - len(data.given.numbers) :] = data.given.limits()
    return limits


def _with_starts(limits: Floats, constants: int, data: Observations) -> Floats:
    """Bounds of constants, followed by those of initial values if there are any."""
    if data.start_limits is None:
        return limits
    if not limits.shape[1]:
        limits = np.repeat([[-np.inf], [np.inf]], constants, axis=1)
    return np.ascontiguousarray(np.hstack([limits, data.start_limits.reshape(2, -1)]))


def starts_within(starts: Floats, data: Observations) -> Floats:
    """Initial values (trajectories, D), moved to their bounds where they are beyond them; a copy."""
    inside = starts if data.start_limits is None else np.clip(starts, *data.start_limits)
    return np.array(inside, np.float64, order="C")


def held_starts(data: Observations, fit_starts: bool) -> Bools:
    """Which initial values (trajectories * D,) stay as they are: given ones, and perhaps observed ones."""
    start = np.zeros(data.dimension, np.bool_) if fit_starts else ~data.unseen
    held = np.tile(start, len(data))
    if data.start_limits is not None:
        held |= (data.start_limits[0] == data.start_limits[1]).ravel()
    return held


def within(constants: Floats, limits: Floats) -> Floats:
    """The constants, moved to their bounds where they are beyond them."""
    return np.clip(constants, *limits) if limits.shape[1] else constants.copy()


def cost_and_gradient(program: Program, data: Observations, starts: Floats) -> tuple[float, Floats]:
    """The sum of squares of the weighted residuals, and half its derivative by the constants."""
    cost, gradient, _ = expansion(program, data, starts, fit_starts=False)
    return cost, gradient


def expansion(
    program: Program, data: Observations, starts: Floats, *, fit_starts: bool, fixed: Bools | None = None
) -> tuple[float, Floats, Floats]:
    """Cost, half its gradient and the Gauss-Newton matrix, of the constants and perhaps initial values.

    What is held, constants or initial values, has a row and a column of the identity.
    """
    free_starts = fit_starts or bool(data.unseen.any())
    size = len(program.constants) + (starts.size if free_starts else 0)
    expanded = np.zeros((1 + size, size))
    held = _fixed(program, data, fit_starts, fixed)
    whole = data.completed(program)
    cost = fit_trajectories(
        whole.program.ops, whole.program.values.copy(), whole.owners, program.constants.copy(),
        starts_within(starts, data), _observed(data), tolerance_of(data, 1e-6, 10_000), free_starts,
        held, NO_LIMITS, _pace(data, 0), expanded,
    )  # fmt: skip
    gradient, hessian = expanded[0], expanded[1:]
    still = np.flatnonzero(held)
    gradient[still], hessian[still], hessian[:, still] = 0.0, 0.0, 0.0
    hessian[still, still] = 1.0
    return cost, gradient, hessian


def _pace(data: Observations, iterations: int, bends: bool = False) -> Pace:
    return Pace(iterations, DAMPING, SHRINK, GROW, TOLERANCE, np.inf, EXACT * len(data.times), bends)


def _observed(data: Observations, weights: Floats | None = None) -> Observed:
    """The data for compiled code; by default residuals are divided by the scale of their variable."""
    weights = residual_weights(data) if weights is None else weights
    return Observed(data.times, data.states, data.bounds, weights, data.driving)


def residual_weights(data: Observations) -> Floats:
    """One over the scale of each variable, 0 for missing entries.

    With standard errors, the less certain values count less; those of average certainty as they did.
    """
    seen = np.isfinite(data.states)
    if data.errors is None or not np.isfinite(data.errors[seen]).any():
        return np.where(seen, 1.0 / data.scale, 0.0)
    relative = np.where(np.isfinite(data.errors), data.errors, np.nan) / data.scale
    average = np.sqrt(np.nanmean(np.where(seen, relative, np.nan) ** 2))
    certainty = average / np.where(np.isfinite(relative) & (relative > 0.0), relative, average)
    return np.where(seen, certainty / data.scale, 0.0)


def _fixed(program: Program, data: Observations, fit_starts: bool, constants: Bools | None) -> Bools:
    """Which parameters stay as they are: constants, among them those of x' = v, then initial values."""
    held = given_constants(program, data) if constants is None else constants | given_constants(program, data)
    if not data.unseen.any() and (data.start_limits is None or not fit_starts):
        return held
    return np.concatenate([held, held_starts(data, fit_starts)])


def given_constants(program: Program, data: Observations) -> Bools:
    """Which constants belong to equations in which nothing is to be found, x' = v among them."""
    place = program.ops == CONST
    given = np.zeros(len(program), np.bool_)
    if data.closed:
        for component, (first, last) in enumerate(component_bounds(program.ops)):
            given[first:last] = component in data.closed
    return given[place]


def tolerance_of(data: Observations, rtol: float, max_steps: int) -> Tolerance:
    """How trajectories of these data are followed: up to a multiple of the largest observed value."""
    bound = BOUND * data.largest
    return Tolerance(rtol, 1e-3 * rtol * bound / BOUND, max_steps + steps_at_knots(data), bound)


def steps_at_knots(data: Observations) -> int:
    """Steps that end where an input is known, and those that begin again at its jumps."""
    return 2 * max((len(one.knots) for one in data.signals), default=0)
