"""The values of an expression of genes at all points at once: one pass, with a loop over points per gene.

A run evaluates each expression once, so translating it would not pay; the loops over points become vector
instructions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.genetic.functions import exp_all, log_all, wave_all
from odefinder.bench.genetic.genes import DIV, SUB
from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, CONST, COS, CUBE, EXP, LOG, MUL, SIN, SQUARE, VAR, Ops, Values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Work(NamedTuple):
    """The arrays in which expressions are evaluated, allocated once by `make_work`."""

    rows: Floats  # (1 + genes, 2, points): two places for each level of the stack
    level: Ints  # (genes,): where the value of each level is: -1 - d for variable d, else the place 0 or 1
    ops: Ops  # (genes,): room for an expressed genome
    values: Values  # (genes,)
    result: Floats  # (points,)
    scratch: Floats  # (points,)


@compiled
def make_work(genes: int, points: int) -> Work:
    """Room for expressions of this many genes at this many points."""
    return Work(
        np.empty((genes, 2, points)),
        np.empty(genes, np.int64),
        np.empty(genes, np.int8),
        np.empty(genes),
        np.empty(points),
        np.empty(points),
    )


@compiled
def _combine(op: int, a: Floats, b: Floats, out: Floats) -> None:
    n = len(out)
    if op == ADD:
        for i in range(n):
            out[i] = a[i] + b[i]
    elif op == SUB:
        for i in range(n):
            out[i] = a[i] - b[i]
    elif op == MUL:
        for i in range(n):
            out[i] = a[i] * b[i]
    elif op == DIV:
        for i in range(n):
            out[i] = a[i] / b[i]


@compiled
def _apply(op: int, a: Floats, out: Floats, scratch: Floats) -> None:
    n = len(out)
    if op == SQUARE:
        for i in range(n):
            out[i] = a[i] * a[i]
    elif op == CUBE:
        for i in range(n):
            out[i] = a[i] * a[i] * a[i]
    elif op == EXP:
        exp_all(a, out, scratch)
    elif op == LOG:
        log_all(a, out, scratch)
    elif op == SIN:
        wave_all(a, out, scratch, 0)
    elif op == COS:
        wave_all(a, out, scratch, 1)
    else:
        for i in range(n):
            out[i] = math.sqrt(abs(a[i]))


@compiled
def evaluate_genes(ops: Ops, values: Values, n: int, x: Floats, work: Work) -> None:
    """work.result = the values of a complete expression of n genes at points x (D, points).

    It never raises: undefined values are NaN or infinite.  A result is never written over an operand, so that
    the loops are vectorised.
    """
    points = x.shape[1]
    rows, level = work.rows, work.level
    top = 0
    for i in range(n - 1, -1, -1):
        op = ops[i]
        if op == VAR:
            level[top] = -1 - int(values[i])
            top += 1
        elif op == CONST:
            for k in range(points):
                rows[top, 0, k] = values[i]
            level[top] = 0
            top += 1
        else:
            place = level[top - 1]
            a = x[-1 - place] if place < 0 else rows[top - 1, place, :points]
            if op in (ADD, SUB, MUL, DIV):
                top -= 1
                other = level[top - 1]
                b = x[-1 - other] if other < 0 else rows[top - 1, other, :points]
                target = 1 if other == 0 else 0
                _combine(op, a, b, rows[top - 1, target, :points])
            else:
                target = 1 if place == 0 else 0
                _apply(op, a, rows[top - 1, target, :points], work.scratch)
            level[top - 1] = target
    place = level[0]
    for k in range(points):
        work.result[k] = x[-1 - place, k] if place < 0 else rows[0, place, k]


@compiled
def mean_square(result: Floats, target: Floats) -> float:
    """The mean squared error; inf if not finite."""
    total = 0.0
    for i in range(len(target)):
        difference = result[i] - target[i]
        total += difference * difference
    return total / len(target) if np.isfinite(total) else np.inf
