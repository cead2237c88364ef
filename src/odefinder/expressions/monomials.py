"""Products of variables: listing them, and writing one as a draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

from odefinder.expressions import drafts
from odefinder.expressions.drafts import Draft
from odefinder.expressions.program import MUL


def exponents(dimension: int, degree: int) -> Iterator[tuple[int, ...]]:
    """The exponents (dimension,) of all monomials up to a degree, by rising degree; the constant is first."""
    for total in range(degree + 1):
        for chosen in combinations_with_replacement(range(dimension), total):
            yield tuple(chosen.count(variable) for variable in range(dimension))


def monomial(powers: Sequence[int]) -> Draft:
    """The product of the variables to these powers; the constant, 1, is the empty draft."""
    factors = [
        drafts.power(drafts.variable(variable), drafts.number(power))
        for variable, power in enumerate(powers)
        if power
    ]
    return product(factors)


def product(factors: Sequence[Draft]) -> Draft:
    """The product of drafts; without drafts, the empty one."""
    draft: Draft = []
    for factor in factors[:-1]:
        draft += [(MUL, 0.0), *factor]
    return draft + factors[-1] if factors else []
