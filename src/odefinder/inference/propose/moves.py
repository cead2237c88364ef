"""Small changes to an equation's structure: what a local search may try next.

Terms and factors are left out, functions replaced by their arguments, monomials added or multiplied.  The
constants of the results are only starting values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from odefinder.expressions.drafts import finished
from odefinder.expressions.monomials import exponents, monomial
from odefinder.expressions.program import (
    ADD,
    ARITY,
    CONST,
    COS,
    EXP,
    INV,
    MUL,
    SIN,
    SQUARE,
    VAR,
    Program,
    concatenate,
    subtree_end,
)
from odefinder.expressions.terms import node, term_bounds

START = 0.1  # coefficient of an added term, in canonical units


def smaller(program: Program) -> Iterator[Program]:
    """The equation with one node replaced by one of its arguments: a term, factor or function left out."""
    for i in range(len(program)):
        arity = int(ARITY[program.ops[i]])
        if arity == 0:
            continue
        end = subtree_end(program.ops, i)
        child = i + 1
        for _ in range(arity):
            after = subtree_end(program.ops, child)
            if program.ops[child] != CONST or program.ops[i] == ADD:
                part = Program(program.ops[child:after], program.values[child:after])
                yield _replaced(program, i, end, part)
            child = after


def larger(program: Program, dimension: int) -> Iterator[Program]:
    """The equation with one more term, or with one of its terms multiplied by a variable."""
    _, *monomials = exponents(dimension, 3 if dimension <= 3 else 2)  # without the constant
    for powers in monomials:
        added = [node(MUL), node(CONST, START), finished(monomial(powers))]
        yield concatenate([node(ADD), program, *added])
    yield concatenate([node(ADD), program, node(CONST, START)])
    for i, end in term_bounds(program):
        for variable in range(dimension):
            term = Program(program.ops[i:end], program.values[i:end])
            yield _replaced(program, i, end, concatenate([node(MUL), term, node(VAR, variable)]))


def altered(program: Program, dimension: int) -> Iterator[Program]:
    """The equation with a variable replaced by another or by a function of it, or with a saturating term."""
    for i in np.flatnonzero(program.ops == VAR).tolist():
        own = int(program.values[i])
        for variable in range(dimension):
            if variable != own:
                yield _replaced(program, i, i + 1, node(VAR, variable))
        inner = concatenate([node(MUL), node(CONST, 1.0), node(VAR, own)])
        for function in (SIN, COS, EXP, SQUARE):
            yield _replaced(program, i, i + 1, concatenate([node(function), inner]))
    for i, end in term_bounds(program):
        term = Program(program.ops[i:end], program.values[i:end])
        for variable in range(dimension):
            below = [node(INV), node(ADD), node(CONST, 1.0), node(MUL), node(CONST, 1.0)]
            yield _replaced(program, i, end, concatenate([node(MUL), term, *below, node(VAR, variable)]))


def _replaced(program: Program, start: int, end: int, part: Program) -> Program:
    return Program(
        np.concatenate([program.ops[:start], part.ops, program.ops[end:]]),
        np.concatenate([program.values[:start], part.values, program.values[end:]]),
    )
