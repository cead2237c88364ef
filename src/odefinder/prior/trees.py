"""Random unary-binary trees: the paper's generator of right-hand sides (section 3), compiled.

With the `default` settings the same trees carry more operators and simpler constants.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import (
    ABS,
    ADD,
    ARITY,
    CONST,
    COS,
    CUBE,
    EXP,
    INV,
    LOG,
    MUL,
    N_OPCODES,
    SIN,
    SQRT,
    SQUARE,
    TANH,
    VAR,
    Ops,
    Values,
)
from odefinder.numerics.randomness import Stream, chance, integer, pick, uniform
from odefinder.prior.constants import coefficient

MAX_BINARY = 8
MAX_DEPTH = 6  # a unary operator is inserted above subtrees less deep than this


class TreeSettings(NamedTuple):
    """What a random tree is made of."""

    binary_min: int
    binary_max: int
    unary_min: int
    unary_max: int
    add_share: float  # P(+) among binary operators; the rest is multiplication
    unary_weights: NDArray[np.float64]  # by opcode
    shift_share: float  # of unary operators whose argument is a x + b rather than a x
    simple_share: float  # of constants that are small whole numbers or short decimals


def _weights(**by_name: float) -> NDArray[np.float64]:
    codes = {
        "sin": SIN, "cos": COS, "inv": INV, "square": SQUARE, "cube": CUBE,
        "exp": EXP, "log": LOG, "sqrt": SQRT, "abs": ABS, "tanh": TANH,
    }  # fmt: skip
    weights = np.zeros(N_OPCODES)
    for name, weight in by_name.items():
        weights[codes[name]] = weight
    return weights


# The paper writes u from [u_max], its authors' generator draws 0..3: without 0 nothing would be polynomial.
PAPER = TreeSettings(1, 5, 0, 3, 0.75, _weights(sin=1, inv=1, square=1), 1.0, 0.0)
DEFAULT = TreeSettings(
    1, 4, 0, 2, 0.7,
    _weights(sin=3, cos=1, inv=3, square=3, cube=1.5, exp=1.5, log=0.7, sqrt=0.7, abs=0.5, tanh=0.8),
    0.4, 0.4,
)  # fmt: skip


def _completions() -> NDArray[np.float64]:
    """ways[e, n]: how many prefix orders fill e open places with n more binary nodes."""
    ways = np.zeros((MAX_BINARY + 3, MAX_BINARY + 1))
    ways[0, 0] = 1.0
    for n in range(MAX_BINARY + 1):
        for e in range(1, MAX_BINARY + 2):
            ways[e, n] = ways[e - 1, n] + (ways[e + 1, n - 1] if n > 0 else 0.0)
        ways[MAX_BINARY + 2, n] = ways[MAX_BINARY + 1, n]
    return ways


_WAYS = _completions()


@compiled
def _binary_tree(stream: Stream, b: int, add_share: float, dimension: int, ops: Ops, values: Values) -> int:
    """A binary tree with b inner nodes, all shapes equally likely, leaves uniform variables; its length."""
    open_places, left, n = 1, b, 0
    while open_places > 0:
        inner = 0.0
        if left > 0:
            inner = _WAYS[open_places + 1, left - 1] / _WAYS[open_places, left]
        if uniform(stream) < inner:
            ops[n] = ADD if chance(stream, add_share) else MUL
            values[n] = 0.0
            open_places, left = open_places + 1, left - 1
        else:
            ops[n] = VAR
            values[n] = integer(stream, 0, dimension - 1)
            open_places -= 1
        n += 1
    return n


@compiled
def _depths(ops: Ops, n: int, depths: NDArray[np.int64]) -> None:
    """Depth of the subtree of every node; a leaf has depth 0."""
    stack = np.empty(n + 1, np.int64)
    top = 0
    for i in range(n - 1, -1, -1):
        depth = 0
        for _ in range(ARITY[ops[i]]):
            top -= 1
            depth = max(depth, stack[top] + 1)
        depths[i] = stack[top] = depth
        top += 1


@compiled
def _insert_unary(stream: Stream, weights: NDArray[np.float64], ops: Ops, values: Values, n: int) -> int:
    """Put a unary operator above a random node whose subtree is not too deep; the new length."""
    depths = np.empty(n, np.int64)
    _depths(ops, n, depths)
    eligible = 0
    for i in range(n):
        eligible += depths[i] < MAX_DEPTH
    chosen = integer(stream, 0, eligible - 1)
    for place in range(n):
        if depths[place] < MAX_DEPTH:
            if chosen == 0:
                break
            chosen -= 1
    for i in range(n, place, -1):
        ops[i] = ops[i - 1]
        values[i] = values[i - 1]
    ops[place] = pick(stream, weights)
    values[place] = 0.0
    return n + 1


@compiled
def random_tree(
    stream: Stream, settings: TreeSettings, dimension: int, scratch_ops: Ops, scratch_values: Values,
    out_ops: Ops, out_values: Values,
) -> int:  # fmt: skip
    """Write one random right-hand side; returns its length.

    Every term of a sum gets a coefficient, every argument of a unary operator becomes affine.
    """
    b = integer(stream, settings.binary_min, settings.binary_max)
    n = _binary_tree(stream, b, settings.add_share, dimension, scratch_ops, scratch_values)
    for _ in range(integer(stream, settings.unary_min, settings.unary_max)):
        n = _insert_unary(stream, settings.unary_weights, scratch_ops, scratch_values, n)
    above = np.empty(n + 1, np.int64)  # the operator above each open place; ADD above the root
    above[0] = ADD
    top, length = 1, 0
    for i in range(n):
        op = scratch_ops[i]
        top -= 1
        parent = above[top]
        affine = parent > MUL and chance(stream, settings.shift_share)
        if affine:
            out_ops[length], out_values[length] = ADD, 0.0
            out_ops[length + 1], out_values[length + 1] = CONST, coefficient(stream, settings.simple_share)
            length += 2
        if parent > MUL or (parent == ADD and op != ADD):
            out_ops[length], out_values[length] = MUL, 0.0
            out_ops[length + 1], out_values[length + 1] = CONST, coefficient(stream, settings.simple_share)
            length += 2
        out_ops[length], out_values[length] = op, scratch_values[i]
        length += 1
        for _ in range(ARITY[op]):
            above[top] = op
            top += 1
    return length
