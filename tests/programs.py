"""Random programs for property tests."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

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
    OPCODE_BY_NAME,
    POW,
    POW4,
    POW5,
    SIN,
    SQRT,
    SQUARE,
    TAN,
    TANH,
    VAR,
    Program,
    concatenate,
    make_program,
)
from odefinder.numerics.evaluate import evaluate

UNARY = [INV, SQUARE, CUBE, POW4, POW5, SIN, COS, TAN, EXP, LOG, SQRT, ABS, TANH]

# A tree is (opcode, value, children): easier to rewrite than a flat program.
Tree = tuple[Any, ...]


def flat(tree: Tree) -> Program:
    """The prefix program of a tree."""
    ops, values = [], []

    def walk(node: Tree) -> None:
        ops.append(node[0])
        values.append(node[1])
        for child in node[2]:
            walk(child)

    walk(tree)
    return make_program(ops, values)


def nested(program: Program) -> Tree:
    """The tree of a program with one expression."""
    nodes = zip(program.ops.tolist(), program.values.tolist(), strict=True)

    def read() -> Tree:
        op, value = next(nodes)
        return op, value, tuple(read() for _ in range(ARITY[op]))

    return read()


def words(text: str) -> Program:
    """A program from its prefix words: `words("add x0 mul 2 x1")`."""
    ops, values = [], []
    for word in text.split():
        if word in OPCODE_BY_NAME:
            ops.append(OPCODE_BY_NAME[word])
            values.append(0.0)
        elif word.startswith("x"):
            ops.append(VAR)
            values.append(float(word[1:]))
        else:
            ops.append(CONST)
            values.append(float(word))
    return make_program(ops, values)


def trees(dimension: int = 3, unary: list[int] = UNARY, max_leaves: int = 8) -> st.SearchStrategy[Tree]:
    """Random expression trees with moderate constants."""
    constants = st.one_of(
        st.integers(-3, 3).filter(bool).map(float),
        st.floats(0.1, 5.0).map(lambda v: float(np.round(v, 2))),
        st.floats(-5.0, -0.1).map(lambda v: float(np.round(v, 2))),
    )
    leaf = st.one_of(
        st.integers(0, dimension - 1).map(lambda i: (VAR, float(i), ())),
        constants.map(lambda c: (CONST, c, ())),
    )

    def grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        binary = st.tuples(st.sampled_from([ADD, ADD, MUL]), st.just(0.0), st.tuples(inner, inner))
        single = st.tuples(st.sampled_from(unary), st.just(0.0), st.tuples(inner))
        power = st.tuples(
            st.just(POW), st.just(0.0), st.tuples(inner, constants.map(lambda c: (CONST, abs(c), ())))
        )
        return st.one_of(binary, binary, single, power) if POW not in unary else st.one_of(binary, single)

    return st.recursive(leaf, grow, max_leaves=max_leaves)


def programs(dimension: int = 3, max_leaves: int = 8) -> st.SearchStrategy[Program]:
    """Random valid programs of one expression."""
    return trees(dimension, max_leaves=max_leaves).map(flat)


def values_at(program: Program, points: np.ndarray) -> np.ndarray:
    """One expression at many points (n, dimension) -> (n,)."""
    system = concatenate([program, *[words("0")] * (points.shape[1] - 1)])
    return evaluate(system, points)[:, 0]
