"""Levenberg-Marquardt: the parameters with the smallest sum of squared residuals (compiled).

One loop serves every kind of problem.  A kind is a named tuple of what is given, a named tuple of what is
computed at one set of parameters (a *point*, whose first field is `parameters`), and three functions of them
that `implement` registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.inference.fit.cholesky import Floats, backward, factorise, forward
from odefinder.limits.alarm import rings

Bools = NDArray[np.bool_]
NO_LIMITS: Floats = np.empty((2, 0))

DAMPING_MIN, DAMPING_MAX = 1e-12, 1e10
NOT_DEFINITE = 10.0  # factor by which the damping grows where the equations cannot be solved
# Geodesic acceleration (Transtrum and Sethna 2012): a second-order correction of the step, tried where steps
# win less than CRAWLING of the cost, probed at PROBE of the step and refused beyond MOST_BEND of its length.
CRAWLING, PROBE, MOST_BEND = 0.3, 0.1, 0.375


class Pace(NamedTuple):
    """How bold the steps are, and when the loop stops."""

    iterations: int
    damping: float  # at the start
    shrink: float  # factor of the damping after a step that lowered the cost
    grow: float  # factor of the damping after one that did not
    tolerance: float  # relative decrease of the cost below which a step counts as no progress
    give_up: float  # damping beyond which one step without progress is enough
    exact: float  # cost below which nothing is left to gain
    bends: bool  # whether steps follow curved valleys


def evaluate(problem: Any, point: Any) -> float:
    """The cost at `point.parameters`, inf if there is none; fills in the rest of the point."""
    raise TypeError("compiled code only")


def expand(problem: Any, point: Any, gradient: Floats, hessian: Floats) -> None:
    """Half the gradient (P,) and the Gauss-Newton matrix (P, P) at an evaluated point."""
    raise TypeError("compiled code only")


def bend(problem: Any, point: Any, probe: Floats, step: Floats, rhs: Floats) -> bool:
    """Writes half the gradient of the residuals' second derivative along the step to `rhs`; False if none.

    probe (P,): parameters at PROBE of the step.
    """
    raise TypeError("compiled code only")


def implement(
    kind: type, evaluation: Callable[..., float], expansion: Callable[..., None], bending: Callable[..., bool]
) -> None:
    """Make compiled calls of the three functions above use these for problems of this kind."""

    def is_kind(problem: Any) -> bool:
        return getattr(problem, "instance_class", None) is kind  # of numba's type of a named tuple

    @overload(evaluate, strict=False)  # strict mode would compare annotations
    def choose_evaluation(problem: Any, point: Any) -> Any:
        return (lambda problem, point: evaluation(problem, point)) if is_kind(problem) else None

    @overload(expand, strict=False)
    def choose_expansion(problem: Any, point: Any, gradient: Any, hessian: Any) -> Any:
        if not is_kind(problem):
            return None
        return lambda problem, point, gradient, hessian: expansion(problem, point, gradient, hessian)

    @overload(bend, strict=False)
    def choose_bending(problem: Any, point: Any, probe: Any, step: Any, rhs: Any) -> Any:
        if not is_kind(problem):
            return None
        return lambda problem, point, probe, step, rhs: bending(problem, point, probe, step, rhs)


@compiled
def solve_damped(hessian: Floats, gradient: Floats, damping: float, step: Floats, factor: Floats) -> bool:
    """step = -(H + damping (diag H + mean)) ^-1 g; False if not positive definite."""
    n = len(gradient)
    mean = 0.0
    for i in range(n):
        mean += hessian[i, i] / n
    for i in range(n):
        for j in range(i + 1):
            factor[i, j] = hessian[i, j]
        factor[i, i] += damping * (hessian[i, i] + 1e-3 * mean) + 1e-14 * mean
    if not factorise(factor):
        return False
    for i in range(n):
        step[i] = -gradient[i]
    forward(factor, step.reshape(n, 1))
    backward(factor, step)
    return True


@compiled
def hold(fixed: Bools, gradient: Floats, hessian: Floats) -> None:
    """Change the equations so that fixed parameters stay as they are."""
    for c in range(min(len(fixed), len(gradient))):
        if fixed[c]:
            _hold_one(c, gradient, hessian)


@compiled
def hold_at_limits(limits: Floats, parameters: Floats, gradient: Floats, hessian: Floats) -> None:
    """Change the equations so that parameters at a bound stay where a step would lead beyond it."""
    for c in range(limits.shape[1]):
        low = parameters[c] <= limits[0, c] and gradient[c] > 0.0
        high = parameters[c] >= limits[1, c] and gradient[c] < 0.0
        if low or high:
            _hold_one(c, gradient, hessian)


@compiled
def _hold_one(c: int, gradient: Floats, hessian: Floats) -> None:
    gradient[c] = 0.0
    for e in range(len(gradient)):
        hessian[c, e] = 0.0
        hessian[e, c] = 0.0
    hessian[c, c] = 1.0


@compiled
def is_finite(matrix: Floats) -> bool:
    """Whether the sum of all entries is finite."""
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total += matrix[i, j]
    return bool(np.isfinite(total))


@compiled
def add_bend(hessian: Floats, step: Floats, bent: Floats) -> None:
    """Correct the step, unless the correction is too large to be trusted."""
    length, change = 0.0, 0.0
    for c in range(len(step)):
        length += hessian[c, c] * step[c] ** 2
        change += hessian[c, c] * bent[c] ** 2
    if change <= MOST_BEND**2 * length:
        for c in range(len(step)):
            step[c] += bent[c]


@compiled
def levenberg_marquardt(
    problem: Any, now: Any, new: Any, fixed: Bools, limits: Floats, pace: Pace
) -> tuple[float, Any]:
    """The smallest cost found when starting from `now.parameters`, and its point.

    new: room for another point.  fixed: which of the first parameters stay as they are.  limits (2, n):
    lower and upper bounds of the first n, within which they must start.
    """
    size = len(now.parameters)
    gradient, new_gradient = np.empty(size), np.empty(size)
    hessian, new_hessian = np.empty((size, size)), np.empty((size, size))
    step, bent, factor = np.empty(size), np.empty(size), np.empty((size, size))
    cost = evaluate(problem, now)
    if size == 0 or not np.isfinite(cost):
        return cost, now
    expand(problem, now, gradient, hessian)
    if not is_finite(hessian):  # derivatives may overflow where values do not
        return cost, now
    hold(fixed, gradient, hessian)
    hold_at_limits(limits, now.parameters, gradient, hessian)
    damping, stalled, crawling = pace.damping, 0, False
    for _ in range(pace.iterations):
        if damping > DAMPING_MAX or rings():
            break
        if not solve_damped(hessian, gradient, damping, step, factor):
            damping *= NOT_DEFINITE
            continue
        if pace.bends and crawling:
            for c in range(size):
                new.parameters[c] = now.parameters[c] + PROBE * step[c]
            if bend(problem, now, new.parameters, step, new_gradient):
                hold(fixed, new_gradient, hessian)
                if solve_damped(hessian, new_gradient, damping, bent, factor):
                    add_bend(hessian, step, bent)
        for c in range(size):
            new.parameters[c] = now.parameters[c] + step[c]
            if c < limits.shape[1]:
                new.parameters[c] = min(max(new.parameters[c], limits[0, c]), limits[1, c])
        new_cost = evaluate(problem, new)
        better = new_cost < cost
        if better:
            expand(problem, new, new_gradient, new_hessian)
            hold(fixed, new_gradient, new_hessian)
            hold_at_limits(limits, new.parameters, new_gradient, new_hessian)
            better = is_finite(new_hessian)
        if better:
            crawling = new_cost > cost * (1.0 - CRAWLING)
            stalled = stalled + 1 if new_cost > cost * (1.0 - pace.tolerance) else 0
            cost = new_cost
            now, new = new, now
            gradient, new_gradient = new_gradient, gradient
            hessian, new_hessian = new_hessian, hessian
            damping = max(damping * pace.shrink, DAMPING_MIN)
            if stalled > 1 or cost < pace.exact:
                break
        else:
            damping *= pace.grow
            if damping > pace.give_up and stalled > 0:
                break
    return cost, now
