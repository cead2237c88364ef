"""Genomes: one expression in prefix order, in which single genes may be switched off.

A gene is an opcode of `program.py` or one of two others: subtraction and division, which systems write with
-1 and `inv`.  As in the package `ellyn`, roots and logarithms are those of the absolute value.

With every gene on, a genome is a complete expression.  Read from right to left, genes that are off are
skipped, and so are operators that lack arguments; the leftmost complete expression is the value.  So any
choice of genes makes an expression (La Cava's epigenetic programs), or none if no leaf is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.drafts import Draft, apply, divide, finished, negative, number, times, variable
from odefinder.expressions.program import (
    ABS,
    ADD,
    ARITY,
    CONST,
    COS,
    CUBE,
    EXP,
    LOG,
    MUL,
    N_OPCODES,
    SIN,
    SQRT,
    SQUARE,
    VAR,
    Ops,
    Program,
    Values,
)
from odefinder.expressions.walk import fold

SUB, DIV = N_OPCODES, N_OPCODES + 1
GENE_ARITY = np.array([*ARITY, 2, 2], dtype=np.int8)
BINARY = np.array([ADD, SUB, MUL, DIV], dtype=np.int8)
UNARY = np.array([EXP, LOG, SQUARE, CUBE, SQRT], dtype=np.int8)
UNARY_WITH_WAVES = np.array([EXP, LOG, SQUARE, CUBE, SQRT, SIN, COS], dtype=np.int8)

Bools = NDArray[np.bool_]


@compiled
def gene_end(ops: Ops, start: int) -> int:
    """One past the last gene of the subtree that begins at `start`."""
    open_arguments, position = 1, start
    while open_arguments > 0:
        open_arguments += GENE_ARITY[ops[position]] - 1
        position += 1
    return position


@compiled
def express(ops: Ops, values: Values, active: Bools, n: int, out_ops: Ops, out_values: Values) -> int:
    """Write the expression of the active genes among the first n; returns its length, 0 if there is none."""
    first = len(out_ops)  # written from the end: complete expressions, the newest one first
    complete = 0
    for i in range(n - 1, -1, -1):
        arity = GENE_ARITY[ops[i]]
        if active[i] and arity <= complete:
            first -= 1
            out_ops[first], out_values[first] = ops[i], values[i]
            complete += 1 - arity
    if complete == 0:
        return 0
    length = gene_end(out_ops, first) - first
    for i in range(length):  # move it to the beginning; nothing is overwritten before it is read
        out_ops[i], out_values[i] = out_ops[first + i], out_values[first + i]
    return length


def to_program(ops: Ops, values: Values) -> Program:
    """A complete expression of genes as a program; parts without variables become one number."""
    return finished(fold(ops, values, _draft, GENE_ARITY))


def _draft(op: int, value: float, arguments: Sequence[Draft]) -> Draft:
    """What a gene makes of its arguments; logarithms and roots are of absolute values."""
    if op == CONST:
        return number(value)
    if op == VAR:
        return variable(int(value))
    if len(arguments) == 2:
        return _binary(op, *arguments)
    (argument,) = arguments
    if op in (LOG, SQRT) and argument[0][0] not in (ABS, EXP, SQUARE):
        argument = apply(ABS, argument)
    return apply(op, argument)


def _binary(op: int, a: Draft, b: Draft) -> Draft:
    if op == SUB:
        return apply(ADD, a, negative(b))
    if op == DIV:
        return divide(a, b)
    return times(a, b) if op == MUL else apply(ADD, a, b)
