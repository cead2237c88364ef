"""Systems that equal a given one all along its trajectory, so that no data on it can tell them apart.

Where something is conserved, or a trajectory lies on a curve that a polynomial describes, the same right-hand
side can be written with other terms, and the systems differ only elsewhere.  All equations of few monomials
that do so are listed, and those in which one or two terms of the given equation are exchanged for another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

import numpy as np

from odefinder.data.observations import Floats, Ints
from odefinder.expressions.program import CONST, MUL, Program, concatenate
from odefinder.expressions.terms import terms_of
from odefinder.inference.propose.library import Feature, equation, monomials
from odefinder.inference.propose.sparse import smallest_sums
from odefinder.numerics.evaluate import evaluate

DEGREES = {2: 3, 3: 3, 4: 2, 5: 2, 6: 2}  # of the monomials, by the number of variables
MOST_TERMS = 3  # of equations that have nothing in common with the given one
KEPT = 6  # equations of each variable
RELATED = 1e-5  # smallest singular value of columns of length 1 below which they may be related
EQUAL = 1e-5  # difference from the given equation, relative to its size, that counts as none
RIDGE = 1e-13

Chosen = tuple[int, ...]


def equivalent_systems(
    program: Program, states: Floats, closed: Collection[int], count: int
) -> list[Program]:
    """The simplest systems, `count` at the most, that have the values of this one at its states (N, V).

    This one is among them, unless `count` others are simpler.  closed: the variables whose equations stay.
    """
    fronts = [
        [(0.0, one)] if component in closed else _equivalent(one, states)
        for component, one in enumerate(program.components())
    ]
    return [concatenate(chosen) for chosen in smallest_sums(fronts, count)]


def _equivalent(one: Program, states: Floats) -> list[tuple[float, Program]]:
    """The simplest equations with the values of this one, each with its cost; at least itself."""
    dimension = states.shape[1]
    polynomial = {new.draft: new for new in monomials(dimension, DEGREES.get(dimension, 0))}
    drafts = [_without_coefficient(term) for term in terms_of(one)]
    own = len(drafts)
    features = [polynomial.pop(draft, Feature(draft, "power")) for draft in drafts] + [*polynomial.values()]
    columns = np.array([evaluate(equation([feature], [1.0]), states)[:, 0] for feature in features])
    target = evaluate(one, states)[:, 0]
    length, size = np.sqrt((columns**2).sum(axis=1)), float(np.sqrt(target @ target))
    costs = np.array([feature.cost for feature in features])
    itself = [(float(costs[:own].sum()), one)]
    if not (np.isfinite(columns).all() and size > 0.0 and length.min() > 0.0):
        return itself
    columns /= length[:, None]
    if np.linalg.svd(columns, compute_uv=False)[-1] > RELATED:  # there is only one way to write it
        return itself
    found: list[tuple[float, Chosen]] = []
    for chosen in _fitting(_sets(own, len(features)), columns @ columns.T, columns @ (target / size)):
        if not any(set(fewer) < set(chosen) for _, fewer in found):
            found.append((float(costs[list(chosen)].sum()), chosen))
    result = []
    for cost, chosen in sorted(found)[:KEPT]:
        picked = list(chosen)
        values = np.linalg.lstsq(columns[picked].T, target / size, rcond=1e-10)[0]
        program = equation([features[c] for c in picked], size * values / length[picked])
        result.append((cost, program))
    return result or itself


def _sets(own: int, count: int) -> Iterator[Chosen]:
    """Few of all terms; and the first `own` of them, with one or two exchanged for another."""
    for size in range(1, MOST_TERMS + 1):
        yield from combinations(range(count), size)
    if own > MOST_TERMS:
        for lost in (1, 2):
            for kept in combinations(range(own), own - lost):
                yield kept
                yield from ((*kept, new) for new in range(own, count))


def _fitting(sets: Iterable[Chosen], products: Floats, along: Floats) -> Iterator[Chosen]:
    """Those sets of columns whose sum can equal the target, smallest first, as their inner products say."""
    by_size: dict[int, list[Chosen]] = defaultdict(list)
    for chosen in sets:
        by_size[len(chosen)].append(chosen)
    for size, group in sorted(by_size.items()):
        places: Ints = np.array(group)
        matrix = products[places[:, :, None], places[:, None, :]] + RIDGE * np.eye(size)
        right = along[places]
        solution = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        left = 1.0 - (right * solution).sum(axis=1)
        yield from (group[k] for k in np.flatnonzero(left < EQUAL**2))


def _without_coefficient(term: Program) -> tuple[tuple[int, float], ...]:
    ops, values = term.ops.tolist(), term.values.tolist()
    first = 2 if ops[:2] == [MUL, CONST] else int(ops == [CONST])
    return tuple(zip(ops[first:], values[first:], strict=True))
