"""How many digits of its constants a formula shows, and the form in which fewer are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import ADD, CONST, MUL, VAR, Program, concatenate, subtree_end

FEWEST, MOST = 4, 17  # 17 digits are exact
NEAR_ONE = 2  # digits more for a constant that would look like 1 and vanish from a product

Digits = int | None | Mapping[float, int]  # of all constants; of each, by its absolute value; None: exact


def digits_of(value: float, digits: Digits) -> int | None:
    """The digits of one constant; those that a mapping does not name have the fewest."""
    return digits.get(abs(value), FEWEST) if isinstance(digits, Mapping) else digits


def short_number(value: float, digits: int | None) -> str:
    """0.5, 12, 1.5e-7: with all digits that matter, or rounded to this many."""
    text = repr(float(value)) if digits is None else f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return mantissa.removesuffix(".0") + (f"e{int(exponent)}" if exponent else "")


def constant_text(value: float, digits: Digits) -> str:
    """A constant as it is printed."""
    number = digits_of(value, digits)
    text = short_number(value, number)
    if text in ("1", "-1") and number is not None:
        text = short_number(value, min(MOST, number + NEAR_ONE))
    return text


def as_printed(program: Program, digits: Digits) -> Program:
    """The program with the constants that a reader of its text gets."""
    return program.with_constants([float(constant_text(one, digits)) for one in program.constants])


def centred(program: Program, offsets: Sequence[float] | NDArray[np.float64]) -> Program:
    """b + a*x written as a*(x - c): where x stays far from 0, a and c need fewer digits than a and b.

    offsets: how far each variable stays from 0 compared with how much it changes; the one that stays
    farthest takes the constant.  Equations without such a pair of terms stay as they are.
    """
    return concatenate([_centred(component, offsets) for component in program.components()])


def _centred(component: Program, offsets: Sequence[float] | NDArray[np.float64]) -> Program:
    terms = _terms(component)
    constants = [k for k, term in enumerate(terms) if term.ops.tolist() == [CONST]]
    linear = {
        k: found
        for k, term in enumerate(terms)
        if (found := _linear(term)) is not None and found[1] < len(offsets)  # states, no inputs
    }
    if len(constants) != 1 or not linear:
        return component
    place = max(linear, key=lambda k: float(offsets[linear[k][1]]))
    factor, variable = linear[place]
    shift = terms[constants[0]].values[0] / factor
    if factor == 0.0 or not np.isfinite(shift):
        return component
    inside = [(ADD, 0.0), (VAR, float(variable)), (CONST, shift)]
    nodes = inside if factor == 1.0 else [(MUL, 0.0), (CONST, factor), *inside]
    joined = Program(np.array([op for op, _ in nodes], np.int8), np.array([value for _, value in nodes]))
    rest = [term for k, term in enumerate(terms) if k not in (place, constants[0])]
    plus = Program(np.full(len(rest), ADD, np.int8), np.zeros(len(rest)))
    return concatenate([plus, joined, *rest])


def _terms(component: Program) -> list[Program]:
    """The terms of the sum that an expression is."""
    if component.ops[0] != ADD:
        return [component]
    middle = subtree_end(component.ops, 1)
    first = Program(component.ops[1:middle], component.values[1:middle])
    second = Program(component.ops[middle:], component.values[middle:])
    return _terms(first) + _terms(second)


def _linear(term: Program) -> tuple[float, int] | None:
    """The coefficient and the variable of a*x or x."""
    ops = term.ops.tolist()
    if ops == [VAR]:
        return 1.0, int(term.values[0])
    if ops == [MUL, CONST, VAR]:
        return float(term.values[1]), int(term.values[2])
    return None
