"""Sets of few terms for one equation: where the regression looks in the library.

Polynomials are searched degree by degree, functions family by family, alone and with polynomial terms around
them.  The constants inside a function are only roughly known at this point, so terms are selected next to the
function *and its derivatives by these constants*: otherwise they would make up for errors that a later fit of
the constants corrects anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odefinder.data.given import Given
from odefinder.data.observations import Floats, Ints, Observations, polynomials_of_time
from odefinder.expressions.drafts import finished
from odefinder.expressions.program import CONST, Program
from odefinder.expressions.terms import node
from odefinder.inference.fit.integral import floor
from odefinder.inference.fit.known_columns import known_integrals
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.library import Feature, Shape, feature_integrals
from odefinder.inference.propose.subsets import (
    additions,
    best_pairs,
    every_pair,
    grow,
    grown,
    shrink,
    square_sum,
)
from odefinder.limits.alarm import alarm_rings

MAX_ROWS = 400  # observed times that the selection uses
PAIRS = 100  # pairs of terms, the best of all, that become candidates
NUDGE = 1e-4  # relative change of an inner constant for a derivative
DEPENDENT = 1e-5  # share of a column outside what known terms can say, below which it is one of them
INDEPENDENT = 1e-3  # least share of a derivative outside the span of the function and other derivatives

Terms = tuple[int, ...]  # features by number, in increasing order


@dataclass(frozen=True)
class Breadth:
    """How far the regression looks.  The numbers of terms are those of one equation."""

    polynomial_terms: int = 8
    mixed_terms: int = 5  # of a polynomial part and functions of one family
    any_terms: int = 4  # of the whole library
    functions: int = 4  # of each family, around which polynomial terms are selected
    polished: int = 6  # sets per number of terms whose inner constants are fitted, in each of two rounds
    kept: int = 12  # proposals of one equation


@dataclass(frozen=True)
class Problem:
    """The regression of one equation: target = sum of coefficient * column."""

    features: list[Feature]
    columns: Floats  # (features, rows), of unit length
    lengths: Floats  # (features,) before that
    target: Floats  # (rows,)
    floor: float
    estimate: StateEstimate
    rows: Ints  # which observed times
    trajectory: Ints  # (rows,)
    free: Floats  # (rows, depth): what constants of integration explain, see `polynomials_of_time`
    known: Floats  # (constants, rows): what constants of known terms explain, orthonormal
    scale: float
    families: NDArray[np.str_]
    degrees: Ints
    shapes: list[Shape]  # the features without the values of their constants
    signs: Floats  # (features,): which sign their coefficients must have; 0: any

    def score(self, terms: Sequence[int], square_sum: float) -> float:
        """The information criterion of `integral.component_score`, without making a program."""
        count = len(self.target)
        size = sum(self.features[c].cost for c in terms) - 0.5
        return count * float(np.log(square_sum / count + self.floor)) + size * float(np.log(count))

    def wrong(self, terms: Sequence[int], coefficients: Floats) -> list[int]:
        """Which of the terms, by position, have coefficients of a sign that they must not have."""
        return np.flatnonzero(self.signs[list(terms)] * coefficients < 0.0).tolist()

    def without(self, columns: Sequence[int]) -> Problem:
        """The same without some of the features."""
        kept = np.ones(len(self.columns), np.bool_)
        kept[list(columns)] = False
        return replace(
            self,
            columns=np.where(kept[:, None], self.columns, 0.0),
            lengths=np.where(kept, self.lengths, np.inf),
        )

    def polynomials(self, degree: int) -> Ints:
        """The monomials up to a degree."""
        return np.flatnonzero((self.families == "polynomial") & (self.degrees <= degree))


def make_problem(
    component: int, data: Observations, estimate: StateEstimate, features: list[Feature], integrals: Floats
) -> Problem:
    """The regression of one variable on the features with these integrals (features, N)."""
    state, depth = data.lineage(component)
    scale = float(data.scale[state])
    observed = data.states[:, state] / scale
    rows = np.flatnonzero(np.isfinite(observed))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(int))]
    trajectory = data.trajectory_of(rows)
    free = polynomials_of_time(data.times[rows], trajectory, depth)
    columns = _without(integrals[:, rows] / scale, trajectory, free)
    target = _without(observed[None, rows], trajectory, free)[0]
    lengths = np.linalg.norm(columns, axis=1)
    good = np.isfinite(lengths) & (lengths > 1e-9)
    known = known_integrals(component, data, estimate)
    basis = np.empty((0, len(rows)))
    if known is not None:
        own = _without(known[:, rows] / scale, trajectory, free)
        basis = orthonormal(own[1:])
        before, columns = lengths, outside(columns, basis)
        target = outside((target - own[0])[None], basis)[0]
        lengths = np.linalg.norm(columns, axis=1)
        good &= lengths > DEPENDENT * before  # otherwise the known terms can say the same
    signs = np.zeros(len(features))
    if data.given is not None:
        good &= _allowed(component, data.given, features)
        if data.given.keeps_positive(component):
            signs = data.given.signs(component, [program_of(one) for one in features])
            good &= ~np.isnan(signs)
    return Problem(
        features,
        np.where(good[:, None], columns / np.where(good, lengths, 1.0)[:, None], 0.0),
        np.where(good, lengths, np.inf),
        target,
        floor(data, estimate, state),
        estimate,
        rows,
        trajectory,
        free,
        basis,
        scale,
        np.array([feature.family for feature in features], np.str_),
        np.array([feature.degree for feature in features], np.int64),
        [feature.shape for feature in features],
        signs,
    )


def _allowed(component: int, given: Given, features: Sequence[Feature]) -> NDArray[np.bool_]:
    """Which features may be terms of what is found for a state."""
    if not given.restricts(component):
        return np.ones(len(features), np.bool_)
    known: dict[Shape, bool] = {}
    for one in features:
        if one.shape not in known:
            known[one.shape] = given.may_have(component, program_of(one))
    return np.array([known[one.shape] for one in features])


def program_of(feature: Feature) -> Program:
    """A feature as an expression; the constant is 1."""
    return finished(list(feature.draft)) if feature.draft else node(CONST, 1.0)


def outside(columns: Floats, basis: Floats) -> Floats:
    """Columns (n, rows) without their share in an orthonormal basis (m, rows)."""
    return columns - (columns @ basis.T) @ basis if len(basis) else columns


def orthonormal(rows: Floats) -> Floats:
    """An orthonormal basis of what the rows (n, N) span."""
    lengths = np.linalg.norm(rows, axis=1)
    kept = rows[np.isfinite(lengths) & (lengths > 0.0)] if len(rows) else rows
    if not len(kept):
        return np.empty((0, rows.shape[1]))
    _, sizes, basis = np.linalg.svd(kept / np.linalg.norm(kept, axis=1)[:, None], full_matrices=False)
    return np.ascontiguousarray(basis[sizes > DEPENDENT * sizes[0]])


def _without(columns: Floats, trajectory: Ints, free: Floats) -> Floats:
    """Without what the constants of integration account for: the mean over each trajectory, for one."""
    result = columns.copy()
    for k in np.unique(trajectory):
        own = trajectory == k
        result[:, own] -= result[:, own].mean(axis=1, keepdims=True)  # exactly 0 for what never changes
        if free.shape[1] > 1:
            result[:, own] -= (result[:, own] @ free[own]) @ free[own].T
    return result


# ---------------------------------------------------------------- sets of terms


def term_sets(problem: Problem, breadth: Breadth) -> list[tuple[float, Terms]]:
    """Sets of terms from all parts of the library, best score first."""
    columns, target = problem.columns, problem.target
    found: dict[Terms, float] = {}
    small_polynomials: list[Terms] = []
    for degree in range(1, int(problem.degrees.max(initial=0)) + 1):
        part = problem.polynomials(degree)
        for chosen in grow(columns[part], target, breadth.polynomial_terms):
            small_polynomials.append(_add(problem, found, part[chosen]))
        if len(part) < len(target) / 3:
            for chosen in shrink(columns, target, part):
                if len(chosen) <= breadth.polynomial_terms + 2:
                    _add(problem, found, chosen)
    families = sorted(set(problem.families.tolist()) - {"polynomial"})
    low = problem.polynomials(2)
    functions: list[int] = []
    for family in families:
        if alarm_rings():
            break
        own = np.flatnonzero(problem.families == family)
        part = np.concatenate([own, low])
        for chosen in grow(columns[part], target, breadth.mixed_terms):
            _add(problem, found, part[chosen])
        explained = best_pairs(columns, target, own, low)
        functions += [int(own[i]) for i in _distinct(problem, own, explained, breadth.functions)]
    for chosen in grow(columns, target, breadth.any_terms):
        _add(problem, found, chosen)
    for terms in small_polynomials:  # each with one function added
        if len(terms) <= 4 and not alarm_rings():
            gain = additions(columns, target, terms)
            for family in families:
                own = np.flatnonzero(problem.families == family)
                for i in _distinct(problem, own, gain[own], 2):
                    _add(problem, found, (*terms, int(own[i])))
    for score, terms in _around_functions(problem, functions, (2,), breadth.mixed_terms):
        found[terms] = min(score, found.get(terms, np.inf))
    return sorted((score, terms) for terms, score in found.items())


def pair_sets(problem: Problem, added: Sequence[int]) -> list[tuple[float, Terms]]:
    """The best of all pairs of terms, alone and with each of the `added` terms; best score first.

    Two terms that nearly cancel, such as repulsion and attraction, each explain little: growing sets term by
    term passes them by.
    """
    found: dict[Terms, float] = {}
    for chosen in ((), *((one,) for one in added)):
        basis = problem.columns[list(chosen)]  # of unit length
        columns, target = outside(problem.columns, basis), outside(problem.target[None], basis)[0]
        lengths = np.linalg.norm(columns, axis=1)
        good = lengths > INDEPENDENT
        columns = np.where(good[:, None], columns / np.where(good, lengths, 1.0)[:, None], 0.0)
        for pair in every_pair(columns, target, PAIRS):
            _add(problem, found, (*pair, *chosen))
    return sorted((score, terms) for terms, score in found.items())


def sets_around(problem: Problem, breadth: Breadth) -> list[tuple[float, Terms]]:
    """Polynomial terms around each of a few functions, and around several of them; best score first."""
    functions = np.flatnonzero(problem.families != "polynomial").tolist()
    found: dict[Terms, float] = {}
    part = np.concatenate([problem.polynomials(2), functions]).astype(np.int64)
    for chosen in grow(problem.columns[part], problem.target, breadth.mixed_terms):
        _add(problem, found, part[chosen])
    for score, terms in _around_functions(problem, functions, (1, 2), breadth.mixed_terms + 1):
        found[terms] = min(score, found.get(terms, np.inf))
    return sorted((score, terms) for terms, score in found.items())


def _add(problem: Problem, found: dict[Terms, float], chosen: Sequence[int] | Ints) -> Terms:
    """Score a set if it is new; returns it in order."""
    terms = tuple(sorted(int(c) for c in chosen))
    if terms not in found:
        found[terms] = problem.score(terms, square_sum(problem.columns, problem.target, terms))
    return terms


def _distinct(problem: Problem, members: Ints, value: Floats, count: int) -> list[int]:
    """Positions of the members with the largest values, one of each structure."""
    found: dict[Shape, int] = {}
    for i in np.argsort(-value)[: 8 * count]:
        found.setdefault(problem.shapes[members[i]], int(i))
        if len(found) == count:
            break
    return list(found.values())


def _around_functions(
    problem: Problem, functions: Sequence[int], degrees: Sequence[int], limit: int
) -> Iterator[tuple[float, Terms]]:
    """Each function with polynomial terms, and the score to be expected once its constants are fitted."""
    if alarm_rings():
        return
    for function, tangents in zip(functions, _tangents(problem, functions), strict=True):
        start = np.vstack([problem.columns[[function]], tangents])
        fixed = len(start)
        rest = square_sum(start, problem.target, range(fixed))
        yield problem.score((function,), rest), (function,)
        for degree in degrees:
            part = problem.polynomials(degree)
            columns = np.vstack([start, problem.columns[part]])
            for chosen, rest in grown(columns, problem.target, limit + fixed - 1, range(fixed)):
                terms = tuple(sorted([function, *(int(part[c - fixed]) for c in chosen[fixed:])]))
                yield problem.score(terms, rest), terms


def _tangents(problem: Problem, functions: Sequence[int]) -> list[Floats]:
    """For each function, the derivatives of its column by inner constants, made orthonormal to it."""
    nudged, owners = [], []
    for position, function in enumerate(functions):
        draft = problem.features[function].draft
        for i, (op, value) in enumerate(draft):
            if op == CONST:
                change = (CONST, value * (1.0 + NUDGE) + (NUDGE if value == 0.0 else 0.0))
                nudged.append(
                    replace(problem.features[function], draft=(*draft[:i], change, *draft[i + 1 :]))
                )
                owners.append(position)
    result: list[list[Floats]] = [[] for _ in functions]
    if nudged:
        depth = problem.free.shape[1]
        integrals = feature_integrals(nudged, problem.estimate, depth)[:, problem.rows] / problem.scale
        changed = outside(_without(integrals, problem.trajectory, problem.free), problem.known)
        for position, column in zip(owners, changed, strict=True):
            own = problem.columns[functions[position]]
            length = problem.lengths[functions[position]]
            change = column - length * own if np.isfinite(length) else np.zeros_like(column)
            size = float(np.linalg.norm(change))
            for other in (own, *result[position]):
                change = change - (change @ other) * other
            if np.isfinite(size) and np.linalg.norm(change) > INDEPENDENT * size:
                result[position].append(change / np.linalg.norm(change))
    return [np.array(columns).reshape(len(columns), len(problem.target)) for columns in result]
