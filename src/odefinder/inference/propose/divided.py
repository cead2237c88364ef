"""Polynomials in the inverse of a condition: a mass, a volume or a resistance divides whole laws.

Selection among quotients of all terms by all conditions would be slow, and a polynomial of the condition
itself goes through a handful of conditions as well, with many terms.  So the inverse takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.expressions.program import INV, VAR, Program
from odefinder.inference.fit.integral import joined
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.sparse import propose_polynomials


def divided_polynomials(
    data: Observations, estimate: StateEstimate, enough: Callable[[], bool] = lambda: False
) -> Iterator[Program]:
    """Sparse polynomial systems of each degree, with the inverse of one condition in its place."""
    for column, role in enumerate(data.roles):
        if role != Role.CONDITION or data.known is None:
            continue
        values = data.known[:, column - data.dimension]
        if values.min() * values.max() <= 0.0 or np.ptp(values) == 0.0:
            continue
        known = _turned(data.known, column - data.dimension)
        along = replace(estimate, known=known, nodes=_turned(estimate.nodes, column))
        for fronts in propose_polynomials(replace(data, known=known), along, enough):
            if all(fronts):
                yield _inverted(joined([front[0] for front in fronts], data), column)


def _turned(values: Floats, column: int) -> Floats:
    result = values.copy()
    result[:, column] = 1.0 / values[:, column]
    return result


def _inverted(program: Program, variable: int) -> Program:
    """The program with 1/x in the place of x."""
    own = (program.ops == VAR) & (program.values == variable)
    repeats = np.where(own, 2, 1)
    ops, values = np.repeat(program.ops, repeats), np.repeat(program.values, repeats)
    inverses = np.cumsum(repeats)[own] - 2
    ops[inverses], values[inverses] = INV, 0.0
    return Program(ops, values)
