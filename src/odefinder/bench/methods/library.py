"""Libraries of terms for SINDy: monomials of all variables, and functions of single ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from odefinder.bench.methods.method import Floats
from odefinder.errors import NoSystemError
from odefinder.expressions import drafts
from odefinder.expressions.drafts import FUNCTIONS, Draft
from odefinder.expressions.monomials import exponents, monomial
from odefinder.expressions.program import ADD, INV, Program, concatenate

VALUES: dict[str, Callable[[Floats], Floats]] = {
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "inv": lambda x: 1.0 / x,
}


@dataclass(frozen=True)
class TermLibrary:
    """Monomials of all variables up to a degree, the constant among them, then f(x) for every f and x."""

    dimension: int
    degree: int
    functions: tuple[str, ...] = ()  # names of VALUES

    @property
    def size(self) -> int:
        """The number of terms."""
        return comb(self.dimension + self.degree, self.degree) + self.dimension * len(self.functions)

    @cached_property
    def exponents(self) -> list[tuple[int, ...]]:
        """The exponents of every monomial, by rising degree."""
        return list(exponents(self.dimension, self.degree))

    def columns(self, x: Floats) -> Floats:
        """The values of all terms at the states x (N, D): (N, size)."""
        with np.errstate(all="ignore"):
            monomials = [np.prod(x**powers, axis=1) for powers in map(np.array, self.exponents)]
            values = [VALUES[name](x[:, d]) for name in self.functions for d in range(self.dimension)]
        result = np.column_stack(monomials + values)
        if not np.isfinite(result).all():
            raise NoSystemError("some term of the library is not defined on this trajectory")
        return result

    def system(self, coefficients: Floats) -> Program:
        """The sums of terms with coefficients (D, size); those with the coefficient 0 are left out."""
        return concatenate([self.equation(row) for row in coefficients])

    def equation(self, coefficients: Sequence[float] | Floats) -> Program:
        """The sum of terms with coefficients (size,)."""
        if not np.isfinite(coefficients).all():
            raise NoSystemError("the regression gave coefficients that are not finite")
        total: Draft = []
        for coefficient, term in zip(coefficients, self._terms, strict=True):
            if coefficient != 0.0:
                part = drafts.times(drafts.number(float(coefficient)), term)
                total = [(ADD, 0.0), *total, *part] if total else part
        return drafts.finished(total or drafts.number(0.0))

    @cached_property
    def _terms(self) -> list[Draft]:
        variables = [drafts.variable(d) for d in range(self.dimension)]
        terms = [monomial(powers) or drafts.number(1.0) for powers in self.exponents]
        for name in self.functions:
            function = FUNCTIONS.get(name, _inverse)
            terms += [function(variable) for variable in variables]
        return terms


def _inverse(x: Draft) -> Draft:
    return drafts.apply(INV, x)
