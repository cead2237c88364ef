"""Constants fitted to the observed trajectories: Levenberg-Marquardt with analytic sensitivities, compiled.

The residuals are those of the integrated trajectory, each variable divided by its own scale; under noise
the initial values are fitted, too.  Everything happens on flat arrays without the GIL: one skeleton
takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.compiled import compiled
from odefinder.inference.observations import Floats, Ints, Observations
from odefinder.program import CONST, Ops, Program, Values
from odefinder.solver import Workspace, sensitivity_workspace, solve_with_sensitivities

DAMPING_START, DAMPING_MAX = 1.0, 1e10
TOLERANCE = 1e-9  # relative decrease of the cost below which a step counts as no progress
BOUND = 1e4  # in canonical units the data are at most 1


@dataclass(frozen=True)
class Fit:
    """A system with fitted constants."""

    program: Program
    starts: Floats  # (trajectories, D)
    error: float  # mean squared scaled residual; inf if the system cannot be integrated


@compiled
def _residuals(
    ops: Ops, values: Values, x0: Floats, times: Floats, states: Floats, bounds: Ints, scale: Floats,
    with_constants: bool, fit_starts: bool, rtol: float, max_steps: int, work: Workspace, out: Floats,
    slopes: Floats, gradient: Floats, hessian: Floats,
) -> float:  # fmt: skip
    """Sum of squares of the scaled residuals; fills gradient and Gauss-Newton matrix of what is fitted."""
    dimension = states.shape[1]
    columns = slopes.shape[2]
    n_constants = columns - (dimension if fit_starts else 0)
    gradient[:] = 0.0
    hessian[:] = 0.0
    cost = 0.0
    place = np.arange(columns)
    for k in range(len(bounds) - 1):
        a, b = bounds[k], bounds[k + 1]
        status = solve_with_sensitivities(
            ops, values, len(ops), x0[k], times[a:b], rtol, 1e-3 * rtol, max_steps, BOUND, with_constants,
            fit_starts, work, out[a:b], slopes[a:b],
        )  # fmt: skip
        if status != 0:
            return np.inf
        for c in range(n_constants, columns):  # every trajectory has its own initial values
            place[c] = c + k * dimension
        for i in range(a, b):
            for j in range(dimension):
                if np.isnan(states[i, j]):
                    continue
                r = (out[i, j] - states[i, j]) / scale[j]
                cost += r * r
                for c in range(columns):
                    s = slopes[i, j, c] / scale[j]
                    gradient[place[c]] += s * r
                    for e in range(c + 1):
                        hessian[place[c], place[e]] += s * slopes[i, j, e] / scale[j]
    for c in range(len(gradient)):
        for e in range(c):
            hessian[e, c] = hessian[c, e]
    return cost if np.isfinite(cost) else np.inf


@compiled
def solve_damped(hessian: Floats, gradient: Floats, damping: float, step: Floats, factor: Floats) -> bool:
    """step = -(H + damping (diag H + mean)) ^-1 g by Cholesky; False if not positive definite."""
    n = len(gradient)
    mean = 0.0
    for i in range(n):
        mean += hessian[i, i] / n
    for i in range(n):
        for j in range(i + 1):
            total = hessian[i, j]
            if i == j:
                total += damping * (hessian[i, i] + 1e-3 * mean) + 1e-14 * mean
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                factor[i, i] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    for i in range(n):
        total = -gradient[i]
        for k in range(i):
            total -= factor[i, k] * step[k]
        step[i] = total / factor[i, i]
    for i in range(n - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * step[k]
        step[i] = total / factor[i, i]
    return True


@compiled
def levenberg_marquardt(
    ops: Ops, values: Values, x0: Floats, times: Floats, states: Floats, bounds: Ints, scale: Floats,
    fit_starts: bool, iterations: int, rtol: float, max_steps: int,
) -> float:  # fmt: skip
    """Improve constants (in `values`) and initial values (in `x0`) in place; returns the final cost.

    With no iterations it is the cost as it stands, without the price of sensitivities.
    """
    dimension, n_times = states.shape[1], len(times)
    with_constants = iterations > 0
    fit_starts = fit_starts and with_constants
    constants = np.nonzero(ops == CONST)[0][: len(ops) if with_constants else 0]
    columns = len(constants) + (dimension if fit_starts else 0)
    size = len(constants) + (x0.size if fit_starts else 0)
    work = sensitivity_workspace(len(ops), dimension, columns)
    out = np.empty((n_times, dimension))
    slopes = np.empty((n_times, dimension, columns))
    gradient, new_gradient, step = np.empty(size), np.empty(size), np.empty(size)
    hessian, new_hessian, factor = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    cost = _residuals(
        ops, values, x0, times, states, bounds, scale, with_constants, fit_starts, rtol, max_steps, work, out,
        slopes, gradient, hessian,
    )  # fmt: skip
    if size == 0 or not np.isfinite(cost + hessian.sum()):  # sensitivities may overflow where states do not
        return cost
    damping, stalled = DAMPING_START, 0
    new_values, new_x0 = values.copy(), x0.copy()
    for _ in range(iterations):
        if damping > DAMPING_MAX:
            break
        if not solve_damped(hessian, gradient, damping, step, factor):
            damping *= 10.0
            continue
        for c in range(len(constants)):
            new_values[constants[c]] = values[constants[c]] + step[c]
        if fit_starts:
            new_x0[:] = x0 + step[len(constants) :].reshape(x0.shape)
        new_cost = _residuals(
            ops, new_values, new_x0, times, states, bounds, scale, with_constants, fit_starts, rtol,
            max_steps, work, out, slopes, new_gradient, new_hessian,
        )  # fmt: skip
        if new_cost < cost and np.isfinite(new_hessian.sum()):
            stalled = stalled + 1 if new_cost > cost * (1.0 - TOLERANCE) else 0
            cost = new_cost
            values[:] = new_values
            x0[:] = new_x0
            gradient[:] = new_gradient
            hessian[:] = new_hessian
            damping = max(damping * 0.2, 1e-12)
            if stalled > 1 or cost < 1e-20 * n_times:
                break
        else:
            damping *= 5.0
    return cost


def fit_constants(
    program: Program,
    data: Observations,
    *,
    starts: Floats | None = None,
    fit_starts: bool = False,
    iterations: int = 40,
    rtol: float = 1e-6,
    max_steps: int = 2000,
) -> Fit:
    """The program with the constants that fit the data best, from where they stand."""
    values = program.values.copy()
    x0 = np.ascontiguousarray(data.states[data.bounds[:-1]] if starts is None else starts).copy()
    cost = levenberg_marquardt(
        program.ops, values, x0, data.times, data.states, data.bounds, data.scale, fit_starts, iterations,
        rtol, max_steps,
    )  # fmt: skip
    return Fit(Program(program.ops, values), x0, cost / data.count)
