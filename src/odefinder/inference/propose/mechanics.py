"""Terms of laws of motion, for the regression of accelerations.

Steep powers of a distance, dry friction, masses that depend on the position, forces of the distance from the
origin, and forces between two bodies.  Distances and differences are taken in the user's units, in which all
coordinates have the same scale.  Like all inner constants, the ratios of units are only where
polishing starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from odefinder.data.observations import Floats
from odefinder.expressions.drafts import Draft
from odefinder.expressions.program import ABS, ADD, CONST, CUBE, EXP, INV, MUL, POW, SQUARE, TANH, VAR
from odefinder.inference.propose.library import Feature

LARGEST = 1e4  # value that a steep power may have: it has a pole, which no trajectory comes near
STEEP = tuple(range(-14, -2))  # x^p, next to the powers of every library
FRICTIONS = (8.0, 25.0, 80.0)  # tanh(a v), v in units of its largest value
BENDS = (0.4, 1.5, 5.0, 16.0)  # x v^2 / (1 + a x^2)
CENTRAL = (-2.0, -1.5, -1.0, -0.5, 0.5)  # x (x^2 + y^2)^p
COUPLINGS = (-4.0, -2.0, -1.0, 1.0, 2.0, 4.0)  # exp(a (x - y)) and tanh(a (x - y))


def mechanical_features(ranges: Floats, velocities: Mapping[int, int], factors: Floats) -> Iterator[Feature]:
    """Terms for systems of positions and their velocities.

    ranges (V, 2): lowest and highest values.  velocities: by position.  factors: the units of the variables.
    """
    positions = [x for x in velocities if x not in velocities.values()]
    for x in positions:
        yield from _of_one(x, velocities[x], ranges)
    if 2 <= len(positions) <= 3:
        speeds = [velocities[x] for x in positions]
        for place in (*positions, *speeds):
            around = positions if place in positions else speeds
            powers = CENTRAL if place in positions else (0.5,)
            for power in powers:
                yield _feature("power", [(MUL, 0.0), _variable(place), *_radius(around, factors, power)])
    for x, y in combinations(positions, 2):
        yield from _of_two(x, y, factors)


def _variable(place: int) -> tuple[int, float]:
    return VAR, float(place)


def _feature(family: str, draft: Draft) -> Feature:
    return Feature(tuple(draft), family)


def _of_one(x: int, v: int, ranges: Floats) -> Iterator[Feature]:
    """Forces on a body that depend on its own place and velocity."""
    low, high = ranges[x]
    squared: Draft = [(SQUARE, 0.0), _variable(v)]
    if low > 0.0:
        for power in STEEP:
            draft = (POW, 0.0), _variable(x), (CONST, float(power))
            yield Feature(draft, "power", largest=LARGEST)
    if low > 0.0 or high < 0.0:
        yield _feature("power", [(MUL, 0.0), *squared, (INV, 0.0), _variable(x)])
    for a in BENDS:
        bend: Draft = [(ADD, 0.0), (CONST, 1.0), (MUL, 0.0), (CONST, a), (SQUARE, 0.0), _variable(x)]
        yield _feature("rational", [(MUL, 0.0), _variable(x), (MUL, 0.0), *squared, (INV, 0.0), *bend])
    if ranges[v, 0] < 0.0 < ranges[v, 1]:
        fastest = float(max(-ranges[v, 0], ranges[v, 1]))
        for a in FRICTIONS:
            yield _feature("saturating", [(TANH, 0.0), (MUL, 0.0), (CONST, a / fastest), _variable(v)])


def _radius(places: Sequence[int], factors: Floats, power: float) -> Draft:
    """(x^2 + y^2 + ...)^power."""
    first, *others = places
    draft: Draft = [(POW, 0.0), *[(ADD, 0.0)] * len(others), (SQUARE, 0.0), _variable(first)]
    for place in others:
        ratio = float(factors[place] / factors[first]) ** 2
        draft += [(MUL, 0.0), (CONST, ratio), (SQUARE, 0.0), _variable(place)]
    return [*draft, (CONST, power)]


def _of_two(x: int, y: int, factors: Floats) -> Iterator[Feature]:
    """Forces between two bodies, of their difference."""
    ratio = float(factors[y] / factors[x])
    apart: Draft = [(ADD, 0.0), _variable(x), (MUL, 0.0), (CONST, -ratio), _variable(y)]
    yield _feature("power", [(CUBE, 0.0), *apart])
    yield _feature("power", [(MUL, 0.0), *apart, (ABS, 0.0), *apart])
    for a in COUPLINGS:
        inside: Draft = [
            (ADD, 0.0), (MUL, 0.0), (CONST, a), _variable(x), (MUL, 0.0), (CONST, -a * ratio), _variable(y),
        ]  # fmt: skip
        yield _feature("exponential", [(EXP, 0.0), *inside])
        if a > 0.0:
            yield _feature("saturating", [(TANH, 0.0), *inside])
