"""Proposals from the data alone: sparse regression in integral form, one equation at a time.

Every variable gets a front of candidate equations of increasing size.  The terms come from a library
(polynomials, and functions with inner constants on a coarse grid).  Sets of few terms are found by forward
selection with swaps and by backward elimination in several parts of the library; then the inner constants are
polished, and polynomial terms are selected again around the polished functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from heapq import nsmallest
from typing import TypeVar

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import CONST, VAR, Program, concatenate
from odefinder.inference.fit.integral import ComponentFit, given_fit, match_component
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.library import (
    Feature,
    Library,
    Shape,
    all_features,
    equation,
    feature_integrals,
    highest_degree,
    make_library,
    monomials,
    ranges_of,
)
from odefinder.inference.propose.mechanics import mechanical_features
from odefinder.inference.propose.offered import offered_features
from odefinder.inference.propose.phases import phase_features, phase_sets
from odefinder.inference.propose.quotients import quotient_features
from odefinder.inference.propose.signs import with_signs
from odefinder.inference.propose.subsets import grow, least_squares, shrink, square_sum
from odefinder.inference.propose.terms import (
    Breadth,
    Problem,
    Terms,
    make_problem,
    pair_sets,
    sets_around,
    term_sets,
)
from odefinder.inference.propose.waves import waves

WORTH_A_TERM = 1.001  # factor by which an equation with more terms must fit better
CUBIC = 3  # the highest degree of the polynomial systems that are always proposed
POLYNOMIALS = 4  # equations of each degree
FORCES = Breadth(polynomial_terms=5, mixed_terms=4, any_terms=3, functions=3, polished=4)
POLISHED_PAIRS = 8  # pairs of forces, alone and with friction, whose inner constants are fitted
LINEAR = 30  # sets without inner constants that become candidates
POLISHED_FUNCTIONS = 8  # around which the polynomial part is selected again

FittedSum = tuple[list[Feature], ComponentFit]
T = TypeVar("T")


def propose(
    data: Observations,
    estimate: StateEstimate,
    enough: Callable[[], bool] = lambda: False,
    components: Collection[int] | None = None,
    factors: Floats | None = None,
) -> list[list[ComponentFit]]:
    """Candidate equations of every variable, best score first; none for those left once `enough` is true.

    components: the variables whose equations are wanted; None: all.  factors: the units of the variables.
    """
    breadth = Breadth()
    libraries = {}
    if not enough():
        units = np.ones(data.variables) if factors is None else factors
        motion = mechanical_features(ranges_of(estimate), data.velocities, units)
        features = [
            *all_features(estimate), *motion, *phase_features(estimate, units), *waves(data, estimate),
            *offered_features(data.given),
        ]  # fmt: skip
        libraries = _libraries(data, partial(make_library, estimate, features))
    return [
        []
        if enough() or (components is not None and component not in components)
        else _component_front(component, data, estimate, libraries, breadth)
        for component in range(data.dimension)
    ]


def _libraries(data: Observations, make: Callable[[int], Library]) -> dict[int, Library]:
    """One for every number of integrations that occurs."""
    return {depth: make(depth) for depth in {data.lineage(k)[1] for k in range(data.dimension)}}


def propose_polynomials(
    data: Observations, estimate: StateEstimate, enough: Callable[[], bool] = lambda: False
) -> Iterator[list[list[ComponentFit]]]:
    """Sparse linear, then quadratic, then cubic equations of every variable, each best score first.

    This takes milliseconds, so that simple systems are in the pool whatever else happens.
    """
    breadth = Breadth()
    highest = min(CUBIC, highest_degree(data.variables))
    libraries = _libraries(data, partial(make_library, estimate, list(monomials(data.variables, highest))))
    problems: dict[int, Problem | None] = {}
    for degree in range(1, highest + 1):
        fronts: list[list[ComponentFit]] = []
        for k in range(data.dimension):
            if enough():
                return
            if k not in problems:
                problems[k] = _problem(k, data, estimate, libraries)
            fronts.append(_polynomials(problems[k], degree, k, data, breadth))
        yield fronts


def _polynomials(
    problem: Problem | None, degree: int, component: int, data: Observations, breadth: Breadth
) -> list[ComponentFit]:
    """The best equations of one variable up to a degree."""
    if problem is None:
        return [_without_data(data, component)]
    sets = with_signs(problem, partial(_polynomial_sets, degree=degree, breadth=breadth))
    best = [_fit(problem, terms, component, data) for _, terms in sets[:POLYNOMIALS]]
    return _front(best, problem.floor, POLYNOMIALS, component, data)


def _polynomial_sets(problem: Problem, degree: int, breadth: Breadth) -> list[tuple[float, Terms]]:
    """Sets of monomials up to a degree, best score first."""
    part = problem.polynomials(degree)
    columns, target = problem.columns[part], problem.target
    sets = {tuple(sorted(chosen)) for chosen in grow(columns, target, breadth.polynomial_terms)}
    if len(part) < len(target) / 3:
        smaller = shrink(columns, target, np.arange(len(part)))
        sets |= {tuple(sorted(chosen)) for chosen in smaller if len(chosen) <= breadth.polynomial_terms + 2}
    scored = []
    for chosen in sets:
        terms = tuple(part[list(chosen)].tolist())
        scored.append((problem.score(terms, square_sum(problem.columns, target, terms)), terms))
    return sorted(scored)


def combinations(fronts: Sequence[Sequence[ComponentFit]], count: int) -> list[Program]:
    """The systems with the smallest summed scores, one equation from each front."""
    scored = [[(fit.score, fit) for fit in front] for front in fronts]
    return [concatenate([fit.program for fit in chosen]) for chosen in smallest_sums(scored, count)]


def smallest_sums(fronts: Sequence[Sequence[tuple[float, T]]], count: int) -> list[tuple[T, ...]]:
    """Choices of one entry from each front of (score, entry), those with the smallest summed scores first."""
    best: list[tuple[float, tuple[T, ...]]] = [(0.0, ())]
    for front in fronts:
        pairs = ((total + score, (*chosen, entry)) for total, chosen in best for score, entry in front)
        best = nsmallest(count, pairs, key=lambda pair: pair[0])
    return [chosen for _, chosen in best]


# ---------------------------------------------------------------- one equation


def _problem(
    component: int, data: Observations, estimate: StateEstimate, libraries: Mapping[int, Library]
) -> Problem | None:
    """The regression of one variable; None if its equation is given or nothing is known about it."""
    state, depth = data.lineage(component)
    if component in data.closed or np.isfinite(data.states[:, state]).sum() < 2:
        return None
    library = libraries[depth]
    return make_problem(component, data, estimate, library.features, library.integrals)


def _without_data(data: Observations, component: int) -> ComponentFit:
    """The equation that is given; otherwise x' = 0."""
    return given_fit(data, component) or ComponentFit(equation([], []), 0.0, 0.0)


def _component_front(
    component: int,
    data: Observations,
    estimate: StateEstimate,
    libraries: Mapping[int, Library],
    breadth: Breadth,
) -> list[ComponentFit]:
    """Candidates for the equation of one variable."""
    problem = _problem(component, data, estimate, libraries)
    if problem is None:
        return [_without_data(data, component)]
    library = libraries[data.lineage(component)[1]]
    candidates = _candidates(problem, library, component, data, breadth)
    if component in data.velocities.values():
        forces = _without_speed(library, component, data)
        problem = make_problem(component, data, estimate, forces.features, forces.integrals)
        candidates += _candidates(problem, forces, component, data, FORCES)
        drag = [place for place, one in enumerate(forces.features) if one.draft == _own(component)]
        pairs = with_signs(problem, partial(pair_sets, added=drag))
        candidates += _polish(problem, pairs, component, data, POLISHED_PAIRS)
    return _front(candidates, problem.floor, breadth.kept, component, data)


def _without_speed(library: Library, component: int, data: Observations) -> Library:
    """Forces of the position, and friction that grows with the velocity, for an acceleration.

    On one orbit, by the conservation of energy, squares of velocities say the same as positions, and with
    fewer terms; so the force itself would not be found next to them.
    """
    speeds = {float(one) for one in data.velocities.values()}

    def kept(draft: tuple[tuple[int, float], ...]) -> bool:
        return draft == _own(component) or not any(op == VAR and value in speeds for op, value in draft)

    part = [place for place, feature in enumerate(library.features) if kept(feature.draft)]
    return Library([library.features[i] for i in part], library.integrals[part], library.depth)


def _own(component: int) -> tuple[tuple[int, float], ...]:
    """The draft of a variable itself."""
    return ((VAR, float(component)),)


def _candidates(
    problem: Problem, library: Library, component: int, data: Observations, breadth: Breadth
) -> list[FittedSum]:
    """Sums of terms with fitted constants."""
    sets = with_signs(problem, partial(term_sets, breadth=breadth))
    sets = sorted([*sets, *with_signs(problem, partial(phase_sets, component=component))])
    linear = [terms for _, terms in sets if not any(problem.features[c].to_fit for c in terms)][:LINEAR]
    candidates = [_fit(problem, terms, component, data) for terms in linear]
    polished = _polish(problem, sets, component, data, breadth.polished)
    for functions in (_functions_of(polished), quotient_features(component, data, problem.estimate)):
        polished += _around(functions, problem, library, component, data, breadth)
    return candidates + polished


def _around(
    functions: list[Feature],
    problem: Problem,
    library: Library,
    component: int,
    data: Observations,
    breadth: Breadth,
) -> list[FittedSum]:
    """Sums of some functions and of polynomial terms, which are selected again around them."""
    if not functions:
        return []
    polynomials = problem.polynomials(99)
    features = [*(library.features[i] for i in polynomials), *functions]
    more = feature_integrals(functions, problem.estimate, library.depth)
    integrals = np.concatenate([library.integrals[polynomials], more])
    again = make_problem(component, data, problem.estimate, features, integrals)
    return _polish(again, sets_around(again, breadth), component, data, breadth.polished)


def _fit(problem: Problem, terms: Terms, component: int, data: Observations) -> FittedSum:
    """The sum of terms with its constants fitted; where all are coefficients, least squares is enough."""
    coefficients, square_sum = least_squares(problem.columns, problem.target, terms)
    features = [problem.features[c] for c in terms]
    program = equation(features, coefficients / problem.lengths[list(terms)])
    count = len(problem.target)
    seen = np.isfinite(data.states[:, data.lineage(component)[0]])
    known = data.given is not None and data.given.parts[component] is not None
    if any(feature.to_fit for feature in features) or count < seen.sum() or known:
        fit = match_component(program, component, data, problem.estimate)
        return _refitted(features, fit.program), fit
    error = square_sum / count
    return features, ComponentFit(program, error, problem.score(terms, square_sum))


def _polish(
    problem: Problem,
    sets: Sequence[tuple[float, Terms]],
    component: int,
    data: Observations,
    count: int,
) -> list[FittedSum]:
    """The best sets with inner constants, all constants fitted; one of each structure.

    Every number of terms gets equally many sets: on the coarse grid of inner constants, the simple truth may
    look worse than a sum of many terms.
    """
    result: list[FittedSum] = []
    tried: set[tuple[Shape, ...]] = set()
    places = Counter[int]()
    for _, terms in sets:
        structure = tuple(sorted(problem.shapes[c] for c in terms))
        inner = any(problem.features[c].to_fit for c in terms)
        if inner and structure not in tried and places[len(terms)] < count:
            tried.add(structure)
            places[len(terms)] += 1
            result.append(_fit(problem, terms, component, data))
    return result


def _refitted(features: Sequence[Feature], program: Program) -> list[Feature]:
    """The features with the inner constants of a fitted sum of them."""
    constants = iter(program.constants.tolist())
    result = []
    for feature in features:
        next(constants)  # the coefficient
        draft = tuple((op, next(constants) if op == CONST else value) for op, value in feature.draft)
        result.append(replace(feature, draft=draft))
    return result


def _functions_of(polished: Sequence[FittedSum]) -> list[Feature]:
    """The functions with inner constants of the best polished equations, one of each structure."""
    result: dict[Shape, Feature] = {}
    for features, fit in sorted(polished, key=lambda pair: pair[1].score):
        if np.isfinite(fit.score):
            for feature in features:
                if feature.inner:
                    result.setdefault(feature.shape, feature)
    return list(result.values())[:POLISHED_FUNCTIONS]


def _front(
    candidates: Sequence[FittedSum], floor: float, count: int, component: int, data: Observations
) -> list[ComponentFit]:
    """The best of every structure, best score first, without those that fit as well with one term less."""
    kept: dict[bytes, ComponentFit] = {}
    terms: list[tuple[set[Shape], float]] = []
    for features, fit in sorted(candidates, key=lambda pair: pair[1].score):
        if not np.isfinite(fit.score) or len(kept) >= count:
            break
        if data.given is not None and not data.given.allows(component, fit.program):
            continue
        own = {feature.shape for feature in features}
        if any(fewer < own and error <= WORTH_A_TERM * (fit.error + floor) for fewer, error in terms):
            continue
        terms.append((own, fit.error + floor))
        with suppress(ExpressionError):
            form = Form.of(fit.program)
            kept.setdefault(form.key, replace(fit, program=form.program))
    return list(kept.values())
