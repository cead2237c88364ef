"""The canonical form of a program: one way to write what can be written in many.

Like terms are merged, products of a sum multiplied out (but not products of several sums, nor
powers of sums), terms and factors stand in a fixed order, and no constant is free to move:

    inside a power, abs, log or real power   x + b           the leading coefficient is 1 (or -1)
    inside an inverse                        1 + a x         the constant is 1, if there is one
    inside sin, tan, tanh                    a x + b         a > 0, and |b| <= pi/2 (not for tanh)
    inside exp                               a x             no constant

so that a target of the network holds only what the data can tell: constants that can move without changing
the value, and terms in random order, are entropy that no network can learn.
The form keeps its shape under rescaling of variables and time; only a logarithm splits off a constant.
"""

from __future__ import annotations

import threading
from typing import cast

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical.atoms import collected, emit_sum, variable_atom
from odefinder.expressions.canonical.functions import function, power
from odefinder.expressions.canonical.pool import FAILED, N_CODE, Pool, make_pool, merged, reset
from odefinder.expressions.canonical.rules import number, product, single_factor, whole_power
from odefinder.expressions.program import (
    ADD,
    CONST,
    INV,
    MAX_NODES,
    MUL,
    POW,
    POW5,
    SQUARE,
    VAR,
    Ops,
    Program,
    Values,
)

__all__ = ["Pool", "canonical", "canonicalise", "make_pool", "skeleton", "structure"]


@compiled
def canonicalise(
    pool: NDArray[np.void], ops: Ops, values: Values, n: int, explicit: bool, out_ops: Ops, out_values: Values
) -> int:
    """Write the canonical form of a system; returns its length, or -1 if it does not fit or is not finite.

    `explicit` keeps coefficients of exactly 1, so that the structure does not depend on values.
    """
    p = pool[0]
    reset(p)
    starts = np.empty(n + 1, np.int64)
    counts = np.empty(n + 1, np.int64)
    top = 0
    for i in range(n - 1, -1, -1):
        op = ops[i]
        if op == CONST:
            starts[top], counts[top] = number(p, values[i])
            top += 1
        elif op == VAR:
            starts[top], counts[top] = single_factor(p, 1.0, variable_atom(p, values[i]), 1.0)
            top += 1
        else:
            a, m = starts[top - 1], counts[top - 1]
            if op in (ADD, MUL, POW):
                top -= 1
                b, k = starts[top - 1], counts[top - 1]
                if op == ADD:
                    a, m = merged(p, a, m, b, k, 1.0)
                elif op == MUL:
                    a, m = product(p, a, m, b, k)
                else:
                    a, m = power(p, a, m, b, k)
            elif op == INV:
                a, m = whole_power(p, a, m, -1.0)
            elif op <= POW5:
                a, m = whole_power(p, a, m, op - SQUARE + 2.0)
            else:
                a, m = function(p, op, a, m)
            starts[top - 1], counts[top - 1] = a, m
        if p.size[FAILED]:
            return -1
    length = 0
    while top > 0:
        top -= 1
        outside, k = collected(p, starts[top], counts[top])
        first = p.size[N_CODE]
        emit_sum(p, outside, k, 1.0, False)
        length = _copy(p, first, explicit, length, out_ops, out_values)
        if p.size[FAILED]:
            return -1
    return length


@compiled
def _copy(p: Pool, first: int, explicit: bool, length: int, out_ops: Ops, out_values: Values) -> int:
    """Append the code from `first` on to the output."""
    i = first
    while i < p.size[N_CODE]:
        value = p.values[i]
        if not explicit and p.ops[i] == CONST:
            value = _without_rounding_error(value)
        one = p.ops[i] == MUL and p.ops[i + 1] == CONST and _without_rounding_error(p.values[i + 1]) == 1.0
        if one and not explicit:
            i += 2
            continue
        if length >= len(out_ops):
            p.size[FAILED] = 1
            return length
        out_ops[length] = p.ops[i]
        out_values[length] = value
        length += 1
        i += 1
    return length


@compiled
def _without_rounding_error(x: float) -> float:
    """2.9999999999999996 -> 3."""
    nearest = np.round(x)
    return nearest if abs(x - nearest) <= 1e-14 * abs(x) else x


_local = threading.local()


def _pool() -> NDArray[np.void]:
    """This thread's pool."""
    if not hasattr(_local, "pool"):
        _local.pool = make_pool()
    return cast(NDArray[np.void], _local.pool)


def canonical(program: Program, *, explicit: bool = False) -> Program:
    """The canonical form of an expression or a system."""
    ops = np.empty(MAX_NODES, np.int8)
    values = np.empty(MAX_NODES)
    length = canonicalise(_pool(), program.ops, program.values, len(program), explicit, ops, values)
    if length >= 0:
        return Program(ops[:length].copy(), values[:length].copy())
    raise ExpressionError(
        "the expression has no finite canonical form: it divides by zero, takes log or sqrt of a negative "
        "constant, overflows, or is far too large; simplify it"
    )


def skeleton(program: Program) -> bytes:
    """A key that two systems share exactly when they differ in the values of constants only."""
    return structure(canonical(program, explicit=True))


def structure(explicit: Program) -> bytes:
    """The skeleton of a program that is in explicit canonical form already."""
    indices = np.where(explicit.ops == VAR, explicit.values, 0.0).astype(np.uint8)
    return explicit.ops.tobytes() + indices.tobytes()
