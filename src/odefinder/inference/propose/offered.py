"""Terms that the user allows by name, as features for the regression: the library may not have them."""

from __future__ import annotations

import numpy as np

from odefinder.data.given import Given
from odefinder.expressions.program import CONST, CUBE, MUL, SQUARE, VAR, Program
from odefinder.inference.propose.library import Feature

PLAIN = (MUL, VAR, SQUARE, CUBE)  # monomials of these are in the library
TRIED = (1.0, 0.1, 0.3, 3.0, 10.0)  # factors of inner constants, which are often just a name
FAMILY = "offered"


def offered_features(given: Given | None) -> list[Feature]:
    """The terms that some equation may have and that the library lacks, with several inner constants."""
    found: dict[tuple[tuple[int, float], ...], None] = {}
    for rule in given.terms if given is not None else ():
        for term in rule.offered if rule is not None else ():
            if len(term) > 2 and not np.isin(term.ops[2:], PLAIN).all():
                found |= dict.fromkeys(_drafts(term))
    return [Feature(draft, FAMILY) for draft in found]


def _drafts(term: Program) -> list[tuple[tuple[int, float], ...]]:
    """A term factor * feature without its factor; inner constants of 1 stay."""
    ops, values = term.ops[2:], term.values[2:]
    inner = (ops == CONST) & (values != 1.0)
    return [
        tuple(zip(ops.tolist(), np.where(inner, factor * values, values).tolist(), strict=True))
        for factor in TRIED[: None if inner.any() else 1]
    ]
