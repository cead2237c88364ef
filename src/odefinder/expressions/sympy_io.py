"""Programs <-> SymPy expressions.  SymPy is slow to import, so only these functions import it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from odefinder.errors import ExpressionError
from odefinder.expressions import drafts
from odefinder.expressions.drafts import FUNCTIONS, Draft
from odefinder.expressions.parse import MAX_DEPTH, check_names, unknown_name
from odefinder.expressions.program import (
    ADD,
    CONST,
    CUBE,
    POW,
    POW4,
    POW5,
    SQUARE,
    VAR,
    Program,
    operator,
)
from odefinder.expressions.walk import fold

MOST_EXACT = 2**53  # whole numbers up to here are exact, in a float as in SymPy
MOST_BITS = 100_000  # of a number: SymPy writes out (2 x)^1000000
_POWERS = {POW: 0, SQUARE: 2, CUBE: 3, POW4: 4, POW5: 5}


def to_sympy(component: Program, variables: Sequence[str], symbols: Sequence[Any] | None = None) -> Any:
    """The SymPy expression; `symbols` replaces the real-valued symbols that are created by default."""
    import sympy

    if len(component.components()) != 1:
        raise ExpressionError("only single expressions can be converted; take the system's components()")
    if symbols is None:
        symbols = [sympy.Symbol(name, real=True) for name in variables]

    def build(op: int, value: float, arguments: Sequence[Any]) -> Any:
        if op == CONST:
            exact = value.is_integer() and abs(value) < MOST_EXACT
            return sympy.Integer(int(value)) if exact else sympy.Float(value)
        if op == VAR:
            if int(value) >= len(symbols):
                raise ExpressionError(f"variable number {int(value)} has no name; {len(symbols)} are given")
            return symbols[int(value)]
        if op in _POWERS:
            exponent = arguments[1] if op == POW else sympy.Integer(_POWERS[op])
            if exponent.is_Integer and abs(exponent) * _bits(arguments[0]) > MOST_BITS:
                raise ExpressionError(f"the power {exponent} of a number has too many digits for SymPy")
        return operator(op).sympy(sympy, *arguments)

    return fold(component.ops, component.values, build)


def _bits(base: Any) -> int:
    """The length of the longest whole number in an expression."""
    import sympy

    numbers = [part for one in base.atoms(sympy.Rational) for part in (one.p, one.q)]
    return max((abs(int(part)).bit_length() for part in numbers if abs(int(part)) > 1), default=0)


# By the name of the SymPy class.
_SUPPORTED = {"Abs": "abs", **{name: name for name in FUNCTIONS if name not in ("abs", "ln", "sigmoid")}}


def from_sympy(expr: Any, variables: Sequence[str]) -> Program:
    """The program of a SymPy expression; its symbols are matched to the variables by name."""
    import sympy

    names = check_names(variables)
    if isinstance(expr, (int, float)):
        expr = sympy.Integer(expr) if isinstance(expr, int) else sympy.Float(expr)
    if not isinstance(expr, sympy.Expr):
        raise ExpressionError(f"expected a SymPy expression, not {type(expr).__name__}; text goes to parse")
    return drafts.finished(_convert(expr, names, 0))


def _convert(node: Any, names: tuple[str, ...], depth: int) -> Draft:
    if depth > MAX_DEPTH:
        raise ExpressionError(f"the SymPy expression is nested deeper than {MAX_DEPTH} levels")
    if node.is_Symbol:
        if node.name not in names:
            raise ExpressionError("\n".join(unknown_name(node.name, names, {})))
        return drafts.variable(names.index(node.name))
    if node.is_Number or node.is_NumberSymbol:
        return _number(node)
    if node.is_Add:
        total, *terms = [_convert(term, names, depth + 1) for term in node.args]
        for term in terms:
            total = drafts.apply(ADD, total, term)
        return total
    if node.is_Mul:
        return _product(node, names, depth)
    if node.is_Pow:
        return drafts.power(_convert(node.base, names, depth + 1), _convert(node.exp, names, depth + 1))
    function = _SUPPORTED.get(type(node).__name__)
    if function is None or len(node.args) != 1 or not node.is_Function:
        raise _unsupported(node)
    return FUNCTIONS[function](_convert(node.args[0], names, depth + 1))


def _number(node: Any) -> Draft:
    try:
        value = float(node) if node.is_extended_real else math.nan
    except OverflowError:  # a whole number beyond 1.8e308
        value = math.inf
    if not math.isfinite(value):
        raise _unsupported(node)
    return drafts.number(value)


def _product(node: Any, names: tuple[str, ...], depth: int) -> Draft:
    """The factors of SymPy's flat product, sorted into one fraction."""
    above, below = drafts.number(1.0), drafts.number(1.0)
    for factor in node.args:
        if factor.is_Pow and factor.exp.is_Number and factor.exp.is_negative:
            draft = _convert(factor.base**-factor.exp, names, depth + 1)
            below = draft if drafts.constant_of(below) == 1.0 else drafts.times(below, draft)
        else:
            draft = _convert(factor, names, depth + 1)
            above = draft if drafts.constant_of(above) == 1.0 else drafts.times(above, draft)
    return drafts.divide(above, below)


def _unsupported(node: Any) -> ExpressionError:
    shown = str(node)
    shown = shown if len(shown) <= 60 else shown[:60] + "..."
    return ExpressionError(
        f"the SymPy node {type(node).__name__} ({shown}) is not supported; use sums, products, powers, "
        f"finite real numbers and the functions {', '.join(_SUPPORTED)}"
    )
