"""One equation fitted in integral form: x_i(t) = a + integral of f_i along estimated states.

No ODE is solved, and every equation has a fit and a score of its own, whatever the other equations are.  All
constants of a formula, inside and outside functions, are fitted together by Levenberg-Marquardt; the
constant of integration a, one for each trajectory, is eliminated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.program import CONST, INV, POW, SIN, VAR, Ops, Program, Values, concatenate
from odefinder.inference.fit.least_squares import Pace, implement, levenberg_marquardt
from odefinder.inference.fit.refine import FLOOR
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import eval_gradients

DAMPING, SHRINK, GROW = 1e-3, 0.1, 10.0  # most constants enter linearly, where full steps are best
TOLERANCE = 1e-7  # relative decrease of the cost below which a step counts as no progress
GIVE_UP = 1e3  # damping beyond which one step without progress is enough
FUNCTION_COST = 1.0  # of a sine, inverse and the like, on top of its node: monomials are more frequent
NOISE_SHARE = 3.0  # chosen on synthetic systems: 1 was worse, 10 about as good


@dataclass(frozen=True)
class ComponentFit:
    """One fitted equation."""

    program: Program
    error: float  # mean squared scaled residual of the integral form; inf if the formula is not finite
    score: float  # an information criterion: smaller is better


class Quadrature(NamedTuple):
    """Where and how a right-hand side is integrated; see `StateEstimate`."""

    nodes: Floats  # (M, D): states
    weights: Floats  # (M,)
    ends: Ints  # (N,): the nodes before each observed time are those below this index
    bounds: Ints  # (trajectories + 1,) of the observed times


class IntegralProblem(NamedTuple):
    """An equation and what its integral is compared with, and room for its values and derivatives."""

    ops: Ops
    values: Values  # (nodes,): scratch
    constants: Ints  # their places in `values`: the parameters
    along: Quadrature
    observed: Floats  # (N,): NaN where missing
    f: Floats  # (M, D)
    jacobian: Floats  # (M, D, D)
    slopes: Floats  # (M, constants)
    component: Ints  # (constants,)


class IntegralPoint(NamedTuple):
    """Residuals at one set of constants."""

    parameters: Floats  # (constants,)
    residuals: Floats  # (N,), without their mean over each trajectory
    columns: Floats  # (N, constants): their derivatives


@compiled
def _evaluate(problem: IntegralProblem, point: IntegralPoint) -> float:
    """Sum of squares; fills residuals and columns."""
    along, observed, f, slopes = problem.along, problem.observed, problem.f, problem.slopes
    residuals, columns = point.residuals, point.columns
    n_constants = len(point.parameters)
    for c in range(n_constants):
        problem.values[problem.constants[c]] = point.parameters[c]
    eval_gradients(
        problem.ops, problem.values, len(problem.ops), along.nodes, f, problem.jacobian, slopes,
        problem.component,
    )  # fmt: skip
    cost = 0.0
    total, means = np.empty(n_constants), np.empty(n_constants)
    for k in range(len(along.bounds) - 1):
        first, last = along.bounds[k], along.bounds[k + 1]
        integral, mean, count = 0.0, 0.0, 0
        for c in range(n_constants):
            total[c] = 0.0
            means[c] = 0.0
        node = along.ends[first]
        for i in range(first, last):
            while node < along.ends[i]:
                integral += along.weights[node] * f[node, 0]
                for c in range(n_constants):
                    total[c] += along.weights[node] * slopes[node, c]
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
                for c in range(n_constants):
                    columns[i, c] = 0.0
            else:
                residuals[i] -= mean / count
                cost += residuals[i] * residuals[i]
                for c in range(n_constants):
                    columns[i, c] -= means[c] / count
    return cost if np.isfinite(cost) else np.inf


@compiled
def _expand(problem: IntegralProblem, point: IntegralPoint, gradient: Floats, hessian: Floats) -> None:
    """The normal equations."""
    residuals, columns = point.residuals, point.columns
    n = len(gradient)
    for c in range(n):
        gradient[c] = 0.0
        for e in range(n):
            hessian[c, e] = 0.0
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
def _bend(problem: IntegralProblem, point: IntegralPoint, probe: Floats, step: Floats, rhs: Floats) -> bool:
    """Steps stay straight: most constants enter linearly."""
    return False


implement(IntegralProblem, _evaluate, _expand, _bend)


@compiled
def _point(problem: IntegralProblem) -> IntegralPoint:
    size, count = len(problem.constants), len(problem.observed)
    parameters = np.empty(size)
    for c in range(size):
        parameters[c] = problem.values[problem.constants[c]]
    return IntegralPoint(parameters, np.empty(count), np.empty((count, size)))


@compiled
def fit_integral(ops: Ops, values: Values, along: Quadrature, observed: Floats, pace: Pace) -> float:
    """Improve the constants (in `values`) in place; returns the remaining sum of squares.

    The program is the equation, followed by one idle variable for each further equation of the system.
    """
    m, dimension = along.nodes.shape
    constants = np.nonzero(ops == CONST)[0]
    size = len(constants)
    problem = IntegralProblem(
        ops, values, constants, along, observed, np.empty((m, dimension)),
        np.empty((m, dimension, dimension)), np.empty((m, size)), np.empty(size, np.int64),
    )  # fmt: skip
    cost, point = levenberg_marquardt(problem, _point(problem), _point(problem), np.empty(0, np.bool_), pace)
    for c in range(size):
        values[constants[c]] = point.parameters[c]
    return cost


def match_component(
    program: Program, component: int, data: Observations, estimate: StateEstimate, *, iterations: int = 20
) -> ComponentFit:
    """The equation of one variable with its constants fitted, starting from the current ones."""
    idle = data.dimension - 1
    ops = np.concatenate([program.ops, np.full(idle, VAR, np.int8)])
    values = np.concatenate([program.values, np.zeros(idle)])
    observed = data.states[:, component] / data.scale[component]
    weights = estimate.weights / data.scale[component]
    along = Quadrature(estimate.nodes, weights, estimate.ends, data.bounds)
    pace = Pace(iterations, DAMPING, SHRINK, GROW, TOLERANCE, GIVE_UP, 0.0, False)
    cost = fit_integral(ops, values, along, observed, pace)
    count = int(np.isfinite(observed).sum())
    fitted = Program(program.ops, values[: len(program)])
    error = cost / max(count, 1)
    return ComponentFit(
        fitted, error, component_score(fitted, error, count, floor(data, estimate, component))
    )


def match_system(program: Program, data: Observations, estimate: StateEstimate) -> Program:
    """A system with each equation's constants fitted in integral form, starting from the current ones."""
    equations = enumerate(program.components())
    return concatenate([match_component(one, k, data, estimate).program for k, one in equations])


def floor(data: Observations, estimate: StateEstimate, component: int) -> float:
    """The mean squared scaled residual near and below which there is little to gain.

    It is larger than the noise alone, because the integrals also contain the errors of the estimated states.
    """
    return FLOOR + NOISE_SHARE * float(estimate.noise[component] / data.scale[component]) ** 2


def component_score(program: Program, error: float, count: int, floor: float) -> float:
    """N log(error + floor) + (constants + nodes / 2 + functions) log N; smaller is better."""
    if not np.isfinite(error):
        return np.inf
    functions = int((program.ops >= SIN).sum() + (program.ops == POW).sum() + (program.ops == INV).sum())
    size = len(program.constants) + len(program) / 2 + FUNCTION_COST * functions
    return count * float(np.log(error + floor)) + size * float(np.log(max(count, 2)))
