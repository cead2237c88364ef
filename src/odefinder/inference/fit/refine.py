"""Constants fitted to the observed trajectories: Levenberg-Marquardt with analytic sensitivities, compiled.

The residuals are those of the integrated trajectory, each variable divided by its own scale; under noise
the initial values are fitted, too.  Everything happens on flat arrays without the GIL: one skeleton
takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.program import CONST, Ops, Program, Values
from odefinder.numerics.solver import Workspace, sensitivity_workspace, solve_with_sensitivities

Bools = NDArray[np.bool_]

FLOOR = 1e-9  # mean squared scaled residual below which a fit is as good as exact
DAMPING_START, DAMPING_MAX = 1.0, 1e10
TOLERANCE = 1e-9  # relative decrease of the cost below which a step counts as no progress
BOUND = 1e4  # times the largest observed value
# Geodesic acceleration (Transtrum and Sethna 2012): where steps win less than this share of the cost, they
# bend as its valley does, which is seen at this share of a step and believed so far.
CRAWLING, PROBE, MOST_BEND = 0.3, 0.1, 0.375


@dataclass(frozen=True)
class Fit:
    """A system with fitted constants."""

    program: Program
    starts: Floats  # (trajectories, D)
    error: float  # mean squared scaled residual; inf if the system cannot be integrated


@compiled
def _residuals(
    ops: Ops, values: Values, x0: Floats, times: Floats, states: Floats, bounds: Ints, weights: Floats,
    with_constants: bool, fit_starts: bool, rtol: float, max_steps: int, bound: float, work: Workspace,
    out: Floats, slopes: Floats, gradient: Floats, hessian: Floats,
) -> float:  # fmt: skip
    """Sum of squares of the weighted residuals; fills gradient and Gauss-Newton matrix of what is fitted."""
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
            ops, values, len(ops), x0[k], times[a:b], rtol, 1e-3 * rtol * bound / BOUND, max_steps, bound,
            with_constants, fit_starts, work, out[a:b], slopes[a:b],
        )  # fmt: skip
        if status != 0:
            return np.inf
        for c in range(n_constants, columns):  # every trajectory has its own initial values
            place[c] = c + k * dimension
        for i in range(a, b):
            for j in range(dimension):
                w = weights[i, j]
                if w == 0.0:
                    continue
                r = w * (out[i, j] - states[i, j])
                cost += r * r
                for c in range(columns):
                    s = w * slopes[i, j, c]
                    gradient[place[c]] += s * r
                    for e in range(c + 1):
                        hessian[place[c], place[e]] += s * w * slopes[i, j, e]
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
def _hold(fixed: Bools, gradient: Floats, hessian: Floats) -> None:
    """Make the equations of fixed constants say that they do not change."""
    for c in range(min(len(fixed), len(gradient))):
        if fixed[c]:
            gradient[c] = 0.0
            hessian[c, :] = 0.0
            hessian[:, c] = 0.0
            hessian[c, c] = 1.0


@compiled
def _go(
    values: Values,
    x0: Floats,
    constants: Ints,
    step: Floats,
    share: float,
    new_values: Values,
    new_x0: Floats,
) -> None:
    """Write what is reached by this share of a step."""
    n_constants = len(constants)
    for c in range(n_constants):
        new_values[constants[c]] = values[constants[c]] + share * step[c]
    if len(step) > n_constants:
        new_x0[:] = x0 + share * step[n_constants:].reshape(x0.shape)


@compiled
def _curve(
    probed: Floats, out: Floats, slopes: Floats, weights: Floats, bounds: Ints, n_constants: int,
    step: Floats, rhs: Floats,
) -> None:  # fmt: skip
    """Half the gradient of the residuals' second derivative along the step, from the states at a probe."""
    dimension, columns = out.shape[1], slopes.shape[2]
    place = np.arange(columns)
    rhs[:] = 0.0
    for k in range(len(bounds) - 1):
        for c in range(n_constants, columns):
            place[c] = c + k * dimension
        for i in range(bounds[k], bounds[k + 1]):
            for j in range(dimension):
                w = weights[i, j]
                if w == 0.0:
                    continue
                straight = 0.0
                for c in range(columns):
                    straight += slopes[i, j, c] * step[place[c]]
                half = ((probed[i, j] - out[i, j]) / PROBE - straight) / PROBE
                for c in range(columns):
                    rhs[place[c]] += w * w * slopes[i, j, c] * half


@compiled
def levenberg_marquardt(
    ops: Ops, values: Values, x0: Floats, times: Floats, states: Floats, bounds: Ints, weights: Floats,
    fixed: Bools, fit_starts: bool, iterations: int, rtol: float, max_steps: int, bound: float, bends: bool,
) -> float:  # fmt: skip
    """Improve constants (in `values`) and initial values (in `x0`) in place; returns the final cost.

    fixed (constants,): those that stay.  bends: whether steps may follow bent valleys.  With no iterations it
    is the cost as it stands, without the price of sensitivities.
    """
    dimension, n_times = states.shape[1], len(times)
    with_constants = iterations > 0
    fit_starts = fit_starts and with_constants
    constants = np.nonzero(ops == CONST)[0][: len(ops) if with_constants else 0]
    columns = len(constants) + (dimension if fit_starts else 0)
    size = len(constants) + (x0.size if fit_starts else 0)
    work = sensitivity_workspace(len(ops), dimension, columns)
    out, new_out, probed = (
        np.empty((n_times, dimension)), np.empty((n_times, dimension)), np.empty((n_times, dimension)),
    )  # fmt: skip
    slopes, new_slopes = np.empty((n_times, dimension, columns)), np.empty((n_times, dimension, columns))
    gradient, new_gradient, step, bend = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    hessian, new_hessian, factor = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    plain, no_slopes = sensitivity_workspace(len(ops), dimension, 0), np.empty((n_times, dimension, 0))
    nothing, nowhere = np.empty(0), np.empty((0, 0))
    cost = _residuals(
        ops, values, x0, times, states, bounds, weights, with_constants, fit_starts, rtol, max_steps, bound,
        work, out, slopes, gradient, hessian,
    )  # fmt: skip
    if size == 0 or not np.isfinite(cost + hessian.sum()):  # sensitivities may overflow where states do not
        return cost
    _hold(fixed, gradient, hessian)
    damping, stalled, crawling = DAMPING_START, 0, False
    new_values, new_x0 = values.copy(), x0.copy()
    for _ in range(iterations):
        if damping > DAMPING_MAX:
            break
        if not solve_damped(hessian, gradient, damping, step, factor):
            damping *= 10.0
            continue
        if bends and crawling:
            _go(values, x0, constants, step, PROBE, new_values, new_x0)
            probe = _residuals(
                ops, new_values, new_x0, times, states, bounds, weights, False, False, rtol, max_steps, bound,
                plain, probed, no_slopes, nothing, nowhere,
            )  # fmt: skip
            if np.isfinite(probe):
                _curve(probed, out, slopes, weights, bounds, len(constants), step, new_gradient)
                _hold(fixed, new_gradient, hessian)
                if solve_damped(hessian, new_gradient, damping, bend, factor):
                    length, bent = 0.0, 0.0
                    for c in range(size):
                        length += hessian[c, c] * step[c] ** 2
                        bent += hessian[c, c] * bend[c] ** 2
                    if bent <= MOST_BEND**2 * length:
                        step += bend
        _go(values, x0, constants, step, 1.0, new_values, new_x0)
        new_cost = _residuals(
            ops, new_values, new_x0, times, states, bounds, weights, with_constants, fit_starts, rtol,
            max_steps, bound, work, new_out, new_slopes, new_gradient, new_hessian,
        )  # fmt: skip
        _hold(fixed, new_gradient, new_hessian)
        if new_cost < cost and np.isfinite(new_hessian.sum()):
            crawling = new_cost > cost * (1.0 - CRAWLING)
            stalled = stalled + 1 if new_cost > cost * (1.0 - TOLERANCE) else 0
            cost = new_cost
            values[:] = new_values
            x0[:] = new_x0
            gradient[:] = new_gradient
            hessian[:] = new_hessian
            out, new_out = new_out, out
            slopes, new_slopes = new_slopes, slopes
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
    fixed: Bools | None = None,
    weights: Floats | None = None,
    iterations: int = 40,
    rtol: float = 1e-6,
    max_steps: int = 2000,
    bends: bool = False,
) -> Fit:
    """The program with the constants that fit the data best, from where they stand.

    fixed (constants,): those that stay as they are.  weights (N, D): by which residuals are multiplied; by
    default one over the scale of each variable.  bends: steps follow bent valleys, as where constants hardly
    matter.  That is good near an exact fit; a wrong structure would only lose its way further.
    """
    values = program.values.copy()
    x0 = np.ascontiguousarray(data.states[data.bounds[:-1]] if starts is None else starts).copy()
    cost = levenberg_marquardt(
        program.ops, values, x0, data.times, data.states, data.bounds,
        _weights(data) if weights is None else weights, _none(program) if fixed is None else fixed,
        fit_starts, iterations, rtol, max_steps, _bound(data), bends,
    )  # fmt: skip
    return Fit(Program(program.ops, values), x0, cost / data.count)


def cost_and_gradient(program: Program, data: Observations, starts: Floats) -> tuple[float, Floats]:
    """Sum of squares of the weighted residuals, and half its derivative by the constants."""
    cost, gradient, _ = _expansion(program, data, starts, fit_starts=False)
    return cost, gradient


def standard_errors(fit: Fit, data: Observations, *, fit_starts: bool) -> Floats:
    """Of the fitted constants, in program order, by the curvature at the minimum; inf where undetermined."""
    count = len(fit.program.constants)
    cost, _, hessian = _expansion(fit.program, data, fit.starts, fit_starts=fit_starts)
    freedom = data.count - len(hessian)
    if not np.isfinite(cost + hessian.sum()) or freedom <= 0:
        return np.full(count, np.inf)
    length = np.sqrt(np.where(np.diag(hessian) > 0.0, np.diag(hessian), 1.0))
    covariance = np.linalg.pinv(hessian / np.outer(length, length), rcond=1e-12, hermitian=True)
    variance = np.diag(covariance)[:count] * cost / freedom
    known = np.diag(hessian)[:count] > 0.0
    return np.where(known, np.sqrt(np.maximum(variance, 0.0)) / length[:count], np.inf)


def _expansion(
    program: Program, data: Observations, starts: Floats, *, fit_starts: bool
) -> tuple[float, Floats, Floats]:
    """Cost, half its gradient and the Gauss-Newton matrix, of the constants and perhaps initial values."""
    count = len(program.constants)
    columns = count + (data.dimension if fit_starts else 0)
    size = count + (starts.size if fit_starts else 0)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    cost = _residuals(
        program.ops, program.values, starts, data.times, data.states, data.bounds, _weights(data), True,
        fit_starts, 1e-6, 10_000, _bound(data), sensitivity_workspace(len(program), data.dimension, columns),
        np.empty(data.states.shape), np.empty((*data.states.shape, columns)), gradient, hessian,
    )  # fmt: skip
    return cost, gradient, hessian


def _weights(data: Observations) -> Floats:
    """One over the scale of each variable, nothing for missing entries."""
    return np.where(np.isfinite(data.states), 1.0 / data.scale, 0.0)


def _none(program: Program) -> Bools:
    return np.zeros(int(np.count_nonzero(program.ops == CONST)), dtype=np.bool_)


def _bound(data: Observations) -> float:
    """The size at which an integration counts as diverged."""
    return BOUND * max(float(np.nanmax(np.abs(data.states))), 1e-300)
