"""How many digits of its constants a formula shows, and the form in which fewer are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import ADD, CONST, MUL, VAR, Program, concatenate
from odefinder.expressions.terms import linear_term, node, sum_of, terms_of

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
    terms = terms_of(component)
    constants = [k for k, term in enumerate(terms) if term.ops.tolist() == [CONST]]
    linear = {
        k: found
        for k, term in enumerate(terms)
        if (found := linear_term(term)) is not None and found[1] < len(offsets)  # states, no inputs
    }
    if len(constants) != 1 or not linear:
        return component
    place = max(linear, key=lambda k: float(offsets[linear[k][1]]))
    factor, variable = linear[place]
    shift = terms[constants[0]].values[0] / factor
    if factor == 0.0 or not np.isfinite(shift):
        return component
    inside = [node(ADD), node(VAR, variable), node(CONST, shift)]
    joined = concatenate(inside if factor == 1.0 else [node(MUL), node(CONST, factor), *inside])
    rest = [term for k, term in enumerate(terms) if k not in (place, constants[0])]
    return sum_of([joined, *rest])
