"""The terms of a sum: where they are in a program, and putting them together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.expressions.program import ADD, CONST, MUL, VAR, Program, concatenate, subtree_end


def node(op: int, value: float = 0.0) -> Program:
    """A program of one node, which need not be a whole expression."""
    return Program(np.array([op], np.int8), np.array([value], np.float64))


def term_bounds(program: Program, start: int = 0) -> list[tuple[int, int]]:
    """Start and end of every term of the outermost sum of the expression that begins at `start`."""
    found: list[tuple[int, int]] = []
    waiting = [start]
    while waiting:
        i = waiting.pop()
        if program.ops[i] == ADD:
            waiting += [subtree_end(program.ops, i + 1), i + 1]
        else:
            found.append((i, subtree_end(program.ops, i)))
    return found


def terms_of(equation: Program) -> list[Program]:
    """The terms of the outermost sum."""
    return [Program(equation.ops[a:b], equation.values[a:b]) for a, b in term_bounds(equation)]


def linear_term(term: Program) -> tuple[float, int] | None:
    """The coefficient and the variable of a*x or x; None for any other term."""
    ops = term.ops.tolist()
    if ops == [VAR]:
        return 1.0, int(term.values[0])
    if ops == [MUL, CONST, VAR]:
        return float(term.values[1]), int(term.values[2])
    return None


def sum_of(terms: Sequence[Program]) -> Program:
    """The sum of expressions; without any, 0."""
    if not terms:
        return node(CONST)
    return concatenate([*[node(ADD)] * (len(terms) - 1), *terms])
