"""Systems with one more term, or with a term that saturates: what a search on trajectories tries next."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from odefinder.data.observations import Observations
from odefinder.expressions.program import ADD, CONST, INV, MUL, VAR, Program, concatenate
from odefinder.expressions.terms import node, sum_of, terms_of
from odefinder.inference.propose.library import equation, monomials

START = 0.01  # coefficient of a new term
SLOPE = 0.5  # of what a term is divided by, 1 + x/2


def grown(program: Program, data: Observations) -> Iterator[Program]:
    """All systems with a monomial more, or with one of the terms divided by 1 + x/2, in one equation."""
    components = program.components()
    for k, own in enumerate(components):
        if k not in data.closed:
            for changed in [*_with_monomials(own, data.variables), *_saturated(own, data)]:
                yield concatenate([*components[:k], changed, *components[k + 1 :]])


def _with_monomials(component: Program, variables: int) -> Iterator[Program]:
    for feature in monomials(variables, 3 if variables <= 2 else 2):
        yield sum_of([component, equation([feature], [START])])


def _saturated(component: Program, data: Observations) -> Iterator[Program]:
    """Only in observed x that keep their sign: otherwise there may be a pole."""
    parts = terms_of(component)
    for variable in np.flatnonzero(~data.unseen).tolist():
        values = data.states[:, variable]
        if not (np.nanmin(values) > 0.0 or np.nanmax(values) < 0.0):
            continue
        below = [node(INV), node(ADD), node(CONST, 1.0), node(MUL), node(CONST, SLOPE), node(VAR, variable)]
        for place, term in enumerate(parts):
            if np.any(term.ops == VAR):
                divided = concatenate([node(MUL), term, *below])
                yield sum_of([*parts[:place], divided, *parts[place + 1 :]])
