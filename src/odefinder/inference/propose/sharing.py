"""What equations of one system have in common: identical units, and terms that occur in several equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from odefinder.data.observations import Floats
from odefinder.expressions.program import CONST, MUL, VAR, Program, concatenate
from odefinder.expressions.terms import node, sum_of, terms_of

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
            yield own, renamed(equation, exchanged(own, other, positions))
            if dimension > 2:
                yield own, renamed(equation, shifted(own - other, dimension))
            for term in terms_of(equation):
                yield own, sum_of([equations[own], term])


def exchanged(one: int, other: int, positions: Mapping[int, int]) -> dict[int, int]:
    """New names where two states change places, with what they are derivatives of."""
    names = {one: other, other: one}
    while one in positions and other in positions:
        one, other = positions[one], positions[other]
        names |= {one: other, other: one}
    return names


def shifted(step: int, count: int) -> dict[int, int]:
    """New names where all states move on, as in a ring."""
    return {k: (k + step) % count for k in range(count)}


def renamed(
    equation: Program, names: Mapping[int, int], factors: Floats | None = None, own: int = 0
) -> Program:
    """The equation with other variables.

    factors: the units of the variables; the new equation is the same in the user's units, where identical
    units have the same constants.  own: the state that the equation belongs to.
    """
    pieces = []
    for op, value in zip(equation.ops.tolist(), equation.values.tolist(), strict=True):
        if op != VAR:
            pieces.append(node(op, value))
            continue
        old, new = int(value), names.get(int(value), int(value))
        if factors is not None and old != new:
            pieces += [node(MUL), node(CONST, float(factors[new] / factors[old]))]
        pieces.append(node(VAR, float(new)))
    if factors is not None:
        ratio = float(factors[own] / factors[names.get(own, own)])
        pieces = [node(MUL), node(CONST, ratio), *pieces]
    return concatenate(pieces)
