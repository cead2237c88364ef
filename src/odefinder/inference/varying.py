"""Constants that differ between trajectories, where the criterion says so.

Several experiments may share a law but not a constant: then every system with the same constants for all
leaves more than the noise.  The best of them, and the laws of single trajectories, are fitted again with one
constant, then with two, of their own for each trajectory; every further value costs as much as a constant.
Exact data must then be explained exactly: otherwise the constants only make up for a law that is wrong.
Terms that made up for a constant that was the same are dropped, and two that vary alike are one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.given import STAYS
from odefinder.data.observations import Observations
from odefinder.data.units import Scaling
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import structure
from odefinder.expressions.program import CONST, Program, component_bounds, concatenate
from odefinder.expressions.terms import node, term_bounds
from odefinder.inference.choose.candidates import Candidate, tried_elsewhere
from odefinder.inference.choose.criterion import criterion
from odefinder.inference.choose.pruning import Term, weakest, without
from odefinder.inference.choose.search import Search
from odefinder.inference.choose.ties import named_equations
from odefinder.inference.claims import claim, in_users_units
from odefinder.inference.fit.constants import pinned_constants
from odefinder.inference.fit.integral import joined
from odefinder.inference.fit.knowledge import NO_BOUNDS, Knowledge
from odefinder.inference.fit.refine import Fit, fit_constants, given_constants
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.known_parts import Named, named_of, named_system
from odefinder.inference.law import fresh_names, law_of
from odefinder.inference.propose.sparse import propose_polynomials
from odefinder.inference.remarks import Explanation
from odefinder.limits.deadline import Deadline

CLEARLY = 5.0  # nats by which the criterion must gain
SYSTEMS = 6  # that are tried, of those with the same constants
SINGLE_LAWS = 4  # further ones, which single trajectories have
MOST_ASKED = 6  # trajectories
FRONT = 3  # equations of a single trajectory, for each variable
MOST_VARIED = 2  # constants of one system
MOST_TRAJECTORIES = 30
LEAST_POINTS = 8  # of a trajectory, on average
LEAST_R2 = 0.9  # a system that explains less is not a law that the trajectories share


@dataclass(frozen=True)
class Varied:
    """A system with constants that differ between trajectories, in the user's units."""

    named: Named
    fit: Fit
    gain: float  # of the criterion, compared with the best system whose constants are the same for all
    origin: int = 0  # the number of the system whose constants were the same
    chosen: tuple[int, ...] = ()  # its constants that vary, by their numbers


def varying_constants(
    fits: Sequence[Fit], data: Observations, dataset: Dataset, tried: int, *, fit_starts: bool,
    deadline: Deadline,
) -> Varied | None:  # fmt: skip
    """The best system with constants that differ; None where the criterion does not clearly gain.

    fits: systems with common constants, of which the first `tried` may get others; data: in the user's
    units, nothing given.
    """
    trajectories = len(data)
    enough = data.count >= LEAST_POINTS * trajectories * data.dimension
    if not fits or not 2 <= trajectories <= MOST_TRAJECTORIES or not enough or data.given is not None:
        return None
    before = min(criterion(fit, data) for fit in fits)
    best: Varied | None = None
    for origin, fit in enumerate(fits[:tried]):
        free = ~(pinned_constants(fit.program) | given_constants(fit.program, data))
        chosen: tuple[int, ...] = ()
        for _ in range(MOST_VARIED):  # the first may explain little before the second varies, too
            found_now = [
                one
                for k in np.flatnonzero(free).tolist()
                if k not in chosen and not deadline.over
                and (one := _fitted(fit, data, dataset, (*chosen, k), fit_starts, before)) is not None
            ]  # fmt: skip
            found = max(found_now, key=lambda one: one.gain, default=None)
            if found is None:
                break
            chosen = found.chosen
            level = 0.0 if best is None else best.gain
            if best is None or best.origin == origin:  # a further constant, or the first
                level += CLEARLY
            if found.gain > level:
                best = replace(found, origin=origin)
    if best is None:
        return None
    return _pruned(best, fits[best.origin], data, dataset, fit_starts, before, deadline)


def _pruned(
    best: Varied, fit: Fit, data: Observations, dataset: Dataset, fit_starts: bool, before: float,
    deadline: Deadline,
) -> Varied:  # fmt: skip
    """The system without the terms that it does not need once constants vary; fit: with the same for all."""
    dropped = True
    while dropped:
        dropped = False
        for term in weakest(fit, data):
            if deadline.over:
                break
            first, last = _constants_of(fit.program, term)
            if any(first <= k < last for k in best.chosen):
                continue
            smaller = replace(fit, program=without(fit.program, term))
            chosen = tuple(k if k < first else k - (last - first) for k in best.chosen)
            again = _fitted(smaller, data, dataset, chosen, fit_starts, before)
            if again is not None and again.gain > best.gain:
                best, fit, dropped = replace(again, origin=best.origin), smaller, True
                break
    if len(best.chosen) > 1 and not deadline.over:  # what leaves one equation enters another
        one = _fitted(fit, data, dataset, best.chosen, fit_starts, before, tied=True)
        if one is not None and one.gain > best.gain:
            best = replace(one, origin=best.origin)
    return best


def _constants_of(program: Program, term: Term) -> tuple[int, int]:
    """The numbers of the constants in a term: the first, and the one after the last."""
    place = np.concatenate([[0], np.cumsum(program.ops == CONST)])
    begin, _ = component_bounds(program.ops)[term.component]
    first, last = term_bounds(program, begin)[term.place]
    return int(place[first]), int(place[last])


def _fitted(
    fit: Fit, data: Observations, dataset: Dataset, chosen: tuple[int, ...], fit_starts: bool, before: float,
    tied: bool = False,
) -> Varied | None:  # fmt: skip
    """The system with these constants varied; tied: they are one constant, up to signs."""
    constants = fit.program.constants
    free = ~(pinned_constants(fit.program) | given_constants(fit.program, data))
    leaders = np.arange(len(constants))  # the first of those that are one
    leaders[list(chosen)] = chosen[0] if tied else chosen
    own = np.flatnonzero(free & (leaders == np.arange(len(constants))))
    groups = np.where(free, np.searchsorted(own, leaders), STAYS)
    signs = np.ones(len(constants))  # those that vary are positive if the common one had their sign
    signs[list(chosen)] = np.where(constants[list(chosen)] < 0.0, -1.0, 1.0)
    whole = data.completed(fit.program)
    parts = named_equations(whole, groups, signs, data.variables)
    varied = tuple(k in chosen for k in own.tolist())
    knowledge = Knowledge(
        variables=dataset.variables,
        inputs=dataset.known,
        constants=_names(varied, dataset),
        parts=parts,
        whole=(True,) * data.dimension,
        bounds=(NO_BOUNDS,) * len(varied),
        varied=varied,
    )
    values = np.tile((signs * constants)[own][:, None], len(data))
    given = knowledge.given(values)
    nothing = given.with_numbers(
        concatenate([data.given_equation(k) or node(CONST) for k in range(data.dimension)])
    )
    driven = replace(data, given=given)
    again = fit_constants(nothing, driven, starts=fit.starts, fit_starts=fit_starts)
    if not np.isfinite(again.error):
        return None
    try:
        named = named_of(again.program, given, knowledge)
    except ExpressionError:
        return None
    several = {name: value for name, value in named.constants.items() if isinstance(value, tuple)}
    gain = before - criterion(again, driven)
    return Varied(replace(named, constants=several), again, gain, chosen=chosen)


def _names(varied: Sequence[bool], dataset: Dataset) -> tuple[str, ...]:
    """k1, k2, ... for those that vary, and the next ones for the others."""
    free = fresh_names(dataset.names)
    order = sorted(range(len(varied)), key=lambda place: not varied[place])
    names = {place: next(free) for place in order}
    return tuple(names[place] for place in range(len(varied)))


def varying_explanation(
    judged: Sequence[Candidate], search: Search, dataset: Dataset, scaling: Scaling, original: Observations,
    deadline: Deadline,
) -> Explanation | None:  # fmt: skip
    """A system with constants that differ, if it is better than all that were judged, best first.

    original: the data in the user's units.
    """
    if len(dataset) < 2:
        return None
    explained = search.explained()  # by a law, or by many terms that make up for a constant that differs
    # A law that reads the conditions also holds for other conditions; constants of each trajectory do not.
    if dataset.settings is not None and (explained or _told_apart(dataset.settings)):
        return None
    most = len(judged[0].fit.program.constants) - len(dataset) if explained else sys.maxsize
    # Laws of single trajectories are short, and first: time may run out among the others.
    laws = _laws_of_single_ones(search, judged, deadline, most) if most > 0 else []
    if explained and not laws:
        return None
    fits, origins = [], []
    for one in [*laws, *judged[:SYSTEMS]]:
        with suppress(ExpressionError):
            named = named_system(one.fit.program, search.data, scaling, dataset, None)
            fits.append(Fit(named.found, scaling.original_states(one.fit.starts), one.fit.error))
            origins.append(one)
    free = search.estimate.smoothed
    tried = len(laws) if explained else len(fits)
    found = varying_constants(fits, original, dataset, tried, fit_starts=free, deadline=deadline)
    if found is None or not (free or search.may_be_exact(found.fit)):
        return None
    same = origins[found.origin]
    value = judged[0].criterion - found.gain
    better = replace(same, fit=replace(same.fit, error=found.fit.error), criterion=value)
    weight = float(search.weights([better], early=deadline.over)[0])
    system, constants = found.named.system, found.named.constants
    r2 = claim(system, found.fit.starts, in_users_units(dataset), scaling, constants)
    if r2 is None or not r2 >= LEAST_R2:
        return None
    law = law_of(found.named, replace(original, given=found.named.given), system)
    return Explanation(system, found.fit.starts, r2, value, weight, same.source, constants, law)


def _told_apart(settings: Floats) -> bool:
    """Whether conditions (trajectories, conditions) differ between all trajectories.

    Then a constant of its own for each of them is a function of the conditions.
    """
    return len(np.unique(settings, axis=0)) == len(settings)


def _laws_of_single_ones(
    search: Search, judged: Sequence[Candidate], deadline: Deadline, most: int
) -> list[Candidate]:
    """Polynomial systems that several trajectories have each for itself, fitted to all with one constant.

    Where a constant differs, no system with the same one for all is close, and the best of them may be far
    from the law.  most: constants that they may have.
    """
    data, votes, laws = search.data, Counter[bytes](), dict[bytes, Program]()
    for first, last in list(data.spans())[:MOST_ASKED]:
        own = data.part(np.arange(first, last), np.array([0, last - first]))
        here = dict[bytes, Program]()
        for fronts in propose_polynomials(own, estimate_states(own), enough=lambda: deadline.over):
            for k in range(FRONT if all(fronts) else 0):
                program = joined([front[min(k, len(front) - 1)] for front in fronts], own)
                here.setdefault(structure(program), program)
        votes.update(here.keys())
        laws = here | laws
    common = [key for key, count in votes.most_common(SINGLE_LAWS) if count > 1]
    short = [laws[key] for key in common if len(laws[key].constants) <= most]
    found = [one for program in short if (one := search.fit_program(program, "sparse")) is not None]
    known = {structure(one.fit.program) for one in judged[:SYSTEMS]}
    return [tried_elsewhere(one, data) for one in found if structure(one.fit.program) not in known]


def varying_note(found: Explanation) -> str:
    """A sentence for the user."""
    names = ", ".join(found.constants)
    several = len(found.constants) > 1
    return (
        f"The trajectories share a law, but not all constants: {names} "
        f"{'are' if several else 'is'} fitted for each of them (see constants_) and "
        f"{'are conditions' if several else 'is a condition'} of the system."
    )
