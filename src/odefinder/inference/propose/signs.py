"""Sets of terms whose coefficients have the signs that they must have.

A variable that stays positive has no terms that are negative where it is zero: those without the factor x
have a sign.  Selection does not know signs.  So terms that come out with the wrong one are left out of sets,
and the selection is repeated without those that nearly always do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from odefinder.inference.propose.subsets import least_squares, square_sum
from odefinder.inference.propose.terms import Problem, Terms
from odefinder.limits.alarm import alarm_rings

ROUNDS = 4  # of selection
LOOKED_AT = 40  # best sets of each

Scored = list[tuple[float, Terms]]


def with_signs(problem: Problem, select: Callable[[Problem], Scored]) -> Scored:
    """What a selection finds, best score first, without sets that have a coefficient of the wrong sign."""
    found = select(problem)
    if not problem.signs.any():
        return found
    kept: dict[Terms, float] = {}
    wrong: set[int] = set()
    for _ in range(ROUNDS):
        occurs, fails = Counter[int](), Counter[int]()
        for _, terms in found[:LOOKED_AT]:
            rest, refused = _feasible(problem, terms)
            occurs.update(terms)
            fails.update(refused)
            if rest and rest not in kept:
                kept[rest] = problem.score(rest, square_sum(problem.columns, problem.target, rest))
        more = {term for term, count in fails.items() if 2 * count > occurs[term]} - wrong
        if not more or alarm_rings():
            break
        wrong |= more
        found = select(problem.without(sorted(wrong)))
    return sorted((score, terms) for terms, score in kept.items())


def _feasible(problem: Problem, terms: Terms) -> tuple[Terms, list[int]]:
    """A set without the terms whose coefficients come out wrong, the worst first, and these terms."""
    left, refused = list(terms), list[int]()
    while left:
        coefficients, _ = least_squares(problem.columns, problem.target, left)
        wrong = problem.wrong(left, coefficients)
        if not wrong:
            break
        worst = max(wrong, key=lambda k: abs(float(coefficients[k])))
        refused.append(left.pop(worst))
    return tuple(left), refused
