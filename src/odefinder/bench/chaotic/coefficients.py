"""The score of the noise study: the error of all coefficients of a polynomial system together.

Both systems become matrices of coefficients, a row for each equation and a column for each monomial that
occurs.  The error is |found - true| / |true| in the spectral norm, as the study computes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.expressions.drafts import operator_value
from odefinder.expressions.program import ADD, CONST, CUBE, MUL, POW, POW4, POW5, SQUARE, VAR, Program
from odefinder.expressions.walk import fold

Polynomial = dict[tuple[int, ...], float]  # exponents of the variables -> coefficient

FOUND = 0.1  # a system with a smaller error counts as found
MOST_TERMS = 10_000
HIGHEST_POWER = 20
FIXED_POWERS = {SQUARE: 2, CUBE: 3, POW4: 4, POW5: 5}


def coefficient_error(found: Program, truth: Program) -> float:
    """The normalised error; infinite where the system found is not polynomial."""
    ours, theirs = polynomials(found), polynomials(truth)
    if theirs is None:
        raise ValueError("coefficients are compared with polynomial systems only")
    if ours is None or len(ours) != len(theirs):
        return np.inf
    monomials = sorted({powers for side in (*ours, *theirs) for powers in side})
    one, other = (
        np.array([[side.get(powers, 0.0) for powers in monomials] for side in system])
        for system in (ours, theirs)
    )
    if not np.isfinite(one).all():
        return np.inf
    return float(np.linalg.norm(one - other, ord=2) / np.linalg.norm(other, ord=2))


def polynomials(program: Program) -> list[Polynomial] | None:
    """The right-hand sides, expanded; None if one of them is not a polynomial."""
    components = program.components()
    sides = [_expanded(component, len(components)) for component in components]
    return None if any(side is None for side in sides) else [side for side in sides if side is not None]


def _expanded(component: Program, dimension: int) -> Polynomial | None:
    one = (0,) * dimension

    def build(op: int, value: float, arguments: Sequence[Polynomial | None]) -> Polynomial | None:
        if op == CONST:
            return {one: value}
        if op == VAR:
            return {tuple(int(j == value) for j in range(dimension)): 1.0}
        known = [argument for argument in arguments if argument is not None]
        if len(known) < len(arguments):
            return None
        if op == ADD:
            return _sum(*known)
        if op == MUL:
            return _product(*known)
        if op in FIXED_POWERS:
            return _power(known[0], FIXED_POWERS[op])
        if all(set(argument) <= {one} for argument in known):  # a function of constants
            return {one: operator_value(op, *(argument.get(one, 0.0) for argument in known))}
        if op == POW and set(known[1]) <= {one}:
            exponent = known[1].get(one, 0.0)
            if exponent.is_integer() and 0 <= exponent <= HIGHEST_POWER:
                return _power(known[0], int(exponent))
        return None

    return fold(component.ops, component.values, build)


def _sum(one: Polynomial, other: Polynomial) -> Polynomial:
    total = dict(one)
    for powers, value in other.items():
        total[powers] = total.get(powers, 0.0) + value
    return total


def _product(one: Polynomial, other: Polynomial) -> Polynomial | None:
    if len(one) * len(other) > MOST_TERMS:
        return None
    total: Polynomial = {}
    for left, a in one.items():
        for right, b in other.items():
            powers = tuple(i + j for i, j in zip(left, right, strict=True))
            total[powers] = total.get(powers, 0.0) + a * b
    return total


def _power(base: Polynomial, exponent: int) -> Polynomial | None:
    result: Polynomial | None = {(0,) * len(next(iter(base))): 1.0}
    for _ in range(exponent):
        if result is None:
            return None
        result = _product(result, base)
    return result
