"""What equations of one system have in common: identical units, and terms that occur in several equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from odefinder.expressions.program import VAR, Program
from odefinder.expressions.terms import sum_of, terms_of

MOST = 8  # states: with more there are too many pairs


def shared_equations(
    equations: Sequence[Program],
    closed: frozenset[int] = frozenset(),
    velocities: Mapping[int, int] | None = None,
) -> Iterator[tuple[int, Program]]:
    """States, and equations for them that are made from those of the others.

    An equation is tried for every other state with both variables exchanged, and with all of them shifted, as
    in a ring of units; and each of its terms is added to the others' equations.  velocities: by the states
    whose derivatives they are; units that are exchanged take their positions along.
    """
    positions = {velocity: state for state, velocity in (velocities or {}).items()}
    dimension = len(equations)
    if dimension > MOST:
        return
    for own in range(dimension):
        if own in closed:
            continue
        for other, equation in enumerate(equations):
            if other == own or other in closed:
                continue
            yield own, _renamed(equation, _exchanged(own, other, positions))
            if dimension > 2:
                yield own, _renamed(equation, {k: (k + own - other) % dimension for k in range(dimension)})
            for term in terms_of(equation):
                yield own, sum_of([equations[own], term])


def _exchanged(one: int, other: int, positions: Mapping[int, int]) -> dict[int, int]:
    """New names where two states change places, with what they are derivatives of."""
    names = {one: other, other: one}
    while one in positions and other in positions:
        one, other = positions[one], positions[other]
        names |= {one: other, other: one}
    return names


def _renamed(equation: Program, names: dict[int, int]) -> Program:
    """The equation with other variables."""
    index = np.where(equation.ops == VAR, equation.values, -1.0).astype(int)
    values = [
        float(names.get(k, k)) if k >= 0 else value for k, value in zip(index, equation.values, strict=True)
    ]
    return Program(equation.ops, np.array(values, np.float64))
