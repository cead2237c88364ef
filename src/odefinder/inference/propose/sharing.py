"""What equations of one system have in common: identical units, and terms that occur in several equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from odefinder.expressions.program import VAR, Program
from odefinder.expressions.terms import sum_of, terms_of

MOST = 8  # states: with more there are too many pairs


def shared_equations(
    equations: Sequence[Program], closed: frozenset[int] = frozenset()
) -> Iterator[tuple[int, Program]]:
    """States, and equations for them that are made from those of the others.

    An equation is tried for every other state with both variables exchanged, and with all of them shifted, as
    in a ring of units; and each of its terms is added to the others' equations.
    """
    dimension = len(equations)
    if dimension > MOST:
        return
    for own in range(dimension):
        if own in closed:
            continue
        for other, equation in enumerate(equations):
            if other == own or other in closed:
                continue
            yield own, _renamed(equation, {own: other, other: own})
            if dimension > 2:
                yield own, _renamed(equation, {k: (k + own - other) % dimension for k in range(dimension)})
            for term in terms_of(equation):
                yield own, sum_of([equations[own], term])


def _renamed(equation: Program, names: dict[int, int]) -> Program:
    """The equation with other variables."""
    index = np.where(equation.ops == VAR, equation.values, -1.0).astype(int)
    values = [
        float(names.get(k, k)) if k >= 0 else value for k, value in zip(index, equation.values, strict=True)
    ]
    return Program(equation.ops, np.array(values, np.float64))
