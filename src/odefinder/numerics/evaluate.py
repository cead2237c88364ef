"""Values and derivatives of a program: f(x), df/dx and df/dconstants.

`eval_system` runs the prefix program as it stands, for single evaluations in compiled code.  Whoever
evaluates one program often (the integrator) translates it first: see `bytecode.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled, kernel
from odefinder.errors import DataError
from odefinder.expressions.program import (
    ADD,
    CONST,
    MUL,
    POW,
    VAR,
    Program,
    check_variables,
    component_bounds,
)
from odefinder.expressions.values import unary
from odefinder.numerics.engine.bytecode import LANES, LAST_STAGE, bytecode, run, translate
from odefinder.numerics.engine.gradients import gradients
from odefinder.numerics.engine.vectors import zeros


@kernel
def eval_system(
    ops: NDArray[Any], values: NDArray[Any], n: int, x: NDArray[Any], stack: NDArray[Any], out: NDArray[Any]
) -> None:
    """f(x) of the first n nodes, D expressions one after the other: out[0..D-1].  x has all variables.

    One pass from right to left; `stack` needs n places at most.  It never raises: 1/0 is inf, a logarithm,
    root or fractional power of a negative number is NaN, an overflow is inf.
    """
    top = 0
    for i in range(n - 1, -1, -1):
        op = ops[i]
        if op == VAR:
            stack[top] = x[np.uint64(values[i])]
            top += 1
        elif op == CONST:
            stack[top] = values[i]
            top += 1
        elif op == MUL:
            top -= 1
            stack[top - 1] *= stack[top]
        elif op == ADD:
            top -= 1
            stack[top - 1] += stack[top]
        elif op == POW:
            top -= 1
            stack[top - 1] = stack[top] ** stack[top - 1]
        else:
            stack[top - 1] = unary(op, stack[top - 1])
    for d in range(top):
        out[d] = stack[top - 1 - d]


@compiled
def _evaluate(ops: NDArray[Any], values: NDArray[Any], x: NDArray[Any], out: NDArray[Any]) -> None:
    n_points, variables = x.shape
    dimension = out.shape[1]
    target = bytecode(len(ops), variables)
    translate(ops, values, len(ops), dimension, variables, target)
    for i in range(n_points):
        for d in range(variables):
            target.slots[d * LANES] = x[i, d]
        run(target, 0)
        for d in range(dimension):
            out[i, d] = target.slots[target.roots[d]]


@compiled
def eval_gradients(
    ops: NDArray[Any],
    values: NDArray[Any],
    n: int,
    x: NDArray[Any],
    out: NDArray[Any],
    jacobian: NDArray[Any],
    constant_gradient: NDArray[Any],
    constant_component: NDArray[Any],
) -> None:
    """f and its derivatives at N points x (N, V) of the first n nodes.

    out (N, D), jacobian (N, D, D): df_i/dx_k for the D states; constant_gradient (N, constants): the
    derivative of the one component that holds the constant; constant_component (constants,): which that is.
    """
    n_points, variables = x.shape
    dimension = out.shape[1]
    target = bytecode(n, variables)
    translate(ops, values, n, dimension, variables, target)
    n_constants = target.counts[1]
    adjoint = zeros(len(target.slots))
    lanes = zeros(dimension * dimension * LANES)
    for c in range(n_constants):
        constant_component[c] = target.component[c]
    for first in range(0, n_points, LAST_STAGE):  # lanes 1 to 6 at once
        n_lanes = min(LAST_STAGE, n_points - first)
        for lane in range(1, n_lanes + 1):
            i = first + lane - 1
            for d in range(variables):
                target.slots[d * LANES + lane] = x[i, d]
            run(target, lane)
            for d in range(dimension):
                out[i, d] = target.slots[target.roots[d] + lane]
        gradients(target, dimension, adjoint, lanes)
        for lane in range(1, n_lanes + 1):
            i = first + lane - 1
            for d in range(dimension):
                for k in range(dimension):
                    jacobian[i, d, k] = lanes[(d * dimension + k) * LANES + lane]
            for c in range(n_constants):
                constant_gradient[i, c] = adjoint[(variables + c) * LANES + lane]


class Gradients(NamedTuple):
    """Values and derivatives of a system at N points."""

    f: NDArray[np.float64]  # (N, D)
    jacobian: NDArray[np.float64]  # (N, D, D): df_i/dx_k
    constants: NDArray[np.float64]  # (N, constants): the derivative of the constant's own component
    components: NDArray[np.int64]  # (constants,): the component that each constant belongs to


def evaluate(program: Program, x: NDArray[Any]) -> NDArray[np.float64]:
    """f(x) at every row of x: (N, V) -> (N, D); the D states are the first of the V variables."""
    x, dimension = _points(program, x)
    out = np.empty((len(x), dimension))
    _evaluate(program.ops, program.values, x, out)
    return out


def evaluate_gradients(program: Program, x: NDArray[Any]) -> Gradients:
    """f(x) at every row of x, with the derivatives by the variables and by the constants."""
    x, dimension = _points(program, x)
    n_points = len(x)
    n_constants = int(np.count_nonzero(program.ops == CONST))
    result = Gradients(
        np.empty((n_points, dimension)),
        np.empty((n_points, dimension, dimension)),
        np.empty((n_points, n_constants)),
        np.empty(n_constants, dtype=np.int64),
    )
    eval_gradients(program.ops, program.values, len(program), x, *result)
    return result


def jacobian(program: Program, x: NDArray[Any]) -> NDArray[np.float64]:
    """df_i/dx_k at one point: (V,) -> (D, D)."""
    return evaluate_gradients(program, np.asarray(x)[None]).jacobian[0]


def _points(program: Program, x: NDArray[Any]) -> tuple[NDArray[np.float64], int]:
    """Points as (N, V), checked against the program, and its number of equations."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    if x.ndim != 2:
        raise DataError(f"points must be an array (points, variables), got the shape {x.shape}")
    check_variables(program, x.shape[1])
    return x, len(component_bounds(program.ops))
