"""Which terms an equation may have, whatever the values of their constants."""

from __future__ import annotations

from dataclasses import dataclass

from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.program import CONST, Program
from odefinder.expressions.terms import terms_of


@dataclass(frozen=True)
class TermRule:
    """Terms of one equation, by their shapes."""

    allowed: frozenset[bytes] | None = None  # None: all
    forbidden: frozenset[bytes] = frozenset()
    offered: tuple[Program, ...] = ()  # the allowed ones, with any constants

    def allows(self, expression: Program) -> bool:
        """Whether all terms of an expression may occur; 0 always may."""
        try:
            shapes = shapes_of(expression)
        except ExpressionError:  # such as 1 / 0
            return False
        if self.allowed is not None and not shapes <= self.allowed:
            return False
        return not shapes & self.forbidden


def shapes_of(expression: Program) -> set[bytes]:
    """The terms of an expression without the values of their constants; 0 has none."""
    return {
        structure(term)
        for term in terms_of(canonical(expression, explicit=True))
        if not (len(term) == 1 and term.ops[0] == CONST and term.values[0] == 0.0)
    }
