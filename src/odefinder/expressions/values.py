"""What compiled code asks about an opcode: how many arguments it has, and its value."""

from __future__ import annotations

import math

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
    VAR,
)


@inlined
def arguments_left(left: int, op: int) -> int:
    """How many arguments an expression in prefix order still waits for after a node; 0: it is complete.

    left: the same before the node, 0 where it begins an expression.
    """
    if left == 0:
        left = 1
    if op in (ADD, MUL, POW):
        return left + 1
    return left - 1 if op <= VAR else left


@inlined
def unary(op: int, a: float) -> float:
    """The value of a one-argument operator; never raises, NaN outside the domain."""
    if op == SQUARE:
        return a * a
    elif op == SIN:
        return math.sin(a)
    elif op == COS:
        return math.cos(a)
    elif op == INV:
        return 1.0 / a
    elif op == EXP:
        return math.exp(a)
    elif op == CUBE:
        return a * a * a
    elif op == LOG:
        return math.log(a)
    elif op == SQRT:
        return math.sqrt(a)
    elif op == ABS:
        return abs(a)
    elif op == TANH:
        return math.tanh(a)
    elif op == TAN:
        return math.tan(a)
    square = a * a
    return square * square if op == POW4 else square * square * a
