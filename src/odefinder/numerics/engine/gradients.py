"""Derivatives of a translated program, for all stages of a Runge-Kutta step in one reverse sweep.

The components are disjoint trees, so one sweep over all instructions gives the whole Jacobian and, for every
constant, the derivative of the one component it belongs to.  Each instruction handles the eight lanes of its
slots (see `bytecode.py`) as one vector operation.

Conventions where a derivative does not exist: that of |x| at 0 is 0; that of a^b with respect to b is 0 for
a <= 0, where the formula a^b log(a) would be NaN although b is nearly always a constant there.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from odefinder.compiling.jit import inlined
from odefinder.expressions.program import (
    ABS,
    ADD,
    COS,
    CUBE,
    EXP,
    INV,
    LOG,
    MUL,
    POW,
    POW4,
    SIN,
    SQRT,
    SQUARE,
    TAN,
    TANH,
)
from odefinder.numerics.engine.bytecode import ADD_ADD, ADD_MUL, LANES, LAST_STAGE, MUL_ADD, MUL_MUL, Bytecode
from odefinder.numerics.engine.vectors import add, fill, load, mul, store


@inlined
def _unary_derivative(op: int, a: float, v: float) -> float:
    """The derivative of a one-argument operator at a, where its value is v."""
    if op == SIN:
        return math.cos(a)
    elif op == COS:
        return -math.sin(a)
    elif op == LOG:
        return 1.0 / a
    elif op == SQRT:
        return 0.5 / v
    elif op == ABS:
        return 1.0 if a > 0.0 else (-1.0 if a < 0.0 else 0.0)
    elif op == TANH:
        return 1.0 - v * v
    elif op == TAN:
        return 1.0 + v * v
    elif op == POW4:
        return 4.0 * a * a * a
    return 5.0 * a * a * a * a


@inlined
def _accumulate(adjoint: NDArray[Any], slot: int, change: Any) -> None:
    store(adjoint, slot, add(load(adjoint, slot), change))


@inlined
def gradients(target: Bytecode, dimension: int, adjoint: NDArray[Any], jacobian: NDArray[Any]) -> None:
    """The derivatives in all lanes, from the slots that `run` filled.

    jacobian[(i * D + k) * LANES + lane] is df_i/dx_k for the D states; adjoint[(V + c) * LANES + lane] is the
    derivative of constant c's own component with respect to it, after V variables.  Lanes 0 and 7 may hold
    anything.
    """
    code, slots = target.code, target.slots
    m, first = target.counts[0], target.counts[2]
    zero = fill(0.0)
    for i in range(0, first + m * LANES, LANES):
        store(adjoint, i, zero)
    for d in range(dimension):
        store(adjoint, target.roots[d], fill(1.0))
        start = target.ends[d + 1] if d + 1 < dimension else 0
        for j in range(target.ends[d] - 1, start - 1, -1):
            op = code[j, 0]
            a, b, c = code[j, 1], code[j, 2], code[j, 3]
            v = first + j * LANES
            g = load(adjoint, v)
            if op == MUL_ADD:
                _accumulate(adjoint, a, mul(g, load(slots, b)))
                _accumulate(adjoint, b, mul(g, load(slots, a)))
                _accumulate(adjoint, c, g)
            elif op == MUL:
                _accumulate(adjoint, a, mul(g, load(slots, b)))
                _accumulate(adjoint, b, mul(g, load(slots, a)))
            elif op == MUL_MUL:
                gc = mul(g, load(slots, c))
                _accumulate(adjoint, a, mul(gc, load(slots, b)))
                _accumulate(adjoint, b, mul(gc, load(slots, a)))
                _accumulate(adjoint, c, mul(g, mul(load(slots, a), load(slots, b))))
            elif op == ADD:
                _accumulate(adjoint, a, g)
                _accumulate(adjoint, b, g)
            elif op == ADD_ADD:
                _accumulate(adjoint, a, g)
                _accumulate(adjoint, b, g)
                _accumulate(adjoint, c, g)
            elif op == ADD_MUL:
                _accumulate(adjoint, c, mul(g, add(load(slots, a), load(slots, b))))
                gc = mul(g, load(slots, c))
                _accumulate(adjoint, a, gc)
                _accumulate(adjoint, b, gc)
            elif op == SQUARE:
                _accumulate(adjoint, a, mul(g, mul(fill(2.0), load(slots, a))))
            elif op == INV:
                value = load(slots, v)
                _accumulate(adjoint, a, mul(g, mul(fill(-1.0), mul(value, value))))
            elif op == EXP:
                _accumulate(adjoint, a, mul(g, load(slots, v)))
            elif op == CUBE:
                argument = load(slots, a)
                _accumulate(adjoint, a, mul(g, mul(fill(3.0), mul(argument, argument))))
            elif op == POW:
                for lane in range(1, LAST_STAGE + 1):
                    seed = adjoint[v + lane]
                    base, exponent = slots[a + lane], slots[b + lane]
                    if exponent != 0.0:
                        adjoint[a + lane] += seed * exponent * base ** (exponent - 1.0)
                    if base > 0.0:
                        adjoint[b + lane] += seed * slots[v + lane] * math.log(base)
            else:
                for lane in range(1, LAST_STAGE + 1):
                    slope = _unary_derivative(op, slots[a + lane], slots[v + lane])
                    adjoint[a + lane] += adjoint[v + lane] * slope
        for k in range(dimension):
            store(jacobian, (d * dimension + k) * LANES, load(adjoint, k * LANES))
            store(adjoint, k * LANES, zero)
