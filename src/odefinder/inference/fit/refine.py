"""Constants fitted to the observed trajectories, with analytic sensitivities (compiled).

The residuals are those of the integrated trajectory, each variable divided by its own scale; under noise
the initial values are fitted too.  Everything happens on flat arrays without the GIL: one skeleton
takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.program import CONST, Ops, Program, Values, component_bounds
from odefinder.inference.fit.least_squares import (
    PROBE,
    Bools,
    Pace,
    implement,
    levenberg_marquardt,
)
from odefinder.numerics.signals import Driving, signals_of
from odefinder.numerics.solver import (
    Tolerance,
    Wanted,
    Workspace,
    sensitivity_workspace,
    solve_with_sensitivities,
)

FLOOR = 1e-9  # mean squared scaled residual below which a fit is as good as exact
BOUND = 1e4  # times the largest observed value
DAMPING, SHRINK, GROW = 1.0, 0.2, 5.0
TOLERANCE = 1e-9  # relative decrease of the cost below which a step counts as no progress
NO_EXPANSION: Floats = np.empty((0, 0))
EXACT = 1e-20  # cost per point below which nothing is left to gain


@dataclass(frozen=True)
class Fit:
    """A system with fitted constants."""

    program: Program
    starts: Floats  # (trajectories, D)
    error: float  # mean squared scaled residual; inf if the system cannot be integrated


class Observed(NamedTuple):
    """Observations as compiled code reads them."""

    times: Floats  # (N,)
    states: Floats  # (N, D)
    bounds: Ints  # (trajectories + 1,)
    weights: Floats  # (N, D): factors of the residuals; 0 for missing entries
    driving: Driving


class TrajectoryProblem(NamedTuple):
    """What is fitted, to what: the parameters are the constants, then the initial values if they are free."""

    ops: Ops
    values: Values  # (nodes,): written to, as the parameters change
    constants: Ints  # the places of the fitted constants in `values`
    starts: Floats  # (trajectories, D): likewise
    free_starts: bool
    data: Observed
    tolerance: Tolerance
    work: Workspace
    plain: Workspace  # without sensitivities
    no_slopes: Floats  # (N, D, 0)


class TrajectoryPoint(NamedTuple):
    """The trajectories of one set of parameters."""

    parameters: Floats  # (P,)
    states: Floats  # (N, D)
    slopes: Floats  # (N, D, C): derivatives by the constants and by that trajectory's initial values


@compiled
def _problem(
    ops: Ops, values: Values, starts: Floats, data: Observed, tolerance: Tolerance, fitted: bool, free: bool
) -> TrajectoryProblem:
    """fitted: whether the constants are parameters; free: whether the initial values are."""
    constants = np.nonzero(ops == CONST)[0][: len(ops) if fitted else 0]
    dimension = starts.shape[1]
    columns, variables = len(constants) + (dimension if free else 0), dimension + data.driving.before.shape[1]
    return TrajectoryProblem(
        ops, values, constants, starts, free, data, tolerance,
        sensitivity_workspace(len(ops), variables, columns), sensitivity_workspace(len(ops), variables, 0),
        np.empty((len(data.times), dimension, 0)),
    )  # fmt: skip


@compiled
def _point(problem: TrajectoryProblem) -> TrajectoryPoint:
    """The point at the problem's own constants and initial values; nothing is computed yet."""
    n_constants, dimension = len(problem.constants), problem.starts.shape[1]
    columns = n_constants + (dimension if problem.free_starts else 0)
    n_times = len(problem.data.times)
    parameters = np.empty(n_constants + (problem.starts.size if problem.free_starts else 0))
    for c in range(n_constants):
        parameters[c] = problem.values[problem.constants[c]]
    for k in range(len(parameters) - n_constants):
        parameters[n_constants + k] = problem.starts[k // dimension, k % dimension]
    slopes = np.empty((n_times, dimension, columns))
    return TrajectoryPoint(parameters, np.empty((n_times, dimension)), slopes)


@compiled
def _write_parameters(problem: TrajectoryProblem, parameters: Floats) -> None:
    """Write parameters into the program's values and the initial values."""
    n_constants, dimension = len(problem.constants), problem.starts.shape[1]
    for c in range(n_constants):
        problem.values[problem.constants[c]] = parameters[c]
    for k in range(len(parameters) - n_constants):
        problem.starts[k // dimension, k % dimension] = parameters[n_constants + k]


@compiled
def _integrated(
    problem: TrajectoryProblem, wanted: Wanted, work: Workspace, states: Floats, slopes: Floats
) -> float:
    """Integrate all trajectories; returns the sum of squares of the weighted residuals, or inf."""
    data = problem.data
    cost = 0.0
    for k in range(len(data.bounds) - 1):
        a, b = data.bounds[k], data.bounds[k + 1]
        status = solve_with_sensitivities(
            problem.ops, problem.values, len(problem.ops), problem.starts[k], data.times[a:b],
            signals_of(data.driving, k), problem.tolerance, wanted, work, states[a:b], slopes[a:b],
        )  # fmt: skip
        if status != 0:
            return np.inf
        for i in range(a, b):
            for j in range(data.states.shape[1]):
                w = data.weights[i, j]
                if w != 0.0:
                    r = w * (states[i, j] - data.states[i, j])
                    cost += r * r
    return cost if np.isfinite(cost) else np.inf


@compiled
def _evaluate(problem: TrajectoryProblem, point: TrajectoryPoint) -> float:
    _write_parameters(problem, point.parameters)
    wanted = Wanted(len(problem.constants) > 0, problem.free_starts)
    return _integrated(problem, wanted, problem.work, point.states, point.slopes)


@compiled
def _places(problem: TrajectoryProblem, trajectory: int, place: Ints) -> None:
    """Which parameters the columns of a trajectory's slopes belong to: each trajectory has its own starts."""
    n_constants, dimension = len(problem.constants), problem.starts.shape[1]
    for c in range(len(place)):
        place[c] = c if c < n_constants else c + trajectory * dimension


@compiled
def _expand(problem: TrajectoryProblem, point: TrajectoryPoint, gradient: Floats, hessian: Floats) -> None:
    data, states, slopes = problem.data, point.states, point.slopes
    columns, size = slopes.shape[2], len(gradient)
    for c in range(size):
        gradient[c] = 0.0
        for e in range(size):
            hessian[c, e] = 0.0
    place = np.empty(columns, np.int64)
    for k in range(len(data.bounds) - 1):
        _places(problem, k, place)
        for i in range(data.bounds[k], data.bounds[k + 1]):
            for j in range(data.states.shape[1]):
                w = data.weights[i, j]
                if w == 0.0:
                    continue
                r = w * (states[i, j] - data.states[i, j])
                for c in range(columns):
                    s = w * slopes[i, j, c]
                    gradient[place[c]] += s * r
                    for e in range(c + 1):
                        hessian[place[c], place[e]] += s * w * slopes[i, j, e]
    for c in range(size):
        for e in range(c):
            hessian[e, c] = hessian[c, e]


@compiled
def _bend(
    problem: TrajectoryProblem, point: TrajectoryPoint, probe: Floats, step: Floats, rhs: Floats
) -> bool:
    data, states, slopes = problem.data, point.states, point.slopes
    probed = np.empty(states.shape)
    _write_parameters(problem, probe)
    nothing = Wanted(False, False)
    if not np.isfinite(_integrated(problem, nothing, problem.plain, probed, problem.no_slopes)):
        return False
    columns = slopes.shape[2]
    place = np.empty(columns, np.int64)
    for c in range(len(rhs)):
        rhs[c] = 0.0
    for k in range(len(data.bounds) - 1):
        _places(problem, k, place)
        for i in range(data.bounds[k], data.bounds[k + 1]):
            for j in range(data.states.shape[1]):
                w = data.weights[i, j]
                if w == 0.0:
                    continue
                straight = 0.0
                for c in range(columns):
                    straight += slopes[i, j, c] * step[place[c]]
                half = ((probed[i, j] - states[i, j]) / PROBE - straight) / PROBE
                for c in range(columns):
                    rhs[place[c]] += w * w * slopes[i, j, c] * half
    return True


implement(TrajectoryProblem, _evaluate, _expand, _bend)


@compiled
def fit_trajectories(
    ops: Ops, values: Values, starts: Floats, data: Observed, tolerance: Tolerance, free_starts: bool,
    fixed: Bools, pace: Pace, expansion: Floats,
) -> float:  # fmt: skip
    """Improve constants (in `values`) and initial values (in `starts`) in place; returns the final cost.

    fixed (constants,): those that stay.  With no iterations it is the cost as it stands, without the price
    of sensitivities, unless an expansion (1 + P, P) is wanted: half the gradient at the end, and below it the
    Gauss-Newton matrix.
    """
    fitted = pace.iterations > 0 or len(expansion) > 0
    problem = _problem(ops, values, starts, data, tolerance, fitted, free_starts and fitted)
    cost, point = levenberg_marquardt(problem, _point(problem), _point(problem), fixed, pace)
    if len(expansion) > 0 and np.isfinite(cost):
        _expand(problem, point, expansion[0], expansion[1:])
    _write_parameters(problem, point.parameters)
    return cost


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
    """
    values = program.values.copy()
    x0 = np.ascontiguousarray(data.states[data.bounds[:-1]] if starts is None else starts).copy()
    pace = _pace(data, iterations, bends)
    cost = fit_trajectories(
        program.ops, values, x0, _observed(data, weights), tolerance_of(data, rtol, max_steps),
        fit_starts or bool(data.unseen.any()), _fixed(program, data, fit_starts, fixed), pace, NO_EXPANSION,
    )  # fmt: skip
    return Fit(Program(program.ops, values), x0, cost / data.count)


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
    cost = fit_trajectories(
        program.ops, program.values.copy(), np.ascontiguousarray(starts).copy(), _observed(data),
        tolerance_of(data, 1e-6, 10_000), free_starts, held, _pace(data, 0), expanded,
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
    if not data.unseen.any():
        return held
    start = np.zeros(data.dimension, np.bool_) if fit_starts else ~data.unseen
    return np.concatenate([held, np.tile(start, len(data.bounds) - 1)])


def given_constants(program: Program, data: Observations) -> Bools:
    """Which constants belong to equations that are given, x' = v."""
    place = program.ops == CONST
    given = np.zeros(len(program), np.bool_)
    if data.velocities:
        for component, (first, last) in enumerate(component_bounds(program.ops)):
            given[first:last] = component in data.velocities
    return given[place]


def tolerance_of(data: Observations, rtol: float, max_steps: int) -> Tolerance:
    """How trajectories of these data are followed: up to a multiple of the largest observed value."""
    bound = BOUND * max(float(np.nanmax(np.abs(data.states))), 1e-300)
    return Tolerance(rtol, 1e-3 * rtol * bound / BOUND, max_steps, bound)
