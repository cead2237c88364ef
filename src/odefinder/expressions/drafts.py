"""Drafts: expressions being built, with the rewriting that every reader of formulas shares.

Subtraction becomes a factor of -1, division becomes `inv`, powers become the operators of the table, and a
part without variables becomes one number (if that is finite).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from odefinder.errors import ExpressionError
from odefinder.expressions.program import (
    ADD,
    CONST,
    CUBE,
    EXP,
    INV,
    MAX_NODES,
    MUL,
    OPCODE_BY_NAME,
    POW,
    POW4,
    POW5,
    SQRT,
    SQUARE,
    VAR,
    Program,
    make_program,
)

Draft = list[tuple[int, float]]  # (opcode, value) in prefix order

_NAMED_OPERATORS = ("sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh")

_NUMPY: dict[int, Callable[..., Any]] = {
    ADD: np.add,
    MUL: np.multiply,
    POW: np.power,
    INV: lambda a: 1.0 / a,
    SQUARE: lambda a: a**2,
    CUBE: lambda a: a**3,
    POW4: lambda a: a**4,
    POW5: lambda a: a**5,
    **{OPCODE_BY_NAME[name]: getattr(np, name) for name in _NAMED_OPERATORS},
}


def operator_value(opcode: int, *arguments: float) -> float:
    """The value of one operator; where it is not defined, NaN or infinity, never an exception."""
    with np.errstate(all="ignore"):
        return float(_NUMPY[opcode](*map(np.float64, arguments)))


def number(value: float) -> Draft:
    """A constant."""
    return [(CONST, float(value))]


def variable(index: int) -> Draft:
    """A variable."""
    return [(VAR, float(index))]


def constant_of(draft: Draft) -> float | None:
    """The value of a draft that is one number."""
    return draft[0][1] if draft[0][0] == CONST else None


def _coefficient(draft: Draft) -> int | None:
    """The place of the number in a product that begins with one: after the `mul`s, as 2*x*y is (2*x)*y."""
    position = next(i for i, (op, _) in enumerate(draft) if op != MUL)
    return position if draft[position][0] == CONST else None


def _rescaled(draft: Draft, position: int, coefficient: float) -> Draft:
    """The product with another coefficient; a 1 is left out."""
    if coefficient == 1.0 and position > 0:
        return draft[: position - 1] + draft[position + 1 :]
    return [*draft[:position], (CONST, coefficient), *draft[position + 1 :]]


def apply(opcode: int, *arguments: Draft) -> Draft:
    """An operator and its arguments."""
    constants = [constant for argument in arguments if (constant := constant_of(argument)) is not None]
    if len(constants) == len(arguments) and math.isfinite(value := operator_value(opcode, *constants)):
        return number(value)
    draft = [(opcode, 0.0)]
    for argument in arguments:
        draft += argument
    if len(draft) > MAX_NODES:
        raise ExpressionError(f"the expression has more than {MAX_NODES} nodes; make it shorter")
    return draft


def times(a: Draft, b: Draft) -> Draft:
    """a b; a number goes into the coefficient of b."""
    factor, position = constant_of(a), _coefficient(b)
    if factor is not None and position is not None and math.isfinite(factor * b[position][1]):
        return _rescaled(b, position, factor * b[position][1])
    return apply(MUL, a, b)


def negative(a: Draft) -> Draft:
    """-a"""
    return times(number(-1.0), a)


def divide(a: Draft, b: Draft) -> Draft:
    """a / b; a divisor that is a number becomes a factor."""
    numerator, divisor, position = constant_of(a), constant_of(b), _coefficient(a)
    if divisor == 1.0:
        return a
    if divisor and position is not None and math.isfinite(a[position][1] / divisor):
        return _rescaled(a, position, a[position][1] / divisor)
    if divisor and math.isfinite(1.0 / divisor):
        return apply(MUL, number(1.0 / divisor), a)
    inverse = apply(INV, b)
    return inverse if numerator == 1.0 else apply(MUL, a, inverse)


def power(a: Draft, b: Draft) -> Draft:
    """a ^ b with the cheapest operators that say it."""
    base, exponent = constant_of(a), constant_of(b)
    if exponent is None:
        return apply(EXP, b) if base == math.e else apply(POW, a, b)
    if base is not None and math.isfinite(value := operator_value(POW, base, exponent)):
        return number(value)
    if exponent == -0.5 or (exponent < 0 and exponent == int(exponent)):
        return apply(INV, power(a, number(-exponent)))
    if exponent == 0.0:
        return number(1.0)
    if exponent == 1.0:
        return a
    if exponent == 0.5:
        return apply(SQRT, a)
    if exponent in (2.0, 3.0, 4.0, 5.0):
        return apply((SQUARE, CUBE, POW4, POW5)[int(exponent) - 2], a)
    return apply(POW, a, b)


def _named(name: str) -> Callable[[Draft], Draft]:
    return lambda x: apply(OPCODE_BY_NAME[name], x)


FUNCTIONS: dict[str, Callable[[Draft], Draft]] = {
    **{name: _named(name) for name in _NAMED_OPERATORS},
    "ln": _named("log"),
    # Rewritten with the operators of the table:
    "cot": lambda x: apply(INV, _named("tan")(x)),
    "sec": lambda x: apply(INV, _named("cos")(x)),
    "csc": lambda x: apply(INV, _named("sin")(x)),
    "sinh": lambda x: times(number(0.5), apply(ADD, apply(EXP, x), negative(apply(EXP, negative(x))))),
    "cosh": lambda x: times(number(0.5), apply(ADD, apply(EXP, x), apply(EXP, negative(x)))),
    "sigmoid": lambda x: apply(INV, apply(ADD, number(1.0), apply(EXP, negative(x)))),
}

NAMED_NUMBERS = {"pi": math.pi, "π": math.pi, "e": math.e, "E": math.e}


def finished(draft: Draft) -> Program:
    """The draft as a program."""
    return make_program([op for op, _ in draft], [value for _, value in draft])
