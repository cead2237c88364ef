"""One equation fitted in integral form: x_i(t) = a + integral of f_i along estimated states.

No ODE is solved, and every equation has a fit and a score of its own, whatever the other equations are.  The
equation of a velocity that nobody measured is integrated twice, and x(t) = a + b t + double integral is
compared with the position, so that data are never differentiated.  All constants of a formula, inside and
outside functions, are fitted together by Levenberg-Marquardt; the constants of integration a and b, those of
each trajectory, are eliminated exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.form import pinned
from odefinder.expressions.program import (
    ADD,
    ARITY,
    CONST,
    INV,
    MUL,
    POW,
    SIN,
    VAR,
    Ops,
    Program,
    Values,
    concatenate,
)
from odefinder.expressions.terms import sum_of
from odefinder.inference.fit.least_squares import (
    NO_LIMITS,
    Bools,
    Pace,
    implement,
    levenberg_marquardt,
)
from odefinder.inference.fit.refine import FLOOR
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import eval_gradients

DAMPING, SHRINK, GROW = 1e-3, 0.1, 10.0  # most constants enter linearly, where full steps are best
TOLERANCE = 1e-7  # relative decrease of the cost below which a step counts as no progress
GIVE_UP = 1e3  # damping beyond which one step without progress is enough
FUNCTION_COST = 1.0  # of a sine, inverse and the like, on top of its node: monomials are more frequent
NOISE_SHARE = 3.0  # chosen on synthetic systems: 1 was worse, 10 about as good
STARTS, FIRST_ITERATIONS = 4, 5  # of equations of whose constants nothing is known

NOTHING_FIXED: Bools = np.empty(0, np.bool_)


@dataclass(frozen=True)
class ComponentFit:
    """One fitted equation."""

    program: Program
    error: float  # mean squared scaled residual of the integral form; inf if the formula is not finite
    score: float  # an information criterion: smaller is better
    named: Mapping[int, float] = field(default_factory=dict)  # constants of what is known of it, by number


class Quadrature(NamedTuple):
    """Where and how a right-hand side is integrated; see `StateEstimate`."""

    nodes: Floats  # (M, V): all variables
    node_times: Floats  # (M,)
    weights: Floats  # (M,)
    times: Floats  # (N,): the observed times
    ends: Ints  # (N,): the nodes before each observed time are those below this index
    bounds: Ints  # (trajectories + 1,) of the observed times
    free: Floats  # (N, depth): polynomials of the time that are free, orthonormal within each trajectory


class IntegralProblem(NamedTuple):
    """An equation and what its integral is compared with, and room for its values and derivatives."""

    ops: Ops
    values: Values  # (nodes,): scratch
    constants: Ints  # their places in `values`: the parameters
    along: Quadrature
    observed: Floats  # (N,): NaN where missing
    f: Floats  # (M, 1)
    jacobian: Floats  # (M, 1, 1)
    slopes: Floats  # (M, constants)
    component: Ints  # (constants,)


class IntegralPoint(NamedTuple):
    """Residuals at one set of constants."""

    parameters: Floats  # (constants,)
    residuals: Floats  # (N,), without what constants of integration explain
    columns: Floats  # (N, constants): their derivatives


@compiled
def repeated_integral(moments: Floats, t: float) -> float:
    """An integral repeated up to three times, at t, from those of f(s), s f(s) and s^2 f(s) up to there."""
    if len(moments) == 1:
        return float(moments[0])
    if len(moments) == 2:
        return float(t * moments[0] - moments[1])
    return float(0.5 * (t * t * moments[0] - 2.0 * t * moments[1] + moments[2]))


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
    depth = along.free.shape[1]
    cost = 0.0
    integral, total = np.empty(depth), np.empty((n_constants, depth))  # of f, s f and s^2 f
    share = np.empty(n_constants)
    for k in range(len(along.bounds) - 1):
        first, last = along.bounds[k], along.bounds[k + 1]
        integral[:] = 0.0
        total[:] = 0.0
        node = along.ends[first]
        for i in range(first, last):
            while node < along.ends[i]:
                weight = along.weights[node]
                for m in range(depth):
                    integral[m] += weight * f[node, 0]
                    for c in range(n_constants):
                        total[c, m] += weight * slopes[node, c]
                    weight *= along.node_times[node]
                node += 1
            if np.isnan(observed[i]):
                residuals[i] = 0.0
                for c in range(n_constants):
                    columns[i, c] = 0.0
            else:
                residuals[i] = repeated_integral(integral, along.times[i]) - observed[i]
                for c in range(n_constants):
                    columns[i, c] = repeated_integral(total[c], along.times[i])
        for m in range(depth):
            part = 0.0
            share[:] = 0.0
            for i in range(first, last):
                part += along.free[i, m] * residuals[i]
                for c in range(n_constants):
                    share[c] += along.free[i, m] * columns[i, c]
            for i in range(first, last):
                residuals[i] -= part * along.free[i, m]
                for c in range(n_constants):
                    columns[i, c] -= share[c] * along.free[i, m]
        for i in range(first, last):
            cost += residuals[i] * residuals[i]
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
def fit_integral(
    ops: Ops, values: Values, fixed: Bools, limits: Floats, along: Quadrature, observed: Floats, pace: Pace
) -> float:
    """Improve the constants (in `values`) of one equation in place; returns the remaining sum of squares.

    fixed and limits: see `levenberg_marquardt`.
    """
    m = len(along.nodes)
    constants = np.nonzero(ops == CONST)[0]
    size = len(constants)
    problem = IntegralProblem(
        ops, values, constants, along, observed, np.empty((m, 1)), np.empty((m, 1, 1)), np.empty((m, size)),
        np.empty(size, np.int64),
    )  # fmt: skip
    cost, point = levenberg_marquardt(problem, _point(problem), _point(problem), fixed, limits, pace)
    for c in range(size):
        values[constants[c]] = point.parameters[c]
    return cost


def match_component(
    program: Program,
    component: int,
    data: Observations,
    estimate: StateEstimate,
    *,
    iterations: int = 20,
    fixed: Bools | None = None,
) -> ComponentFit:
    """The equation of one variable with its constants fitted, starting from the current ones.

    fixed (constants,): those that stay, where nothing of the equation is known.
    Where a part of it is known, the program is the rest, and the named constants are fitted with it.
    """
    one = _with_known(program, component, data, estimate)
    state, _ = data.lineage(component)
    observed = data.states[:, state] / data.scale[state]
    along = Quadrature(
        one.nodes, estimate.node_times, estimate.weights / data.scale[state], data.times, estimate.ends,
        data.bounds, data.integration_constants[component],
    )  # fmt: skip
    pace = Pace(iterations, DAMPING, SHRINK, GROW, TOLERANCE, GIVE_UP, 0.0, False)
    values = one.program.values.copy()
    cost = fit_integral(
        one.program.ops, values, one.fixed if fixed is None else fixed, one.limits, along, observed, pace
    )
    count = int(np.isfinite(observed).sum())
    fitted = Program(program.ops, values[len(values) - len(program) :])
    error = cost / max(count, 1)
    score = component_score(fitted, error, count, floor(data, estimate, state))
    named = {name: float(values[place]) for place, name in one.named}
    return ComponentFit(fitted, error, score, named)


def match_outline(
    program: Program, component: int, data: Observations, estimate: StateEstimate
) -> ComponentFit:
    """The equation of one variable, of whose constants nothing is known: the best of several fits."""
    inner = inner_constants(program.ops)
    if not inner.any():
        return match_component(program.with_constants(np.ones(len(inner))), component, data, estimate)
    rng = np.random.default_rng(0)
    fits = []
    for _ in range(STARTS):
        sizes = np.exp(rng.normal(size=len(inner))) * rng.choice((1.0, -1.0), size=len(inner), p=(0.75, 0.25))
        start = program.with_constants(np.where(inner, sizes, 1.0))
        first = match_component(start, component, data, estimate, iterations=FIRST_ITERATIONS, fixed=inner)
        fits.append(match_component(first.program, component, data, estimate, iterations=FIRST_ITERATIONS))
    best = min(fits, key=lambda fit: fit.error)
    return match_component(best.program, component, data, estimate)


def inner_constants(ops: Ops) -> Bools:
    """Which constants of an equation are inside a function or a power: the others are factors or terms."""
    inside = [False]  # of what is still to be read, last first
    found = []
    for op in ops.tolist():
        within = inside.pop()
        if op == CONST:
            found.append(within)
        inside += [within or op not in (ADD, MUL)] * int(ARITY[op])
    return np.array(found, dtype=np.bool_)


class _Equation(NamedTuple):
    """One equation with what is known of it: that comes first."""

    program: Program
    nodes: Floats  # (M, V): all variables, and constants that vary
    fixed: Bools  # (constants,)
    limits: Floats  # (2, constants)
    named: Sequence[tuple[int, int]] = ()  # places of nodes, and numbers of the constants there


def _with_known(program: Program, component: int, data: Observations, estimate: StateEstimate) -> _Equation:
    given = data.given
    part = None if given is None else given.parts[component]
    if given is None or part is None:
        return _Equation(program, estimate.nodes, NOTHING_FIXED, NO_LIMITS)
    nodes = estimate.nodes
    if any(given.varied):  # they stay at their first values here
        first = estimate.ends[data.bounds[:-1]]
        trajectory = np.searchsorted(first, np.arange(len(nodes)), side="right") - 1
        nodes = np.hstack([nodes, given.values[:, trajectory].T])
    whole = sum_of([part, program])
    ops, values = whole.ops.copy(), whole.values.copy()
    limits = np.full((2, len(whole)), np.inf)
    limits[0] = -np.inf
    known = np.arange(len(whole)) < len(whole) - len(program)
    held = known & (ops == CONST)
    named = []
    for place in np.flatnonzero(known & (ops == VAR) & (values >= given.variables)).tolist():
        name = int(values[place]) - given.variables
        if not given.varied[name]:
            ops[place], values[place] = CONST, given.values[name, 0]
            limits[:, place] = given.lower[name], given.upper[name]
            named.append((place, name))
    constants = ops == CONST
    return _Equation(
        Program(ops, values), nodes, held[constants], np.ascontiguousarray(limits[:, constants]), named
    )


def joined(fits: Sequence[ComponentFit], data: Observations) -> Program:
    """The system of these equations, with the named constants that they were fitted with."""
    program = concatenate([fit.program for fit in fits])
    given = data.given
    if given is None:
        return program
    values = given.values.copy()
    surer = {
        int(one) - given.variables
        for part, whole in zip(given.parts, given.whole, strict=True)
        if part is not None and whole
        for one in part.values[(part.ops == VAR) & (part.values >= given.variables)]
    }  # those of whole equations were fitted to them
    for name in range(len(values)):
        found = [fit.named[name] for fit in fits if name in fit.named]
        if found and name not in surer:
            values[name] = np.mean(found)
    numbers = given.numbers.copy()
    numbers[given.places] = values.T
    return given.with_numbers(program, numbers)


def given_fit(data: Observations, component: int) -> ComponentFit | None:
    """The equation of a variable in which nothing is to be found, such as x' = v."""
    given = data.given_equation(component)
    return None if given is None else ComponentFit(given, 0.0, 0.0)


def match_system(program: Program, data: Observations, estimate: StateEstimate) -> Program:
    """A system with each equation's constants fitted in integral form, starting from the current ones."""
    fits = [
        given_fit(data, k) or match_component(one, k, data, estimate)
        for k, one in enumerate(data.equations_of(program))
    ]
    return joined(fits, data)


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
    size = len(program.constants) - pinned(program.ops) + len(program) / 2 + FUNCTION_COST * functions
    return count * float(np.log(error + floor)) + size * float(np.log(max(count, 2)))
