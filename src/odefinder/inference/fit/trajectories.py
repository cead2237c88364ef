"""The compiled fit of constants and initial values to trajectories, with analytic sensitivities.

Everything happens on flat arrays without the GIL: one skeleton takes milliseconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints
from odefinder.expressions.program import CONST, Ops, Values
from odefinder.inference.fit.least_squares import PROBE, Bools, Pace, implement, levenberg_marquardt
from odefinder.limits.alarm import rings
from odefinder.numerics.signals import Driving, signals_of
from odefinder.numerics.solver import (
    Tolerance,
    Wanted,
    Workspace,
    sensitivity_workspace,
    solve_with_sensitivities,
)


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
    values: Values  # (nodes,): written to, as the parameters and trajectories change
    places: Ints  # those of the constants in `values`
    owners: Ints  # (trajectories, constants): the parameter that each of them is; negative: it stays
    constants: Floats  # the parameters that are constants, as they are at first
    starts: Floats  # (trajectories, D): written to, as the parameters change
    fitted: bool  # whether derivatives by the constants are wanted
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
    ops: Ops, values: Values, owners: Ints, constants: Floats, starts: Floats, data: Observed,
    tolerance: Tolerance, fitted: bool, free: bool,
) -> TrajectoryProblem:  # fmt: skip
    """fitted: whether the constants are fitted; free: whether the initial values are."""
    places = np.nonzero(ops == CONST)[0]
    dimension = starts.shape[1]
    variables = dimension + data.driving.before.shape[1]
    columns = (len(places) if fitted else 0) + (dimension if free else 0)
    return TrajectoryProblem(
        ops, values, places, owners, constants, starts, fitted, free, data, tolerance,
        sensitivity_workspace(len(ops), variables, columns), sensitivity_workspace(len(ops), variables, 0),
        np.empty((len(data.times), dimension, 0)),
    )  # fmt: skip


@compiled
def _point(problem: TrajectoryProblem) -> TrajectoryPoint:
    """The point at the problem's own constants and initial values; nothing is computed yet."""
    n_constants, dimension = len(problem.constants), problem.starts.shape[1]
    columns = problem.owners.shape[1] if problem.fitted else 0
    columns += dimension if problem.free_starts else 0
    n_times = len(problem.data.times)
    parameters = np.empty(n_constants + (problem.starts.size if problem.free_starts else 0))
    for c in range(n_constants):
        parameters[c] = problem.constants[c]
    for k in range(len(parameters) - n_constants):
        parameters[n_constants + k] = problem.starts[k // dimension, k % dimension]
    slopes = np.empty((n_times, dimension, columns))
    return TrajectoryPoint(parameters, np.empty((n_times, dimension)), slopes)


@compiled
def _write_constants(problem: TrajectoryProblem, parameters: Floats, trajectory: int) -> None:
    """Write the constants of one trajectory into the program's values."""
    for c in range(len(problem.places)):
        owner = problem.owners[trajectory, c]
        if owner >= 0:
            problem.values[problem.places[c]] = parameters[owner]


@compiled
def _write_starts(problem: TrajectoryProblem, parameters: Floats) -> None:
    """Write the initial values, where they are free."""
    n_constants, dimension = len(problem.constants), problem.starts.shape[1]
    for k in range(len(parameters) - n_constants):
        problem.starts[k // dimension, k % dimension] = parameters[n_constants + k]


@compiled
def _integrated(
    problem: TrajectoryProblem, parameters: Floats, wanted: Wanted, work: Workspace, states: Floats,
    slopes: Floats,
) -> float:  # fmt: skip
    """Integrate all trajectories; returns the sum of squares of the weighted residuals, or inf."""
    data = problem.data
    cost = 0.0
    _write_starts(problem, parameters)
    for k in range(len(data.bounds) - 1):
        _write_constants(problem, parameters, k)
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
    wanted = Wanted(problem.fitted and len(problem.places) > 0, problem.free_starts)
    return _integrated(problem, point.parameters, wanted, problem.work, point.states, point.slopes)


@compiled
def _places(problem: TrajectoryProblem, trajectory: int, place: Ints) -> None:
    """Which parameters the columns of a trajectory's slopes belong to: each trajectory has its own starts."""
    first = problem.owners.shape[1] if problem.fitted else 0
    for c in range(len(place)):
        if c < first:
            place[c] = problem.owners[trajectory, c]
        else:
            place[c] = len(problem.constants) + c - first + trajectory * problem.starts.shape[1]


@compiled
def _expand(problem: TrajectoryProblem, point: TrajectoryPoint, gradient: Floats, hessian: Floats) -> None:
    """Write half the gradient and the Gauss-Newton matrix; all NaN if the alarm rings before that."""
    data, states, slopes = problem.data, point.states, point.slopes
    columns, size = slopes.shape[2], len(gradient)
    for c in range(size):
        gradient[c] = 0.0
        for e in range(size):
            hessian[c, e] = 0.0
    place = np.empty(columns, np.int64)
    own, products = np.empty(columns), np.empty((columns, columns))  # those of one trajectory
    for k in range(len(data.bounds) - 1):
        own[:] = 0.0
        products[:] = 0.0
        for i in range(data.bounds[k], data.bounds[k + 1]):
            for j in range(data.states.shape[1]):
                w = data.weights[i, j]
                if w == 0.0:
                    continue
                if rings():  # with many parameters this takes long
                    gradient[:] = np.nan
                    hessian[:] = np.nan
                    return
                r = w * (states[i, j] - data.states[i, j])
                for c in range(columns):
                    s = w * slopes[i, j, c]
                    own[c] += s * r
                    for e in range(c + 1):
                        products[c, e] += s * w * slopes[i, j, e]
        _places(problem, k, place)
        for c in range(columns):
            if place[c] < 0:
                continue
            gradient[place[c]] += own[c]
            for e in range(c + 1):
                if place[e] >= 0:  # two columns may belong to one parameter
                    twice = 2.0 if e != c and place[e] == place[c] else 1.0
                    hessian[max(place[c], place[e]), min(place[c], place[e])] += twice * products[c, e]
    for c in range(size):
        for e in range(c):
            hessian[e, c] = hessian[c, e]


@compiled
def _bend(
    problem: TrajectoryProblem, point: TrajectoryPoint, probe: Floats, step: Floats, rhs: Floats
) -> bool:
    data, states, slopes = problem.data, point.states, point.slopes
    probed = np.empty(states.shape)
    nothing = Wanted(False, False)
    cost = _integrated(problem, probe, nothing, problem.plain, probed, problem.no_slopes)
    if not np.isfinite(cost):
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
                    if place[c] >= 0:
                        straight += slopes[i, j, c] * step[place[c]]
                half = ((probed[i, j] - states[i, j]) / PROBE - straight) / PROBE
                for c in range(columns):
                    if place[c] >= 0:
                        rhs[place[c]] += w * w * slopes[i, j, c] * half
    return True


implement(TrajectoryProblem, _evaluate, _expand, _bend)


@compiled
def fit_trajectories(
    ops: Ops, values: Values, owners: Ints, constants: Floats, starts: Floats, data: Observed,
    tolerance: Tolerance, free_starts: bool, fixed: Bools, limits: Floats, pace: Pace, expansion: Floats,
) -> float:  # fmt: skip
    """Improve constants and initial values (in `starts`) in place; returns the final cost.

    owners (trajectories, constants in `values`): see `TrajectoryProblem`.  fixed: those parameters that
    stay.  limits (2, parameters): bounds of the first of them, or none.  With no iterations it is the cost as
    it stands, without the price of sensitivities, unless an expansion (1 + P, P) is wanted: half the gradient
    at the end, and below it the Gauss-Newton matrix.
    """
    fitted = pace.iterations > 0 or len(expansion) > 0
    problem = _problem(
        ops, values, owners, constants, starts, data, tolerance, fitted, free_starts and fitted
    )
    cost, point = levenberg_marquardt(problem, _point(problem), _point(problem), fixed, limits, pace)
    if len(expansion) > 0 and np.isfinite(cost):
        _expand(problem, point, expansion[0], expansion[1:])
    constants[:] = point.parameters[: len(constants)]
    _write_starts(problem, point.parameters)
    return cost
