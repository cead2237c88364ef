"""One equation fitted in integral form: x_i(t) = a + integral of f_i along estimated states.

No ODE is solved, and every equation has a fit and a score of its own, whatever the others look like.  All
constants of a formula, inside and outside of functions, are fitted together by a compiled
Levenberg-Marquardt; the constant of integration a, one for each trajectory, is eliminated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.program import CONST, INV, POW, SIN, VAR, Ops, Program, Values, concatenate
from odefinder.inference.fit.refine import DAMPING_MAX, FLOOR, solve_damped
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import eval_gradients

DAMPING_START = 1e-3  # most constants enter linearly, where full steps are best
TOLERANCE = 1e-7  # relative decrease of the cost below which a step counts as no progress
FUNCTION_COST = 1.0  # of a sine, inverse and the like, beyond its node: monomials are more frequent
NOISE_SHARE = 3.0  # chosen on synthetic systems: 1 was worse, 10 about as good


@dataclass(frozen=True)
class ComponentFit:
    """One fitted equation."""

    program: Program
    error: float  # mean squared scaled residual of the integral form; inf if the formula is not finite
    score: float  # an information criterion: smaller is better


@compiled
def _residuals(
    ops: Ops, values: Values, nodes: Floats, weights: Floats, ends: Ints, bounds: Ints, observed: Floats,
    f: Floats, jacobian: Floats, slopes: Floats, component: Ints, residuals: Floats, columns: Floats,
) -> float:  # fmt: skip
    """Sum of squares; fills residuals (N,) and their derivatives (N, constants), means taken off."""
    n_constants = slopes.shape[1]
    eval_gradients(ops, values, len(ops), nodes, f, jacobian, slopes, component)
    cost = 0.0
    total, means = np.zeros(n_constants), np.zeros(n_constants)
    for k in range(len(bounds) - 1):
        first, last = bounds[k], bounds[k + 1]
        integral, mean, count = 0.0, 0.0, 0
        total[:] = 0.0
        means[:] = 0.0
        node = ends[first]
        for i in range(first, last):
            while node < ends[i]:
                integral += weights[node] * f[node, 0]
                for c in range(n_constants):
                    total[c] += weights[node] * slopes[node, c]
                node += 1
            if not np.isnan(observed[i]):
                count += 1
                residuals[i] = integral - observed[i]
                mean += residuals[i]
                for c in range(n_constants):
                    columns[i, c] = total[c]
                    means[c] += total[c]
        for i in range(first, last):
            if np.isnan(observed[i]):
                residuals[i] = 0.0
                columns[i] = 0.0
            else:
                residuals[i] -= mean / count
                cost += residuals[i] * residuals[i]
                for c in range(n_constants):
                    columns[i, c] -= means[c] / count
    return cost if np.isfinite(cost) else np.inf


@compiled
def _normal_equations(residuals: Floats, columns: Floats, gradient: Floats, hessian: Floats) -> None:
    n = columns.shape[1]
    gradient[:] = 0.0
    hessian[:] = 0.0
    for i in range(len(residuals)):
        for c in range(n):
            s = columns[i, c]
            gradient[c] += s * residuals[i]
            for e in range(c + 1):
                hessian[c, e] += s * columns[i, e]
    for c in range(n):
        for e in range(c):
            hessian[e, c] = hessian[c, e]


@compiled
def match_integral(
    ops: Ops, values: Values, nodes: Floats, weights: Floats, ends: Ints, bounds: Ints, observed: Floats,
    iterations: int,
) -> float:  # fmt: skip
    """Improve the constants (in `values`) in place; the sum of squares that is left.

    The program is the equation, followed by one idle variable for each further equation of the system.
    """
    m, dimension = nodes.shape
    constants = np.nonzero(ops == CONST)[0]
    size = len(constants)
    f, jacobian = np.empty((m, dimension)), np.empty((m, dimension, dimension))
    slopes, component = np.empty((m, size)), np.empty(size, np.int64)
    residuals, columns = np.empty(len(observed)), np.empty((len(observed), size))
    gradient, step = np.empty(size), np.empty(size)
    hessian, factor = np.empty((size, size)), np.empty((size, size))
    cost = _residuals(
        ops,
        values,
        nodes,
        weights,
        ends,
        bounds,
        observed,
        f,
        jacobian,
        slopes,
        component,
        residuals,
        columns,
    )
    if size == 0 or not np.isfinite(cost):
        return cost
    _normal_equations(residuals, columns, gradient, hessian)
    damping, stalled = DAMPING_START, 0
    new_values = values.copy()
    for _ in range(iterations):
        if damping > DAMPING_MAX or not np.isfinite(hessian.sum()):
            break
        if not solve_damped(hessian, gradient, damping, step, factor):
            damping *= 10.0
            continue
        for c in range(size):
            new_values[constants[c]] = values[constants[c]] + step[c]
        new_cost = _residuals(
            ops, new_values, nodes, weights, ends, bounds, observed, f, jacobian, slopes, component,
            residuals, columns,
        )  # fmt: skip
        if new_cost < cost:
            stalled = stalled + 1 if new_cost > cost * (1.0 - TOLERANCE) else 0
            cost = new_cost
            values[:] = new_values
            _normal_equations(residuals, columns, gradient, hessian)
            damping = max(damping * 0.1, 1e-12)
            if stalled > 1:
                break
        else:
            damping *= 10.0
            if damping > 1e3 and stalled > 0:
                break
    return cost


def match_component(
    program: Program, component: int, data: Observations, estimate: StateEstimate, *, iterations: int = 20
) -> ComponentFit:
    """The equation of one variable with the constants that fit best, from where they stand."""
    idle = data.dimension - 1
    ops = np.concatenate([program.ops, np.full(idle, VAR, np.int8)])
    values = np.concatenate([program.values, np.zeros(idle)])
    observed = data.states[:, component] / data.scale[component]
    weights = estimate.weights / data.scale[component]
    cost = match_integral(
        ops, values, estimate.nodes, weights, estimate.ends, data.bounds, observed, iterations
    )
    count = int(np.isfinite(observed).sum())
    fitted = Program(program.ops, values[: len(program)])
    error = cost / max(count, 1)
    return ComponentFit(
        fitted, error, component_score(fitted, error, count, floor(data, estimate, component))
    )


def match_system(program: Program, data: Observations, estimate: StateEstimate) -> Program:
    """A system with each equation's constants fitted in integral form, from where they stand."""
    equations = enumerate(program.components())
    return concatenate([match_component(one, k, data, estimate).program for k, one in equations])


def floor(data: Observations, estimate: StateEstimate, component: int) -> float:
    """The mean squared scaled residual near and below which little is to be won.

    More than the noise alone: the integrals hold the errors of the estimated states, too.
    """
    return FLOOR + NOISE_SHARE * float(estimate.noise[component] / data.scale[component]) ** 2


def component_score(program: Program, error: float, count: int, floor: float) -> float:
    """N log(error + floor) + (constants + nodes / 2 + functions) log N; smaller is better."""
    if not np.isfinite(error):
        return np.inf
    functions = int((program.ops >= SIN).sum() + (program.ops == POW).sum() + (program.ops == INV).sum())
    size = len(program.constants) + len(program) / 2 + FUNCTION_COST * functions
    return count * float(np.log(error + floor)) + size * float(np.log(max(count, 2)))
