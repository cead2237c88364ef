"""How long the description of a system's structure is, in nats: the plain part of its prior.

Every node has a price, every constant a higher one, and a function or real power costs as much as a constant.
What was said before need not be said again: a term with a function that another equation has as well, as it
stands or with the variables exchanged, costs its constants and the name of the other.  So identical units and
central forces are short; half of a central force next to a polynomial that equals the other half on the
observed orbit is longer than the whole.  Products of variables are common anyway and are counted each time,
unless a whole law of motion is that of another body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache

import numpy as np

from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import structure
from odefinder.expressions.form import Form, pinned
from odefinder.expressions.program import (
    ABS,
    CONST,
    COS,
    INV,
    MUL,
    POW,
    POW4,
    SIN,
    SQUARE,
    VAR,
    Ops,
    Program,
)
from odefinder.expressions.terms import terms_of
from odefinder.inference.propose.sharing import exchanged, renamed, shifted

# What the network's log-probability costs per node and, in addition, per constant, by linear regression over
# the candidates of 139 fits.
NODE_COST, CONSTANT_COST = 1.5, 4.0
COPY_COST = 2.0 * NODE_COST  # to say what is repeated
MOST = 6  # equations: with more, copies are not looked for
# The square of its own velocity in an acceleration, or another even function of it: a force of the position
# has the same values on one orbit, by the conservation of energy.  None of the ten textbook systems with
# positions and velocities has one.
OWN_SQUARE_COST = 6.0


def description(program: Program, constants: int | None = None) -> float:
    """Nats for the structure of a system, and for its constants.

    constants: how many are fitted, where that is not their number in the program.
    """
    count = len(program.constants) - pinned(program.ops) if constants is None else constants
    whole = _length(program.ops) + CONSTANT_COST * count
    return whole - repeated(program) + OWN_SQUARE_COST * own_squares(program)


def _length(ops: Ops) -> float:
    """Nats for nodes and functions, without constants."""
    return NODE_COST * len(ops) + CONSTANT_COST * _functions(ops)


def _functions(ops: Ops) -> int:
    return int(np.count_nonzero((ops >= SIN) | (ops == POW) | (ops == INV)))


# ---------------------------------------------------------------------------------------- repetitions


@lru_cache(maxsize=4096)  # a candidate is judged several times
def repeated(program: Program) -> float:
    """Nats that need not be spent again on what equations have in common."""
    equations = program.components()
    count = len(equations)
    if not 2 <= count <= MOST:
        return 0.0
    positions = {velocity: state for state, velocity in velocities(equations).items()}
    bodies = len(positions) > 1
    if not bodies and not _functions(program.ops):
        return 0.0
    saved = 0.0
    for own in range(1, count):
        if own in positions.values():  # x' = v is short as it is
            continue
        saved += max(
            (
                _saved(equations[own], equations[other], _names(own, other, count, positions), bodies)
                for other in range(own)
                if other not in positions.values()
            ),
            default=0.0,
        )
    return saved


def velocities(equations: list[Program]) -> dict[int, int]:
    """The states whose equations are x' = c v, and v."""
    found = {}
    for state, equation in enumerate(equations):
        *before, last = equation.ops.tolist()
        if last == VAR and before in ([], [MUL, CONST]) and int(equation.values[-1]) != state:
            found[state] = int(equation.values[-1])
    return found


def _names(own: int, other: int, count: int, positions: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """The ways in which variables may change places."""
    yield {}
    yield exchanged(own, other, positions)
    if count > 2 and not positions:
        yield shifted(own - other, count)


def _saved(own: Program, other: Program, names: Iterator[dict[int, int]], bodies: bool) -> float:
    """What an equation need not say that another one, with other names, says already."""
    functions = _functions(own.ops) > 0 and _functions(other.ops) > 0
    alike = bodies and np.array_equal(np.sort(own.ops), np.sort(other.ops))
    if not functions and not alike:
        return 0.0
    best = 0.0
    terms = [term for term in terms_of(own) if _functions(term.ops)]
    for way in names:
        with suppress(ExpressionError):
            copy = Form.of(renamed(other, way)).program
            if alike and structure(copy) == structure(Form.of(own).program):
                return max(_length(own.ops) - COPY_COST, 0.0)
            if functions:
                known = Counter(structure(one) for one in terms_of(copy))
                best = max(best, _saved_terms(terms, known))
    return best


def _saved_terms(terms: list[Program], known: Counter[bytes]) -> float:
    """Nats for the terms that are known, apart from saying which they are."""
    saved = 0.0
    for term in terms:
        key = structure(term)
        if known[key] > 0:
            known[key] -= 1
            saved += max(_length(term.ops) - COPY_COST, 0.0)
    return saved


# ---------------------------------------------------------------------------------------- velocities


def own_squares(program: Program) -> int:
    """The number of accelerations with a term whose only velocity is their own, in an even function."""
    equations = program.components()
    moving = set(velocities(equations).values())
    return sum(
        any(_is_own_square(term, state, moving) for term in terms_of(equations[state]))
        for state in moving
        if state < len(equations)
    )


def _is_own_square(term: Program, state: int, moving: set[int]) -> bool:
    """v^2, v^4, |v| or cos(a v), times anything without velocities."""
    ops = term.ops
    places = [i for i in np.flatnonzero(ops == VAR).tolist() if int(term.values[i]) in moving]
    if len(places) != 1 or term.values[places[0]] != state:
        return False
    at = places[0]
    if at > 1 and ops[at - 1] == CONST and ops[at - 2] == MUL:  # a v
        at -= 2
    return at > 0 and int(ops[at - 1]) in (SQUARE, POW4, ABS, COS)
