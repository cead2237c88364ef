"""Sines of angles and of their differences, for rotors and phase oscillators.

The library has waves on a grid of canonical frequencies, and an angle that winds is beyond it: in units of
its largest value, one radian is small.  Angles are given in radians, so in the user's units these waves have
the frequency 1, and no constants inside that would have to be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from odefinder.data.observations import Floats
from odefinder.expressions.drafts import Draft
from odefinder.expressions.program import ADD, CONST, COS, MUL, SIN, VAR
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.library import Feature
from odefinder.inference.propose.subsets import shrink, square_sum
from odefinder.inference.propose.terms import Problem, Terms

LEAST_TURN = 0.1  # radians: a wave over less of its period is a straight line
MOST_STEP = 1.0  # radians between two nodes of an integral
MOST_ANGLES = 12  # variables: with more there are too many pairs


def phase_features(estimate: StateEstimate, factors: Floats) -> Iterator[Feature]:
    """Sines and cosines of each variable and of each difference; factors: the units of the variables."""
    angles = estimate.nodes * factors  # (nodes, V)
    count = angles.shape[1]
    if count > MOST_ANGLES:
        return
    for x in range(count):
        if _turns(angles[:, x]):
            yield from _waves([_times(factors[x], x)])
    for x, y in combinations(range(count), 2):
        if _turns(angles[:, x] - angles[:, y]):
            yield from _waves([_times(factors[x], x), _times(-factors[y], y)])


def phase_sets(problem: Problem, component: int) -> list[tuple[float, Terms]]:
    """Sets of a constant and of such waves of one variable, best score first.

    Units that pull at each other soon move alike: then all their waves look alike, and growing sets term by
    term loses its way among them.  All of them together leave nothing, and those that are not needed drop
    out; the fewer kinds of waves there are, the surer.
    """
    own = (VAR, float(component))
    constant = [c for c, one in enumerate(problem.features) if not one.draft]
    waves = [c for c, one in enumerate(problem.features) if one.natural and own in one.draft]
    sines = [c for c in waves if problem.features[c].draft[0][0] == SIN]
    found: dict[Terms, float] = {}
    for kinds in (sines, waves):
        part = [*constant, *kinds]
        if not kinds or len(part) >= len(problem.target):
            continue
        everything = list(range(len(part)))
        for chosen in (everything, *shrink(problem.columns[part], problem.target, everything)):
            terms = tuple(sorted(part[c] for c in chosen))
            found[terms] = problem.score(terms, square_sum(problem.columns, problem.target, terms))
    return sorted((score, terms) for terms, score in found.items())


def _turns(angle: Floats) -> bool:
    """Whether an angle turns, and not too fast to be followed."""
    return bool(np.ptp(angle) >= LEAST_TURN and np.median(np.abs(np.diff(angle))) < MOST_STEP)


def _times(rate: float, variable: int) -> Draft:
    return [(MUL, 0.0), (CONST, float(rate)), (VAR, float(variable))]


def _waves(parts: list[Draft]) -> Iterator[Feature]:
    inside = [(ADD, 0.0)] * (len(parts) - 1) + [node for part in parts for node in part]
    for function in (SIN, COS):
        yield Feature(((function, 0.0), *inside), "trigonometric", natural=True)
