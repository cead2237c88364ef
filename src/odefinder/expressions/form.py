"""A program in explicit canonical form, carried together with the key of its structure.

Bringing a program to canonical form costs microseconds, and a fit handles thousands of programs: with a form
it need not be done again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.program import ADD, CONST, INV, POW5, SQUARE, Ops, Program


@dataclass(frozen=True)
class Form:
    """An equation or a system; two have the same key if they differ only in the values of constants."""

    program: Program  # explicit: coefficients of 1 are written too
    key: bytes

    @classmethod
    def of(cls, program: Program) -> Form:
        """The form of a program; `ExpressionError` if it has none, such as 1 / 0."""
        explicit = canonical(program, explicit=True)
        return cls(explicit, structure(explicit))

    def components(self) -> list[Form]:
        """The equations of a system."""
        return [Form(one, structure(one)) for one in self.program.components()]


def pinned(ops: Ops) -> int:
    """The number of constants that the canonical form sets to 1, as in 1/(1 + a x): they say nothing."""
    found = 0
    for place in (np.flatnonzero((ops[:-1] == ADD) & (ops[1:] == CONST)) - 1).tolist():
        while place >= 0 and SQUARE <= ops[place] <= POW5:
            place -= 1
        found += int(place >= 0 and ops[place] == INV)
    return found
